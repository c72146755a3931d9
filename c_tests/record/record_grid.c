/* A grid with messages 16 times as long along the first dimension as along the second, and a ring with long
 * messages between every other pair; both with reorder = 1. The short messages of the ring also go along the
 * second dimension of the grid. Prints the order of both, the old ranks of their processes. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

enum { LARGE = 1600, SMALL = 100, MOST = 64 };

static char data[LARGE], received[LARGE];

static void exchange(MPI_Comm comm, int to, int bytes, int from, int others)
{
    MPI_Sendrecv(data, bytes, MPI_CHAR, to, 0, received, others, MPI_CHAR, from, 0, comm, MPI_STATUS_IGNORE);
}

static void say(const char *what, MPI_Comm comm, int old)
{
    int rank, size, order[MOST];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Gather(&old, 1, MPI_INT, order, 1, MPI_INT, 0, comm);
    /* glibc drops a line if a signal interrupts its write to a terminal, and Open MPI gives processes a terminal. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%s%d%s", i ? " " : what, order[i], i + 1 < size ? "" : "\n");
    fflush(stdout);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(int argc, char **argv)
{
    int old, rank, size, dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, index[MOST], edges[2 * MOST];
    MPI_Comm grid, ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &old);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    for (int i = 0; i < 2; i++) {
        int down, up, bytes = i ? SMALL : LARGE;
        MPI_Cart_shift(grid, i, 1, &down, &up);
        exchange(grid, up, bytes, down, bytes);
        exchange(grid, down, bytes, up, bytes);
    }
    for (int i = 0; i < size; i++) {
        index[i] = 2 * i + 2;
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &ring);
    MPI_Comm_rank(ring, &rank);
    /* Odd ranks exchange long messages with the next rank. */
    int up = rank % 2 ? LARGE : SMALL, down = rank % 2 ? SMALL : LARGE;
    exchange(ring, (rank + 1) % size, up, (rank + size - 1) % size, down);
    exchange(ring, (rank + size - 1) % size, down, (rank + 1) % size, up);
    say("grid ", grid, old);
    say("ring ", ring, old);
    MPI_Finalize();
    return 0;
}
