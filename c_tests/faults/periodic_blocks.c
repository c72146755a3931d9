/* Two blocks between the same two processes: what is sent forward along a periodic dimension of one or two processes
 * comes from behind (MPI 4.1, 8.6: the k-th block pairs by direction).
 * mpiexec -n 2 (or 1) ./periodic_blocks */
#include <mpi.h>
#include <stdio.h>

static int failed, passed;

static void check(const char *function, const int *got, const int *expected)
{
    if (got[0] == expected[0] && got[1] == expected[1]) {
        passed++;
        return;
    }
    failed++;
    printf("%s: got %d %d, not %d %d\n", function, got[0], got[1], expected[0], expected[1]);
}

int main(int argc, char **argv)
{
    int rank, size, periodic = 1, counts[2] = { 1, 1 }, displs[2] = { 0, 1 };
    MPI_Aint places[2] = { 0, sizeof(int) };
    MPI_Datatype types[2] = { MPI_INT, MPI_INT };
    MPI_Comm ring;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_rank(ring, &rank);
    /* Block 0 goes to the process behind and block 1 to the one in front. */
    int behind = (rank + size - 1) % size, front = (rank + 1) % size;
    int sent[2] = { 10 * rank, 10 * rank + 1 }, got[2];
    int expected[2] = { 10 * behind + 1, 10 * front };
#define AT_ONCE(name, ...) got[0] = got[1] = -1; MPI_Neighbor_##name(__VA_ARGS__, ring); check("MPI_Neighbor_" #name, got, expected)
#define LATER(name, ...) got[0] = got[1] = -1; MPI_Ineighbor_##name(__VA_ARGS__, ring, &request); \
    MPI_Wait(&request, MPI_STATUS_IGNORE); check("MPI_Ineighbor_" #name, got, expected)
    AT_ONCE(alltoall, sent, 1, MPI_INT, got, 1, MPI_INT);
    LATER(alltoall, sent, 1, MPI_INT, got, 1, MPI_INT);
    AT_ONCE(alltoallv, sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT);
    LATER(alltoallv, sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT);
    AT_ONCE(alltoallw, sent, counts, places, types, got, counts, places, types);
    LATER(alltoallw, sent, counts, places, types, got, counts, places, types);
    MPI_Comm_free(&ring);
    int own[2] = { passed, failed }, all[2];
    MPI_Reduce(own, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d passed, %d failed\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
