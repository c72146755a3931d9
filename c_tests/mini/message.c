/* Messages: sent when there is room, kept until they are asked for, matched by context, source and tag
 * in the order of arrival. */
#include "mini.h"

#include <stdlib.h>
#include <string.h>

/* A message that has come, or is coming. */
struct message {
    struct message *next;
    struct mini_envelope envelope;
    unsigned char bytes[];
};

enum kind { SEND, RECEIVE };

struct MPI_ABI_Request {
    enum kind kind;
    int done, forgotten, error;
    struct mini_comm *comm;
    struct mini_envelope envelope;
    struct MPI_ABI_Request *next;
    /* Of a send: where it goes, its bytes, of which so many are gone; `packed` if they are a copy. */
    int to;
    const unsigned char *bytes;
    unsigned char *packed;
    size_t gone;
    /* Of a receive. */
    void *buffer;
    int count;
    struct mini_type *type;
};

/* What waits for room on its way to a process, what waits for messages, and messages that nobody has
 * asked for yet: lists in the order of time. */
static struct MPI_ABI_Request *sending[MINI_MOST], *receiving;
static struct message *arrived;
/* What is coming from a process. */
static struct {
    struct mini_envelope envelope;
    size_t have;
    struct message *message;
} coming[MINI_MOST];

static int matches(const struct MPI_ABI_Request *request, const struct message *message)
{
    const struct mini_envelope *wanted = &request->envelope, *got = &message->envelope;
    return wanted->context == got->context
        && (wanted->source == MPI_ANY_SOURCE || wanted->source == got->source)
        && (wanted->tag == MPI_ANY_TAG || wanted->tag == got->tag);
}

static void end_request(MPI_Request request)
{
    mini_comm_release(request->comm);
    if (request->type)
        mini_type_release(request->type);
    free(request->packed);
    free(request);
}

static void complete(MPI_Request request)
{
    request->done = 1;
    if (request->forgotten)
        end_request(request);
}

static void give(MPI_Request request, struct message *message)
{
    size_t room = request->type->bytes * (size_t)request->count;
    size_t bytes = message->envelope.bytes;
    if (bytes > room) {
        request->error = MPI_ERR_TRUNCATE;
        bytes = room;
    }
    mini_unpack(request->buffer, request->type, message->bytes, bytes);
    request->envelope = message->envelope;
    free(message);
    complete(request);
}

static void deliver(struct message *message)
{
    for (MPI_Request *place = &receiving; *place; place = &(*place)->next)
        if (matches(*place, message)) {
            MPI_Request request = *place;
            *place = request->next;
            give(request, message);
            return;
        }
    struct message **end = &arrived;
    while (*end)
        end = &(*end)->next;
    message->next = NULL;
    *end = message;
}

static void push(int to)
{
    while (sending[to]) {
        MPI_Request request = sending[to];
        const size_t head = sizeof request->envelope, all = head + request->envelope.bytes;
        while (request->gone < all) {
            int in_head = request->gone < head;
            const unsigned char *from = in_head
                ? (const unsigned char *)&request->envelope + request->gone
                : request->bytes + (request->gone - head);
            size_t moved = mini_write(to, from, (in_head ? head : all) - request->gone);
            if (moved == 0)
                return;
            request->gone += moved;
        }
        sending[to] = request->next;
        complete(request);
    }
}

static void pull(int from)
{
    const size_t head = sizeof coming[from].envelope;
    for (;;) {
        size_t have = coming[from].have;
        if (have < head) {
            have += mini_read(from, (char *)&coming[from].envelope + have, head - have);
            coming[from].have = have;
            if (have < head)
                return;
        }
        size_t all = head + coming[from].envelope.bytes;
        if (!coming[from].message) {
            coming[from].message = malloc(sizeof(struct message) + coming[from].envelope.bytes);
            coming[from].message->envelope = coming[from].envelope;
        }
        struct message *message = coming[from].message;
        have += mini_read(from, message->bytes + (have - head), all - have);
        coming[from].have = have;
        if (have < all)
            return;
        coming[from].have = 0;
        coming[from].message = NULL;
        deliver(message);
    }
}

static void progress(void)
{
    for (int process = 0; process < mini_size; process++) {
        push(process);
        pull(process);
    }
}

