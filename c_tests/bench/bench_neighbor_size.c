/* What a nonblocking neighborhood collective costs in Cartograph alone, on communicators of any size:
 * one process, which sees communicators as large as it likes and an all-to-all that returns at once.
 * Run it with Cartograph preloaded; its definitions stand in front of the host's.
 *
 * One line a size: processes, microseconds of a call with a layout of blocks that is known, of one with
 * a new layout, the same where both neighbors in one dimension are one process, and the bytes that
 * stay with the communicator for a layout. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

enum { CALLS = 2000 };

static int pretended, all_to_alls;

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    static int (*host)(MPI_Comm, int *);
    if (!host)
        host = (int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "PMPI_Comm_size");
    int code = host(comm, size);
    if (code == MPI_SUCCESS && pretended)
        *size = pretended;
    return code;
}

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request *request)
{
    (void)sendbuf, (void)sendcounts, (void)sdispls, (void)sendtypes, (void)recvbuf, (void)recvcounts;
    (void)rdispls, (void)recvtypes, (void)comm;
    all_to_alls++;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* Microseconds a call, the least of some batches; with `other`, each call has another layout. */
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

static long bytes_kept(MPI_Comm comm)
{
    static int buffer[64];
    MPI_Request request;
    /* The neighbors are worked out once. */
    MPI_Ineighbor_allgather(buffer, 1, MPI_INT, buffer, 1, MPI_INT, comm, &request);
    long before = bytes_in_use();
    MPI_Ineighbor_alltoall(buffer, 2, MPI_INT, buffer, 2, MPI_INT, comm, &request);
    return bytes_in_use() - before;
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
        int before = all_to_alls;
        long kept = bytes_kept(wide);
        double known = microseconds(wide, 0), fresh = microseconds(wide, 1);
        double merged = microseconds(narrow, 1);
        if (all_to_alls == before) {
            fprintf(stderr, "bench_neighbor_size: preload Cartograph\n");
            return 1;
        }
        printf("%d %.3f %.3f %.3f %ld\n", size, known, fresh, merged, kept);
        MPI_Comm_free(&wide);
        MPI_Comm_free(&narrow);
        pretended = 0;
    }
    MPI_Finalize();
    return 0;
}
