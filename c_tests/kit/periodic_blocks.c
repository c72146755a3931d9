/* The neighbors in a grid are, for each dimension, the one behind and the one in front, and a block sent forward
 * arrives from behind: blocks pair by direction, even if both neighbors are one process (MPI 5.0, 8.6). This holds
 * for all functions.
 * mpiexec -n 2 (or 1) ./periodic_blocks */
#include "tap.h"

static int sent[4], got[4], expected[4], degree;

static void clear(void)
{
    for (int i = 0; i < 4; i++)
        got[i] = -1;
}

static void look(const char *name)
{
    tap(!memcmp(got, expected, (size_t)degree * sizeof(int)), "%s, %d dimensions", name, degree / 2);
}

int main(int argc, char **argv)
{
    int counts[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 1, 2, 3 };
    MPI_Aint places[4] = { 0, sizeof(int), 2 * sizeof(int), 3 * sizeof(int) };
    MPI_Datatype types[4] = { MPI_INT, MPI_INT, MPI_INT, MPI_INT };
    MPI_Request request;
    tap_begin(&argc, &argv);
    for (int ndims = 1; ndims <= 2; ndims++) {
        int dims[2] = { tap_size, 1 }, periods[2] = { 1, 1 }, rank, behind, front;
        MPI_Comm ring;
        MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &ring);
        MPI_Comm_rank(ring, &rank);
        MPI_Cart_shift(ring, 0, 1, &behind, &front);
        degree = 2 * ndims;
        for (int i = 0; i < 4; i++)
            sent[i] = 10 * rank + i;
        expected[0] = 10 * behind + 1, expected[1] = 10 * front, expected[2] = 10 * rank + 3, expected[3] = 10 * rank + 2;
#define AT_ONCE(name, ...) clear(), MPI_Neighbor_##name(__VA_ARGS__, ring), look("MPI_Neighbor_" #name)
#define LATER(name, ...)                                                                                                \
    clear(), MPI_Ineighbor_##name(__VA_ARGS__, ring, &request), MPI_Wait(&request, MPI_STATUS_IGNORE),                  \
        look("MPI_Ineighbor_" #name)
#define AGAIN(name, init, ...)                                                                                          \
    if (MPI_Neighbor_##init(__VA_ARGS__, ring, MPI_INFO_NULL, &request) == MPI_SUCCESS) {                               \
        clear(), MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), look("MPI_Neighbor_" #init);               \
        clear(), MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), look("MPI_Neighbor_" #init " once more");  \
        MPI_Request_free(&request);                                                                                     \
    } else                                                                                                              \
        tap(0, "MPI_Neighbor_" #init)
#define ALL(suffix, counts, displs, places)                                                                             \
    AT_ONCE(alltoall##suffix, sent, 1, MPI_INT, got, 1, MPI_INT);                                                       \
    AT_ONCE(alltoallv##suffix, sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT);                            \
    AT_ONCE(alltoallw##suffix, sent, counts, places, types, got, counts, places, types);                                \
    LATER(alltoall##suffix, sent, 1, MPI_INT, got, 1, MPI_INT);                                                         \
    LATER(alltoallv##suffix, sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT);                              \
    LATER(alltoallw##suffix, sent, counts, places, types, got, counts, places, types)
#define PERSISTENT(suffix, counts, displs, places)                                                                      \
    AGAIN(alltoall, alltoall_init##suffix, sent, 1, MPI_INT, got, 1, MPI_INT);                                          \
    AGAIN(alltoallv, alltoallv_init##suffix, sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT);              \
    AGAIN(alltoallw, alltoallw_init##suffix, sent, counts, places, types, got, counts, places, types)
        ALL(, counts, displs, places);
#ifdef PERSISTENT_COLLECTIVES
        PERSISTENT(, counts, displs, places);
#endif
#if MPI_VERSION >= 4
        {
            MPI_Count large[4] = { 1, 1, 1, 1 };
            MPI_Aint far[4] = { 0, 1, 2, 3 };
            ALL(_c, large, far, places);
            PERSISTENT(_c, large, far, places);
        }
#endif
        /* Gather functions send one block to all neighbors. */
        int left[4] = { 10 * behind, 10 * front, 10 * rank, 10 * rank };
        memcpy(expected, left, sizeof left);
        AT_ONCE(allgather, sent, 1, MPI_INT, got, 1, MPI_INT);
        AT_ONCE(allgatherv, sent, 1, MPI_INT, got, counts, displs, MPI_INT);
        LATER(allgather, sent, 1, MPI_INT, got, 1, MPI_INT);
        LATER(allgatherv, sent, 1, MPI_INT, got, counts, displs, MPI_INT);
#ifdef PERSISTENT_COLLECTIVES
        AGAIN(allgather, allgather_init, sent, 1, MPI_INT, got, 1, MPI_INT);
        AGAIN(allgatherv, allgatherv_init, sent, 1, MPI_INT, got, counts, displs, MPI_INT);
#endif
#if MPI_VERSION >= 4
        {
            MPI_Count large[4] = { 1, 1, 1, 1 };
            MPI_Aint far[4] = { 0, 1, 2, 3 };
            AT_ONCE(allgather_c, sent, 1, MPI_INT, got, 1, MPI_INT);
            AT_ONCE(allgatherv_c, sent, 1, MPI_INT, got, large, far, MPI_INT);
            LATER(allgather_c, sent, 1, MPI_INT, got, 1, MPI_INT);
            LATER(allgatherv_c, sent, 1, MPI_INT, got, large, far, MPI_INT);
            AGAIN(allgather, allgather_init_c, sent, 1, MPI_INT, got, 1, MPI_INT);
            AGAIN(allgatherv, allgatherv_init_c, sent, 1, MPI_INT, got, large, far, MPI_INT);
        }
#endif
        MPI_Comm_free(&ring);
    }
    return tap_end();
}
