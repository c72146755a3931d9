/* The time of each collective on a grid whose ranks may be reordered, and whether its result is right.
 *
 *     collectives [DIMS...]
 *
 * One line per collective and size: its name, the bytes of the larger buffer of a process, and the seconds of the
 * slowest process in the fastest of three calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, MOST = 4 << 20, MOST_RANKS = 1024 };

static MPI_Comm comm;
static int rank, size, root, length;
static int *out, *in, counts[MOST_RANKS], starts[MOST_RANKS];

/* The value that rank `from` contributes at an index, small enough for sums. */
static int value(int from, int at)
{
    return (from * 31 + at * 7) % 1000;
}

static int sum(int ranks, int at)
{
    int all = 0;
    for (int from = 0; from < ranks; from++)
        all += value(from, at);
    return all;
}

static void fill(int n)
{
    for (int i = 0; i < n; i++)
        out[i] = value(rank, i);
}

/* Sums are compared at some indices only, since comparing takes longer than the call. */
static int differ_sum(int n, int ranks, int first)
{
    int wrong = 0;
    for (int i = 0; i < n; i += n > 1000 ? 61 : 1)
        wrong += in[i] != sum(ranks, first + i);
    return wrong;
}

/* The larger buffer of a collective has `length` ints: a block for each rank. */
static int block(void)
{
    return length / size;
}

static int differ_blocks(void)
{
    int wrong = 0, n = block();
    for (int from = 0; from < size; from++)
        for (int i = 0; i < n; i++)
            wrong += in[from * n + i] != value(from, i);
    return wrong;
}

static int differ_sent(void)
{
    int wrong = 0, n = block();
    for (int from = 0; from < size; from++)
        for (int i = 0; i < n; i++)
            wrong += in[from * n + i] != value(from, rank * n + i);
    return wrong;
}

static int differ_root(const int *found, int n, int first)
{
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += found[i] != value(root, first + i);
    return wrong;
}

static void call(int which)
{
    const int n = block();
    switch (which) {
    case 0:
        MPI_Bcast(rank == root ? out : in, length, MPI_INT, root, comm);
        break;
    case 1:
        MPI_Reduce(out, in, length, MPI_INT, MPI_SUM, root, comm);
        break;
    case 2:
        MPI_Allreduce(out, in, length, MPI_INT, MPI_SUM, comm);
        break;
    case 3:
        MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, root, comm);
        break;
    case 4:
        MPI_Gatherv(out, n, MPI_INT, in, counts, starts, MPI_INT, root, comm);
        break;
    case 5:
        MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, root, comm);
        break;
    case 6:
        MPI_Scatterv(out, counts, starts, MPI_INT, in, n, MPI_INT, root, comm);
        break;
    case 7:
        MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm);
        break;
    case 8:
        MPI_Allgatherv(out, n, MPI_INT, in, counts, starts, MPI_INT, comm);
        break;
    case 9:
        MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm);
        break;
    case 10:
        MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, comm);
        break;
    case 11:
        MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
        break;
    case 12:
        MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, comm);
        break;
    case 13:
        MPI_Scan(out, in, length, MPI_INT, MPI_SUM, comm);
        break;
    case 14:
        MPI_Exscan(out, in, length, MPI_INT, MPI_SUM, comm);
        break;
    default:
        MPI_Barrier(comm);
    }
}

static int differ(int which)
{
    switch (which) {
    case 0:
        return differ_root(rank == root ? out : in, length, 0);
    case 1:
        return rank == root ? differ_sum(length, size, 0) : 0;
    case 2:
        return differ_sum(length, size, 0);
    case 3:
    case 4:
        return rank == root ? differ_blocks() : 0;
    case 5:
    case 6:
        return differ_root(in, block(), rank * block());
    case 7:
    case 8:
        return differ_blocks();
    case 9:
    case 10:
        return differ_sent();
    case 11:
    case 12:
        return differ_sum(block(), size, rank * block());
    case 13:
        return differ_sum(length, rank + 1, 0);
    case 14:
        return rank ? differ_sum(length, rank, 0) : 0;
    default:
        return 0;
    }
}

static const char *const names[] = {
    "Bcast",      "Reduce",         "Allreduce", "Gather",     "Gatherv",        "Scatter",              "Scatterv", "Allgather",
    "Allgatherv", "Alltoall",       "Alltoallv", "Reduce_scatter", "Reduce_scatter_block", "Scan",     "Exscan",   "Barrier",
};

int main(int argc, char **argv)
{
    int dims[8] = { 0 }, periods[8] = { 0 }, dimensions = argc > 1 ? argc - 1 : 2, all_wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < argc - 1 && i < 8; i++)
        dims[i] = atoi(argv[i + 1]);
    MPI_Dims_create(size, dimensions, dims);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 1, &comm);
    MPI_Comm_rank(comm, &rank);
    out = malloc(MOST);
    in = malloc(MOST);
    if (!out || !in || size > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int which = 0; which < (int)(sizeof names / sizeof *names); which++) {
        const int is_barrier = which == (int)(sizeof names / sizeof *names) - 1;
        for (int bytes = 4; bytes <= MOST; bytes *= 32) {
            /* At least one int for each process. */
            length = bytes / (int)sizeof(int) < size ? size : bytes / (int)sizeof(int) / size * size;
            if (is_barrier && bytes > 4)
                break;
            root = size - 1;
            for (int i = 0; i < size; i++) {
                counts[i] = block();
                starts[i] = i * block();
            }
            double fastest = 1e9;
            int wrong = 0;
            for (int round = 0; round < ROUNDS; round++) {
                double slowest, time;
                fill(length);
                memset(in, -1, (size_t)length * sizeof(int));
                MPI_Barrier(MPI_COMM_WORLD);
                time = MPI_Wtime();
                call(which);
                time = MPI_Wtime() - time;
                MPI_Allreduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                fastest = slowest < fastest ? slowest : fastest;
                wrong += differ(which);
            }
            MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            all_wrong += wrong != 0;
            if (rank == 0) {
                printf("%s %d %.6f%s\n", names[which], bytes, fastest, wrong ? " wrong" : "");
                fflush(stdout);
            }
        }
    }
    if (rank == 0)
        printf("%d wrong\n", all_wrong);
    MPI_Finalize();
    return all_wrong != 0;
}
