/* Neighborhood collectives of the host and of Cartograph, side by side in one run: run it with
 * Cartograph preloaded. The host's functions are asked of the library that PMPI_Comm_rank lies in.
 *
 * Both are timed in turn, in many short batches; a figure is the least over the batches of the slowest
 * rank, since whatever else the machine does only adds. One line a case: microseconds a call of the
 * host and of Cartograph, and host / Cartograph. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 25, MOST_NEIGHBORS = 26 };

typedef int Alltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef int Ialltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                      MPI_Request *);
typedef int Init(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Info,
                 MPI_Request *);
typedef int CartCreate(MPI_Comm, int, const int[], const int[], int, MPI_Comm *);
typedef int Adjacent(MPI_Comm, int, const int[], const int[], int, const int[], const int[], MPI_Info,
                     int, MPI_Comm *);

/* One implementation of the chapter. */
struct Chapter {
    CartCreate *cart_create;
    Adjacent *adjacent;
    Alltoall *blocking;
    Ialltoall *nonblocking;
    Init *persistent; /* null where the host has none */
};

static struct Chapter of_library(void *library)
{
    struct Chapter chapter = {
        (CartCreate *)dlsym(library, "PMPI_Cart_create"),
        (Adjacent *)dlsym(library, "PMPI_Dist_graph_create_adjacent"),
        (Alltoall *)dlsym(library, "PMPI_Neighbor_alltoall"),
        (Ialltoall *)dlsym(library, "PMPI_Ineighbor_alltoall"),
        (Init *)dlsym(library, "PMPI_Neighbor_alltoall_init"),
    };
    return chapter;
}

static void *library_of(void *function)
{
    Dl_info where;
    return dladdr(function, &where) ? dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

enum Way { BLOCKING, NONBLOCKING, PERSISTENT };
static const char *const ways[] = { "blocking", "nonblocking", "persistent" };

static char *sendbuf, *recvbuf;

/* Seconds a call in one batch, of the slowest rank. */
static double batch(const struct Chapter *chapter, MPI_Comm comm, enum Way way, int bytes, int calls)
{
    MPI_Request request;
    double seconds, slowest;
    if (way == PERSISTENT)
        chapter->persistent(sendbuf, bytes, MPI_BYTE, recvbuf, bytes, MPI_BYTE, comm, MPI_INFO_NULL,
                            &request);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        if (way == BLOCKING)
            chapter->blocking(sendbuf, bytes, MPI_BYTE, recvbuf, bytes, MPI_BYTE, comm);
        else {
            if (way == PERSISTENT)
                MPI_Start(&request);
            else
                chapter->nonblocking(sendbuf, bytes, MPI_BYTE, recvbuf, bytes, MPI_BYTE, comm,
                                     &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    seconds = (MPI_Wtime() - seconds) / calls;
    if (way == PERSISTENT)
        MPI_Request_free(&request);
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* The neighbors of a process in a 3-D torus, corners and edges included. */
static int moore(int rank, int size, int neighbors[MOST_NEIGHBORS])
{
    int dims[3] = { 0, 0, 0 }, count = 0;
    MPI_Dims_create(size, 3, dims);
    int x = rank / (dims[1] * dims[2]), y = rank / dims[2] % dims[1], z = rank % dims[2];
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            for (int k = -1; k <= 1; k++)
                if (i || j || k)
                    neighbors[count++] = ((x + i + dims[0]) % dims[0] * dims[1]
                                          + (y + j + dims[1]) % dims[1]) * dims[2]
                        + (z + k + dims[2]) % dims[2];
    return count;
}

static MPI_Comm topology(const struct Chapter *chapter, const char *name)
{
    MPI_Comm comm;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(name, "dist26")) {
        int neighbors[MOST_NEIGHBORS], count = moore(rank, size, neighbors);
        chapter->adjacent(MPI_COMM_WORLD, count, neighbors, MPI_UNWEIGHTED, count, neighbors,
                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    } else {
        int ndims = name[0] - '0', dims[3] = { 0, 0, 0 }, periods[3] = { 0, 0, 0 };
        MPI_Dims_create(size, ndims, dims);
        chapter->cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    }
    return comm;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "2d", "3d", "dist26" };
    static const int sizes[] = { 8, 512, 8192, 65536, 1048576 };
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct Chapter chapters[2] = { of_library(library_of((void *)PMPI_Comm_rank)),
                                         of_library(RTLD_DEFAULT) };
    if (!chapters[0].blocking || chapters[0].blocking == chapters[1].blocking) {
        fprintf(stderr, "bench_neighbor: preload Cartograph; there is nothing to compare\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    sendbuf = calloc(MOST_NEIGHBORS, sizes[4]);
    recvbuf = calloc(MOST_NEIGHBORS, sizes[4]);
    for (int n = 0; n < 3; n++) {
        MPI_Comm comms[2] = { topology(&chapters[0], names[n]), topology(&chapters[1], names[n]) };
        for (enum Way way = BLOCKING; way <= PERSISTENT; way++) {
            if (way == PERSISTENT && !chapters[0].persistent)
                continue;
            for (int s = 0; s < 5; s++) {
                double least[2] = { 1e9, 1e9 };
                int calls = sizes[s] <= 512 ? 100 : sizes[s] <= 65536 ? 10 : 1;
                for (int b = -2; b < BATCHES; b++)
                    for (int c = 0; c < 2; c++) {
                        double took = batch(&chapters[c], comms[c], way, sizes[s], calls);
                        if (b >= 0 && took < least[c])
                            least[c] = took;
                    }
                if (rank == 0)
                    printf("%d %s %s %d %.3f %.3f %.2f\n", size, names[n], ways[way], sizes[s],
                           1e6 * least[0], 1e6 * least[1], least[0] / least[1]);
            }
        }
        MPI_Comm_free(&comms[0]);
        MPI_Comm_free(&comms[1]);
    }
    MPI_Finalize();
    return 0;
}
