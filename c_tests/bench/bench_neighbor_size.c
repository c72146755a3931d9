/* The cost of a nonblocking neighborhood collective in Cartograph alone: one process simulates communicators of any
 * size, and collectives of the host that return at once (bench_neighbor_stub.c). Run it with Cartograph preloaded, and
 * with each value of CARTOGRAPH_NEIGHBOR.
 *
 * One line per size: processes; microseconds of a call with a known layout of blocks, and with a new layout; the same
 * where both neighbors in one dimension are one process; the bytes that each further layout adds to the communicator;
 * and the bytes for its neighbors and two layouts. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

enum { CALLS = 2000 };

extern int pretended, starts;

/* Microseconds per call, the minimum of some batches; with `other`, each call has another layout. */
static double microseconds(MPI_Comm comm, int other)
{
    static int buffer[64];
    static int ones[6] = { 1, 1, 1, 1, 1, 1 }, displs[6] = { 0, 1, 2, 3, 4, 5 };
    double least = 1e9;
    MPI_Request request;
    for (int batch = 0; batch < 10; batch++) {
        double start = MPI_Wtime();
        for (int i = 0; i < CALLS; i++) {
            displs[5] = other ? 5 + i % 50 : 5;
            MPI_Ineighbor_alltoallv(buffer, ones, displs, MPI_INT, buffer, ones, displs, MPI_INT, comm,
                                    &request);
        }
        double took = 1e6 * (MPI_Wtime() - start) / CALLS;
        least = took < least ? took : least;
    }
    return least;
}

static long bytes_in_use(void)
{
    struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

/* The bytes for the neighbors, which are computed once, with one layout, and for another layout. */
static void bytes_kept(MPI_Comm comm, long kept[2])
{
    static int buffer[64];
    MPI_Request request;
    long before = bytes_in_use();
    MPI_Ineighbor_allgather(buffer, 1, MPI_INT, buffer, 1, MPI_INT, comm, &request);
    kept[0] = bytes_in_use() - before;
    before = bytes_in_use();
    MPI_Ineighbor_alltoall(buffer, 2, MPI_INT, buffer, 2, MPI_INT, comm, &request);
    kept[1] = bytes_in_use() - before;
}

static MPI_Comm grid(int x, int y, int z)
{
    MPI_Comm comm;
    int dims[3] = { x, y, z }, periods[3] = { 1, 1, 1 };
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &comm);
    return comm;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int size = 64; size <= 16384; size *= 4) {
        pretended = size;
        MPI_Comm wide = grid(4, 4, size / 16), narrow = grid(4, 2, size / 8);
        int before = starts;
        long kept[2];
        bytes_kept(wide, kept);
        double known = microseconds(wide, 0), fresh = microseconds(wide, 1);
        double merged = microseconds(narrow, 1);
        if (starts == before) {
            fprintf(stderr, "bench_neighbor_size: preload Cartograph\n");
            return 1;
        }
        printf("%d %.3f %.3f %.3f %ld %ld\n", size, known, fresh, merged, kept[1], kept[0] + kept[1]);
        MPI_Comm_free(&wide);
        MPI_Comm_free(&narrow);
        pretended = 0;
    }
    MPI_Finalize();
    return 0;
}