/* Makes progress until a condition holds. */
#define UNTIL(condition)                                                                           \
    for (;;) {                                                                                     \
        uint32_t news = atomic_load(&mini_shared->places[mini_rank].news);                         \
        progress();                                                                                \
        if (condition)                                                                             \
            break;                                                                                 \
        mini_sleep(news);                                                                          \
    }

static MPI_Request new_request(enum kind kind, struct mini_comm *comm)
{
    MPI_Request request = calloc(1, sizeof *request);
    request->kind = kind;
    request->comm = comm;
    comm->references++;
    return request;
}

static MPI_Request start_send(struct mini_comm *comm, int64_t context, const void *bytes,
                              size_t count, unsigned char *packed, int to, int tag)
{
    MPI_Request request = new_request(SEND, comm);
    request->envelope = (struct mini_envelope){ context, count, comm->rank, tag };
    request->to = comm->processes[to];
    request->bytes = bytes;
    request->packed = packed;
    MPI_Request *end = &sending[request->to];
    while (*end)
        end = &(*end)->next;
    *end = request;
    push(request->to);
    return request;
}

static MPI_Request start_receive(struct mini_comm *comm, int64_t context, void *buffer, int count,
                                 struct mini_type *type, int from, int tag)
{
    MPI_Request request = new_request(RECEIVE, comm);
    request->envelope = (struct mini_envelope){ context, 0, from, tag };
    request->buffer = buffer;
    request->count = count;
    request->type = type;
    type->references++;
    progress();
    for (struct message **place = &arrived; *place; place = &(*place)->next)
        if (matches(request, *place)) {
            struct message *message = *place;
            *place = message->next;
            give(request, message);
            return request;
        }
    MPI_Request *end = &receiving;
    while (*end)
        end = &(*end)->next;
    *end = request;
    return request;
}

void mini_send(struct mini_comm *comm, const void *bytes, size_t count, int to)
{
    MPI_Request request = start_send(comm, comm->context + 1, bytes, count, NULL, to, 0);
    UNTIL(request->done)
    end_request(request);
}

int mini_receive(struct mini_comm *comm, void *bytes, size_t count, int from)
{
    MPI_Request request
        = start_receive(comm, comm->context + 1, bytes, (int)count, mini_type(MPI_BYTE), from, 0);
    UNTIL(request->done)
    int error = request->error;
    end_request(request);
    return error;
}

void mini_flush(void)
{
    for (int process = 0; process < mini_size; process++)
        UNTIL(!sending[process])
}

void mini_forget_messages(void)
{
    while (arrived) {
        struct message *message = arrived;
        arrived = message->next;
        free(message);
    }
}

/* What is wrong with the arguments of a message. */
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
        *request = new_request(SEND, c);
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
    *request = start_send(c, c->context, packed ? packed : buf, bytes, packed, dest, tag);
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
        *request = new_request(RECEIVE, c);
        (*request)->envelope = (struct mini_envelope){ 0, 0, MPI_PROC_NULL, MPI_ANY_TAG };
        (*request)->done = 1;
    } else
        *request = start_receive(c, c->context, buf, count, mini_type(datatype), source, tag);
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
    if (!r->done)
        UNTIL(r->done)
    if (status)
        *status = (MPI_Status){ .MPI_SOURCE = r->envelope.source, .MPI_TAG = r->envelope.tag };
    int error = r->error;
    *comm = r->comm;
    r->comm->references++;
    end_request(r);
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
    if (error)
        return mini_raise(c, error);
    MPI_Request send, receive;
    PMPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &receive);
    PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);
    PMPI_Wait(&send, MPI_STATUS_IGNORE);
    return PMPI_Wait(&receive, status);
}

/* A receive that nothing has come for is over; a send goes its way. */
int PMPI_Cancel(MPI_Request *request)
{
    for (MPI_Request *place = &receiving; *place; place = &(*place)->next)
        if (*place == *request) {
            *place = (*request)->next;
            complete(*request);
            break;
        }
    return MPI_SUCCESS;
}

int PMPI_Request_free(MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return mini_raise(NULL, MPI_ERR_REQUEST);
    if ((*request)->done)
        end_request(*request);
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
