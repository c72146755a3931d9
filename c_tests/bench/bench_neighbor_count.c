/* Instructions to start a nonblocking neighborhood collective on a periodic row of all processes, on rank 0 under
 * callgrind: only the calls are counted, not their completion. With the argument "memory" it prints the bytes in
 * use on rank 0 for a row after its first collective.
 *
 * `PARTS=neighbor_count make lab-bench` runs it and divides by CALLS. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

enum { WARM = 20, CALLS = 100, ROWS = 100 };

static int size, rank;

static MPI_Comm made(void)
{
    int periodic = 1;
    MPI_Comm row;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &row);
    return row;
}

static long bytes_in_use(void)
{
    struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

static void memory(void)
{
    int sent[2] = { 1, 2 }, got[2];
    MPI_Comm rows[ROWS];
    long before = 0;
    /* The first round fills pools of the host. */
    for (int round = 0; round < 2; round++) {
        before = bytes_in_use();
        for (int i = 0; i < ROWS; i++) {
            MPI_Request request;
            rows[i] = made();
            MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, rows[i], &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (rank == 0 && round)
            printf("%ld\n", (bytes_in_use() - before) / ROWS);
        for (int i = 0; i < ROWS; i++)
            MPI_Comm_free(&rows[i]);
    }
}

int main(int argc, char **argv)
{
    int sent[2] = { 1, 2 }, got[2];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) {
        memory();
        return MPI_Finalize();
    }
    MPI_Comm row = made();
    for (int i = 0; i < WARM + CALLS; i++) {
        MPI_Barrier(row);
        if (i >= WARM)
            CALLGRIND_TOGGLE_COLLECT;
        MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, row, &request);
        if (i >= WARM)
            CALLGRIND_TOGGLE_COLLECT;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&row);
    return MPI_Finalize();
}
