/* Neighborhood collectives of the host and of Cartograph, timed alternately in one run. PATTERNS in the environment
 * selects from 2d, 3d, torus6 and dist26, and SIZES the bytes of a block.
 *
 * Both are timed alternately in many short batches; a figure is the minimum over the batches of the slowest rank,
 * since other load only adds time. */
#include "bench.h"

enum { BATCHES = 25, MOST_NEIGHBORS = 26, MOST = 16 };

enum way { BLOCKING, NONBLOCKING, PERSISTENT, WAYS };
static const char *const ways[] = { "blocking", "nonblocking", "persistent" };

static char *sendbuf, *recvbuf;

/* Seconds per call in one batch, of the slowest rank. */
static double batch(const struct chapter *chapter, MPI_Comm comm, enum way way, int bytes, int calls)
{
    MPI_Request request;
    double seconds, slowest;
    if (way == PERSISTENT)
        chapter->neighbor_alltoall_init(sendbuf, bytes, MPI_BYTE, recvbuf, bytes, MPI_BYTE, comm,
                                        MPI_INFO_NULL, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = bench_now();
    for (int i = 0; i < calls; i++) {
        if (way == BLOCKING)
            chapter->neighbor_alltoall(sendbuf, bytes, MPI_BYTE, recvbuf, bytes, MPI_BYTE, comm);
        else {
            if (way == PERSISTENT)
                MPI_Start(&request);
            else
                chapter->ineighbor_alltoall(sendbuf, bytes, MPI_BYTE, recvbuf, bytes, MPI_BYTE, comm,
                                            &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    seconds = (bench_now() - seconds) / calls;
    if (way == PERSISTENT)
        MPI_Request_free(&request);
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* The neighbors of a process in a 3-D torus, with or without those across corners and edges. */
static int torus(int corners, int neighbors[MOST_NEIGHBORS])
{
    int rank = bench_rank, dims[3] = { 0, 0, 0 }, count = 0;
    MPI_Dims_create(bench_size, 3, dims);
    int x = rank / (dims[1] * dims[2]), y = rank / dims[2] % dims[1], z = rank % dims[2];
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            for (int k = -1; k <= 1; k++)
                if (corners ? i || j || k : abs(i) + abs(j) + abs(k) == 1)
                    neighbors[count++] = ((x + i + dims[0]) % dims[0] * dims[1]
                                          + (y + j + dims[1]) % dims[1]) * dims[2]
                        + (z + k + dims[2]) % dims[2];
    return count;
}

static MPI_Comm topology(const struct chapter *chapter, const char *name)
{
    MPI_Comm comm;
    if (!strcmp(name, "dist26") || !strcmp(name, "torus6")) {
        int neighbors[MOST_NEIGHBORS], count = torus(name[0] == 'd', neighbors);
        chapter->adjacent(MPI_COMM_WORLD, count, neighbors, MPI_UNWEIGHTED, count, neighbors,
                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    } else {
        int ndims = name[0] - '0', dims[3] = { 0, 0, 0 }, periods[3] = { 0, 0, 0 };
        MPI_Dims_create(bench_size, ndims, dims);
        chapter->cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    }
    return comm;
}

static void time_one(const char *name, MPI_Comm comms[SIDES], enum way way, int bytes)
{
    char label[64];
    double least[SIDES] = { 1e9, 1e9 };
    double once = 1;
    /* The first call does more work. */
    for (int b = 0; b < 4; b++) {
        double took = batch(&sides[OURS], comms[OURS], way, bytes, 3);
        if (took < once)
            once = took;
    }
    /* About 2 milliseconds per batch, the same number on all ranks. A single call takes longer if processes wait
     * for a processor. */
    int calls = once > 2e-3 ? 1 : once < 2e-5 ? 100 : 2e-3 / once;
    int batches = once > 2e-3 ? 7 : BATCHES;
    for (int b = -2; b < batches; b++)
        for (int of = HOST; of < SIDES; of++) {
            double took = batch(&sides[of], comms[of], way, bytes, calls);
            if (b >= 0 && took < least[of])
                least[of] = took;
        }
    snprintf(label, sizeof label, "%s, %s", name, ways[way]);
    bench_line("neighbor", label, bytes, "us", 1e6 * least[HOST], 1e6 * least[OURS]);
}

/* The words of a list in the environment. */
static int words(const char *variable, const char *otherwise, char *found[MOST])
{
    int count = 0;
    const char *list = getenv(variable);
    for (char *rest = strdup(list && *list ? list : otherwise), *word; count < MOST && (word = strsep(&rest, " "));)
        if (*word)
            found[count++] = word;
    return count;
}

int main(int argc, char **argv)
{
    char *names[MOST], *sizes[MOST];
    int nnames = words("PATTERNS", "2d 3d dist26", names), largest = 0;
    int nsizes = words("SIZES", "8 512 8192 65536 1048576", sizes);
    bench_begin(&argc, &argv);
    for (int s = 0; s < nsizes; s++)
        largest = atoi(sizes[s]) > largest ? atoi(sizes[s]) : largest;
    sendbuf = malloc((size_t)MOST_NEIGHBORS * largest);
    /* Untouched pages are one page of zeros, which stays in the cache. */
    memset(sendbuf, 1, (size_t)MOST_NEIGHBORS * largest);
    recvbuf = calloc(MOST_NEIGHBORS, largest);
    for (int n = 0; n < nnames; n++) {
        MPI_Comm comms[SIDES];
        for (int of = HOST; of < SIDES; of++)
            comms[of] = topology(&sides[of], names[n]);
        for (enum way way = BLOCKING; way < WAYS; way++)
            for (int s = 0; s < nsizes && (way != PERSISTENT || sides[HOST].neighbor_alltoall_init); s++)
                time_one(names[n], comms, way, atoi(sizes[s]));
        for (int of = HOST; of < SIDES; of++)
            MPI_Comm_free(&comms[of]);
    }
    MPI_Finalize();
    return 0;
}
