/* Collectives, as messages with their own context. */
#include "alias.h"
#include "error.h"
#include "message.h"

#include <stdlib.h>
#include <string.h>

int PMPI_Barrier(MPI_Comm comm)
{
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    /* Each round doubles the number of processes that each process knows to have arrived. */
    for (int far = 1; far < c->size; far *= 2) {
        MPI_Request send = mini_start_send(c, c->context + 1, NULL, 0, NULL, (c->rank + far) % c->size, 0);
        int error = mini_receive(c, NULL, 0, (c->rank + c->size - far) % c->size);
        mini_complete(send);
        mini_request_end(send);
        if (error)
            return mini_raise(c, error);
    }
    return MPI_SUCCESS;
}

/* Sends the bytes of rank 0 down a binary tree. */
static int spread(struct mini_comm *comm, void *bytes, size_t count, int root)
{
    int me = (comm->rank + comm->size - root) % comm->size, error = MPI_SUCCESS;
    if (me)
        error = mini_receive(comm, bytes, count, ((me - 1) / 2 + root) % comm->size);
    for (int child = 2 * me + 1; child <= 2 * me + 2 && child < comm->size; child++)
        mini_send(comm, bytes, count, (child + root) % comm->size);
    return error;
}

/* The faults in arguments of all collectives. */
static int check(const struct mini_comm *comm, int count, MPI_Datatype datatype, int root)
{
    if (!comm)
        return MPI_ERR_COMM;
    if (count < 0)
        return MPI_ERR_COUNT;
    if (!mini_type(datatype))
        return MPI_ERR_TYPE;
    return root < 0 || root >= comm->size ? MPI_ERR_ROOT : MPI_SUCCESS;
}

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct mini_comm *c = mini_comm(comm);
    int error = check(c, count, datatype, root);
    if (error)
        return mini_raise(c, error);
    const struct mini_type *type = mini_type(datatype);
    size_t bytes = type->bytes * (size_t)count;
    char *packed = malloc(bytes + 1);
    if (c->rank == root)
        mini_pack(buffer, count, type, packed);
    error = spread(c, packed, bytes, root);
    if (c->rank != root && !error)
        mini_unpack(buffer, type, packed, bytes);
    free(packed);
    return mini_raise(c, error);
}

/* A function that combines the other operand of an operation into the first. */
typedef void combine(void *into, const void *other, int count);

#define COMBINE(name, type)                                                                        \
    static void name##_min(void *into, const void *other, int count)                               \
    {                                                                                              \
        type *a = into;                                                                            \
        const type *b = other;                                                                     \
        for (int i = 0; i < count; i++)                                                            \
            a[i] = b[i] < a[i] ? b[i] : a[i];                                                      \
    }                                                                                              \
    static void name##_max(void *into, const void *other, int count)                               \
    {                                                                                              \
        type *a = into;                                                                            \
        const type *b = other;                                                                     \
        for (int i = 0; i < count; i++)                                                            \
            a[i] = b[i] > a[i] ? b[i] : a[i];                                                      \
    }                                                                                              \
    static void name##_sum(void *into, const void *other, int count)                               \
    {                                                                                              \
        type *a = into;                                                                            \
        const type *b = other;                                                                     \
        for (int i = 0; i < count; i++)                                                            \
            a[i] += b[i];                                                                          \
    }                                                                                              \
    static combine *const name##_combines[] = { name##_sum, name##_min, name##_max };

COMBINE(int32, int32_t)
COMBINE(int64, int64_t)
COMBINE(real, double)

/* MPI_SUM, MPI_MIN and MPI_MAX of these types; null for others. */
static combine *find_combine(MPI_Datatype datatype, MPI_Op op)
{
    uintptr_t which = (uintptr_t)op - (uintptr_t)MPI_SUM;
    if (which > 2)
        return NULL;
    if (datatype == MPI_INT || datatype == MPI_INT32_T)
        return int32_combines[which];
    if (datatype == MPI_LONG || datatype == MPI_LONG_LONG || datatype == MPI_INT64_T)
        return int64_combines[which];
    return datatype == MPI_DOUBLE ? real_combines[which] : NULL;
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    struct mini_comm *c = mini_comm(comm);
    int error = check(c, count, datatype, 0);
    combine *combine = find_combine(datatype, op);
    if (!error && !combine)
        error = MPI_ERR_OP;
    if (error)
        return mini_raise(c, error);
    size_t bytes = mini_type(datatype)->bytes * (size_t)count;
    if (sendbuf != MPI_IN_PLACE && bytes)
        memcpy(recvbuf, sendbuf, bytes);
    void *other = malloc(bytes + 1);
    /* Up the tree; the result comes down the same tree. */
    for (int child = 2 * c->rank + 1; child <= 2 * c->rank + 2 && child < c->size; child++) {
        int failed = mini_receive(c, other, bytes, child);
        error = error ? error : failed;
        combine(recvbuf, other, count);
    }
    free(other);
    if (c->rank)
        mini_send(c, recvbuf, bytes, (c->rank - 1) / 2);
    int failed = spread(c, recvbuf, bytes, 0);
    return mini_raise(c, error ? error : failed);
}

