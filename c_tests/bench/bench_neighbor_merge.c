/* Several blocks from one process to another, as in a blocking neighborhood collective where a process is a neighbor
 * more than once: one message per block, one message of an existing datatype, and one message of a datatype created for
 * the call. The host alone, without Cartograph; pairs of processes exchange at once.
 *
 * One line: processes, blocks, bytes of a block, and for each variant the microseconds of a call: the median of
 * interleaved batches, then the minimum. Two blocks occur in a periodic ring of two processes, where they cross.
 * Eighteen blocks occur among the 26 neighbors in a torus of two processes: nine, a gap for the block to the process
 * itself, and nine. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 18, SLOTS = 26, SIZES = 5, WAYS = 3, BATCHES = 15 };
enum { SINGLE, MADE_BEFORE, MADE };

static char *sent, *got;
static int other, blocks, bytes, from[MOST_BLOCKS], to[MOST_BLOCKS];

/* The blocks in these slots; consecutive slots are one part. */
static MPI_Datatype merged(const int slots[])
{
    int lengths[MOST_BLOCKS], parts = 0;
    MPI_Aint displs[MOST_BLOCKS];
    MPI_Datatype types[MOST_BLOCKS], type;
    for (int i = 0; i < blocks; i++)
        if (i && slots[i] == slots[i - 1] + 1)
            lengths[parts - 1] += bytes;
        else
            lengths[parts] = bytes, displs[parts] = (MPI_Aint)slots[i] * bytes, types[parts++] = MPI_BYTE;
    MPI_Type_create_struct(parts, lengths, displs, types, &type);
    MPI_Type_commit(&type);
    return type;
}

static void exchange(int way, MPI_Datatype send, MPI_Datatype receive)
{
    MPI_Request requests[2 * MOST_BLOCKS];
    if (way == SINGLE) {
        for (int i = 0; i < blocks; i++)
            MPI_Irecv(got + (size_t)to[i] * bytes, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < blocks; i++)
            MPI_Isend(sent + (size_t)from[i] * bytes, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                      &requests[blocks + i]);
        MPI_Waitall(2 * blocks, requests, MPI_STATUSES_IGNORE);
        return;
    }
    if (way == MADE)
        send = merged(from), receive = merged(to);
    MPI_Sendrecv(sent, 1, send, other, 0, got, 1, receive, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == MADE)
        MPI_Type_free(&send), MPI_Type_free(&receive);
}

/* Microseconds per call, of the slowest process. */
static double batch(int way, int calls, MPI_Datatype send, MPI_Datatype receive)
{
    double took, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    took = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        exchange(way, send, receive);
    took = 1e6 * (MPI_Wtime() - took) / calls;
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int by_size(const void *one, const void *other_one)
{
    const double a = *(const double *)one, b = *(const double *)other_one;
    return (a > b) - (a < b);
}

static void measure(int size)
{
    double times[WAYS][BATCHES], once = 1e9;
    MPI_Datatype send = merged(from), receive = merged(to);
    for (int i = 0; i < 4; i++) {
        double took = batch(SINGLE, 3, send, receive);
        once = took < once ? took : once;
    }
    int calls = once > 2000 ? 1 : once < 20 ? 100 : 2000 / once;
    for (int b = -1; b < BATCHES; b++)
        for (int way = 0; way < WAYS; way++) {
            double took = batch(way, calls, send, receive);
            if (b >= 0)
                times[way][b] = took;
        }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("%d\t%d\t%d", size, blocks, bytes);
        for (int way = 0; way < WAYS; way++) {
            qsort(times[way], BATCHES, sizeof(double), by_size);
            printf("\t%.3g\t%.3g", times[way][BATCHES / 2], times[way][0]);
        }
        printf("\n");
    }
    MPI_Type_free(&send), MPI_Type_free(&receive);
}

int main(int argc, char **argv)
{
    static const int sizes[SIZES] = { 8, 512, 8192, 65536, 1048576 };
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = rank ^ 1;
    sent = malloc((size_t)SLOTS * sizes[SIZES - 1]), got = malloc((size_t)SLOTS * sizes[SIZES - 1]);
    /* Untouched pages are one page of zeros. */
    memset(sent, 1, (size_t)SLOTS * sizes[SIZES - 1]), memset(got, 2, (size_t)SLOTS * sizes[SIZES - 1]);
    if (size % 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (blocks = 2; blocks <= 18; blocks += 16)
        for (int s = 0; s < SIZES; s++) {
            bytes = sizes[s];
            for (int i = 0; i < blocks; i++) {
                from[i] = blocks == 2 || i < 9 ? i : i + 8;
                to[i] = blocks == 2 ? 1 - i : i < 9 ? i + 17 : i - 9;
            }
            measure(size);
        }
    return MPI_Finalize();
}
