/* Instructions of nonblocking and persistent neighborhood collectives with small blocks, of the host and of
 * Cartograph, each on its own communicators, on rank 0 under callgrind: to start them, and to complete them after
 * all messages have arrived. Each neighbor is another process, where hosts are right.
 *
 * `PARTS=neighbor_count make lab-bench` runs it. */
#include "bench.h"

#include <sched.h>
#include <stdatomic.h>
#include <valgrind/callgrind.h>

enum { WARM = 20, CALLS = 100, MOST_NEIGHBORS = 6 };

enum call { ALLTOALL, ALLGATHER, PERSISTENT, NCALLS };
static const char *const calls[] = { "MPI_Ineighbor_alltoall", "MPI_Ineighbor_allgather",
                                     "MPI_Neighbor_alltoall_init" };

static int sent[MOST_NEIGHBORS], got[MOST_NEIGHBORS];

/* The number of calls started by all processes, in shared memory. */
static atomic_long *started;

static void share(MPI_Win *window)
{
    MPI_Aint size;
    int unit;
    MPI_Win_allocate_shared(bench_rank ? 0 : sizeof *started, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &started, window);
    MPI_Win_shared_query(*window, 0, &size, &unit, &started);
    if (bench_rank == 0)
        atomic_init(started, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Waits until all processes have started a call, without the host, which would make progress meanwhile. */
static void wait_for_all(void)
{
    static long calls;
    calls += bench_size;
    atomic_fetch_add(started, 1);
    while (atomic_load(started) < calls)
        sched_yield();
}

static MPI_Comm grid(const struct chapter *chapter, int ndims)
{
    int dims[3] = { 0, 0, 0 }, periods[3] = { 0, 0, 0 };
    MPI_Comm comm;
    MPI_Dims_create(bench_size, ndims, dims);
    chapter->cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    return comm;
}

static void start(const struct chapter *chapter, enum call call, MPI_Comm comm, MPI_Request *request)
{
    if (call == PERSISTENT)
        MPI_Start(request);
    else if (call == ALLTOALL)
        chapter->ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, request);
    else
        chapter->ineighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, comm, request);
}

/* Counts a part of each call: the start or the wait. */
static void count(int side, enum call call, int ndims, MPI_Comm comm, int starts)
{
    char label[128];
    MPI_Request request;
    if (call == PERSISTENT)
        sides[side].neighbor_alltoall_init(sent, 1, MPI_INT, got, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
    for (int i = -WARM; i < CALLS; i++) {
        if (i == 0)
            CALLGRIND_ZERO_STATS;
        MPI_Barrier(MPI_COMM_WORLD);
        if (i >= 0 && starts)
            CALLGRIND_TOGGLE_COLLECT;
        start(&sides[side], call, comm, &request);
        if (i >= 0 && starts)
            CALLGRIND_TOGGLE_COLLECT;
        wait_for_all();
        if (i >= 0 && !starts)
            CALLGRIND_TOGGLE_COLLECT;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i >= 0 && !starts)
            CALLGRIND_TOGGLE_COLLECT;
    }
    if (call == PERSISTENT)
        MPI_Request_free(&request);
    if (starts)
        snprintf(label, sizeof label, "%dd, %s\t%s\t%d", ndims,
                 call == PERSISTENT ? "MPI_Start" : calls[call], side == HOST ? "host" : "ours", CALLS);
    else
        snprintf(label, sizeof label, "%dd, MPI_Wait of %s\t%s\t%d", ndims, calls[call],
                 side == HOST ? "host" : "ours", CALLS);
    CALLGRIND_DUMP_STATS_AT(label);
}

int main(int argc, char **argv)
{
    MPI_Win window;
    bench_begin(&argc, &argv);
    share(&window);
    for (int ndims = 2; ndims <= 3; ndims++) {
        MPI_Comm comms[SIDES];
        for (int side = HOST; side < SIDES; side++)
            comms[side] = grid(&sides[side], ndims);
        for (enum call call = ALLTOALL; call < NCALLS; call++)
            for (int starts = 1; starts >= 0; starts--)
                for (int side = HOST; side < SIDES; side++)
                    if (call != PERSISTENT || sides[HOST].neighbor_alltoall_init)
                        count(side, call, ndims, comms[side], starts);
        for (int side = HOST; side < SIDES; side++)
            MPI_Comm_free(&comms[side]);
    }
    MPI_Win_free(&window);
    return MPI_Finalize();
}