/* Collects the packed bytes of all ranks on one rank, which has room for all. */
static int collect(struct mini_comm *comm, const void *bytes, size_t count, char *all, int root)
{
    if (comm->rank != root) {
        mini_send(comm, bytes, count, root);
        return MPI_SUCCESS;
    }
    int error = MPI_SUCCESS;
    for (int rank = 0; rank < comm->size; rank++) {
        char *place = all + count * (size_t)rank;
        int failed = MPI_SUCCESS;
        if (rank != root)
            failed = mini_receive(comm, place, count, rank);
        else
            memcpy(place, bytes, count);
        error = error ? error : failed;
    }
    return error;
}

/* Gather, or Allgather with `everywhere`. Blocks have equal lengths; MPI_IN_PLACE is not supported. */
static int gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, int everywhere, MPI_Comm comm)
{
    struct mini_comm *c = mini_comm(comm);
    int error = check(c, sendcount, sendtype, root), receives = c && (everywhere || c->rank == root);
    if (!error && sendbuf == MPI_IN_PLACE)
        error = MPI_ERR_BUFFER;
    if (!error && receives)
        error = check(c, recvcount, recvtype, root);
    if (error)
        return mini_raise(c, error);
    const struct mini_type *from = mini_type(sendtype);
    size_t bytes = from->bytes * (size_t)sendcount, all_bytes = bytes * (size_t)c->size;
    char *packed = malloc(bytes + 1), *all = receives ? malloc(all_bytes + 1) : NULL;
    mini_pack(sendbuf, sendcount, from, packed);
    error = collect(c, packed, bytes, all, root);
    if (everywhere) {
        int failed = spread(c, all, all_bytes, root);
        error = error ? error : failed;
    }
    if (receives && !error) {
        if (mini_type(recvtype)->bytes * (size_t)recvcount < bytes)
            error = MPI_ERR_TRUNCATE;
        else
            mini_unpack(recvbuf, mini_type(recvtype), all, all_bytes);
    }
    free(packed);
    free(all);
    return mini_raise(c, error);
}

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, 0, comm);
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, 0, 1, comm);
}

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    struct mini_comm *c = mini_comm(comm);
    int error = check(c, sendcount, sendtype, root);
    if (!error && c->rank == root)
        error = check(c, 0, recvtype, root);
    if (!error && sendbuf == MPI_IN_PLACE)
        error = MPI_ERR_BUFFER;
    if (error)
        return mini_raise(c, error);
    const struct mini_type *from = mini_type(sendtype), *to = mini_type(recvtype);
    size_t bytes = from->bytes * (size_t)sendcount;
    char *packed = malloc(bytes + 1);
    mini_pack(sendbuf, sendcount, from, packed);
    if (c->rank != root)
        mini_send(c, packed, bytes, root);
    for (int rank = 0; c->rank == root && rank < c->size; rank++) {
        size_t room = to->bytes * (size_t)recvcounts[rank];
        char *block = rank == root ? packed : malloc(room + 1);
        int failed = rank != root ? mini_receive(c, block, room, rank)
            : room < bytes        ? MPI_ERR_TRUNCATE
                                  : MPI_SUCCESS;
        if (!failed)
            mini_unpack((char *)recvbuf + displs[rank] * to->extent, to, block, room);
        if (rank != root)
            free(block);
        error = error ? error : failed;
    }
    free(packed);
    return mini_raise(c, error);
}

/* Blocks have equal lengths; MPI_IN_PLACE is not supported. */
int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mini_comm *c = mini_comm(comm);
    int error = check(c, recvcount, recvtype, root);
    if (!error && c->rank == root)
        error = check(c, sendcount, sendtype, root);
    if (!error && recvbuf == MPI_IN_PLACE)
        error = MPI_ERR_BUFFER;
    if (error)
        return mini_raise(c, error);
    const struct mini_type *from = mini_type(sendtype), *to = mini_type(recvtype);
    size_t room = to->bytes * (size_t)recvcount;
    char *own = malloc(room + 1);
    if (c->rank == root) {
        size_t bytes = from->bytes * (size_t)sendcount;
        char *all = malloc(bytes * (size_t)c->size + 1);
        mini_pack(sendbuf, sendcount * c->size, from, all);
        for (int rank = 0; rank < c->size; rank++)
            if (rank != root)
                mini_send(c, all + bytes * (size_t)rank, bytes, rank);
        memcpy(own, all + bytes * (size_t)root, room < bytes ? room : bytes);
        error = room < bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
        free(all);
    } else
        error = mini_receive(c, own, room, root);
    if (!error)
        mini_unpack(recvbuf, to, own, room);
    free(own);
    return mini_raise(c, error);
}

ALIAS(Barrier);
ALIAS(Bcast);
ALIAS(Allreduce);
ALIAS(Gather);
ALIAS(Allgather);
ALIAS(Gatherv);
ALIAS(Scatter);
