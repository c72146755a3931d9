/* Point-to-point functions: faults in their arguments, and their requests. */
#include "alias.h"
#include "device.h"
#include "error.h"
#include "live.h"
#include "message.h"

#include <stdlib.h>

/* A fault in the arguments of a message. */
static int check(const struct mini_comm *comm, int count, MPI_Datatype datatype, int peer, int tag,
                 enum kind kind)
{
    if (!comm)
        return MPI_ERR_COMM;
    if (count < 0)
        return MPI_ERR_COUNT;
    if (!mini_type(datatype))
        return MPI_ERR_TYPE;
    int any_source = kind == RECEIVE && peer == MPI_ANY_SOURCE;
    if (peer != MPI_PROC_NULL && !any_source && (peer < 0 || peer >= comm->size))
        return MPI_ERR_RANK;
    if (!mini_has_room(MEMORY, sizeof(struct MPI_ABI_Request)))
        return MPI_ERR_NO_MEM;
    return tag < 0 && !(kind == RECEIVE && tag == MPI_ANY_TAG) ? MPI_ERR_TAG : MPI_SUCCESS;
}

int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    struct mini_comm *c = mini_comm(comm);
    int error = check(c, count, datatype, dest, tag, SEND);
    if (error)
        return mini_raise(c, error);
    if (dest == MPI_PROC_NULL) {
        *request = mini_request(SEND, c);
        (*request)->done = 1;
        return MPI_SUCCESS;
    }
    const struct mini_type *type = mini_type(datatype);
    size_t bytes = type->bytes * (size_t)count;
    unsigned char *packed = NULL;
    if (bytes && !mini_type_is_dense(type, count)) {
        packed = malloc(bytes);
        mini_pack(buf, count, type, packed);
    }
    *request = mini_start_send(c, c->context, packed ? packed : mini_opened(buf), bytes, packed, dest, tag);
    return MPI_SUCCESS;
}

int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    struct mini_comm *c = mini_comm(comm);
    int error = check(c, count, datatype, source, tag, RECEIVE);
    if (error)
        return mini_raise(c, error);
    if (source == MPI_PROC_NULL) {
        *request = mini_request(RECEIVE, c);
        (*request)->envelope = (struct mini_envelope){ 0, 0, MPI_PROC_NULL, MPI_ANY_TAG, 0 };
        (*request)->done = 1;
    } else
        *request = mini_start_receive(c, c->context, buf, count, mini_type(datatype), source, tag);
    return MPI_SUCCESS;
}

/* Waits for a request and ends it; its error is not raised here. */
static int finish(MPI_Request *request, MPI_Status *status, struct mini_comm **comm)
{
    MPI_Request r = *request;
    *comm = NULL;
    if (r == MPI_REQUEST_NULL) {
        if (status)
            *status = (MPI_Status){ .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG };
        return MPI_SUCCESS;
    }
    mini_complete(r);
    if (status)
        *status = (MPI_Status){ .MPI_SOURCE = r->envelope.source, .MPI_TAG = r->envelope.tag };
    int error = r->error;
    *comm = r->comm;
    r->comm->references++;
    mini_request_end(r);
    *request = MPI_REQUEST_NULL;
    return error;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct mini_comm *comm;
    int error = finish(request, status, &comm);
    if (comm) {
        mini_raise(comm, error);
        mini_comm_release(comm);
    }
    return error;
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    struct mini_comm *wrong = NULL;
    for (int i = 0; i < count; i++) {
        struct mini_comm *comm;
        int error = finish(&requests[i], statuses ? &statuses[i] : NULL, &comm);
        if (statuses)
            statuses[i].MPI_ERROR = error;
        if (comm && error && !wrong)
            wrong = comm;
        else if (comm)
            mini_comm_release(comm);
    }
    if (!wrong)
        return MPI_SUCCESS;
    mini_raise(wrong, MPI_ERR_IN_STATUS);
    mini_comm_release(wrong);
    return MPI_ERR_IN_STATUS;
}

int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    MPI_Request request;
    int error = PMPI_Isend(buf, count, datatype, dest, tag, comm, &request);
    return error ? error : PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    MPI_Request request;
    int error = PMPI_Irecv(buf, count, datatype, source, tag, comm, &request);
    return error ? error : PMPI_Wait(&request, status);
}

int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status *status)
{
    struct mini_comm *c = mini_comm(comm);
    int error = check(c, sendcount, sendtype, dest, sendtag, SEND);
    if (!error)
        error = check(c, recvcount, recvtype, source, recvtag, RECEIVE);
    if (!error && !mini_has_room(MEMORY, 2 * sizeof(struct MPI_ABI_Request)))
        error = MPI_ERR_NO_MEM;
    if (error)
        return mini_raise(c, error);
    MPI_Request send, receive;
    PMPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &receive);
    PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);
    PMPI_Wait(&send, MPI_STATUS_IGNORE);
    return PMPI_Wait(&receive, status);
}

/* Cancels an unmatched receive; a send completes. */
int PMPI_Cancel(MPI_Request *request)
{
    if ((*request)->kind == RECEIVE)
        mini_take_back(*request);
    return MPI_SUCCESS;
}

int PMPI_Request_free(MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return mini_raise(NULL, MPI_ERR_REQUEST);
    if ((*request)->done)
        mini_request_end(*request);
    else
        (*request)->forgotten = 1;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

ALIAS(Isend);
ALIAS(Irecv);
ALIAS(Send);
ALIAS(Recv);
ALIAS(Sendrecv);
ALIAS(Wait);
ALIAS(Waitall);
ALIAS(Cancel);
ALIAS(Request_free);
