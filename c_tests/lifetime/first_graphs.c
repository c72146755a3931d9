/* The first topologies of a process, created by many threads at once (MPI_THREAD_MULTIPLE). Cartograph asks the
 * host about its own distributed graphs then, and Open MPI 4 loads its topology component at the first one,
 * without a lock. */
#define _GNU_SOURCE
#include "worker.h"

enum { THREADS = 8 };

#if defined(OPEN_MPI)
#include <dlfcn.h>
#include <unistd.h>

/* Counts how often the host began to load its topology component: twice is a race, which sometimes crashes. */
static int loading;

/* Intercepts the host's function that loads the components of a framework by its second field. The first thread
 * waits here for a second. */
int mca_base_framework_components_open(const char **framework, unsigned flags)
{
    int (*host)(const char **, unsigned);
    *(void **)&host = dlsym(RTLD_NEXT, "mca_base_framework_components_open");
    if (!strcmp(framework[1], "topo") && __atomic_add_fetch(&loading, 1, __ATOMIC_RELAXED) == 1)
        for (int i = 0; i < 1000 && __atomic_load_n(&loading, __ATOMIC_RELAXED) < 2; i++)
            usleep(250);
    return host(framework, flags);
}
#endif

static pthread_barrier_t start;

static void *first(void *argument)
{
    struct worker *me = argument;
    int periodic = 1, kind = -1, sent[2] = { 10 * world_rank, 10 * world_rank + 1 }, got[2] = { -1, -1 };
    int behind = (world_rank + world_size - 1) % world_size, front = (world_rank + 1) % world_size;
    MPI_Comm ring;
    MPI_Request request;
    pthread_barrier_wait(&start);
    HOLDS(MPI_Cart_create(me->comm, 1, &world_size, &periodic, 0, &ring) == MPI_SUCCESS);
    HOLDS(MPI_Topo_test(ring, &kind) == MPI_SUCCESS && kind == MPI_CART);
    HOLDS(MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring, &request) == MPI_SUCCESS);
    HOLDS(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    HOLDS(got[0] == 10 * behind + 1 && got[1] == 10 * front);
    HOLDS(MPI_Comm_free(&ring) == MPI_SUCCESS);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    int threads = provided < MPI_THREAD_MULTIPLE ? 1 : THREADS;
    pthread_barrier_init(&start, NULL, threads);
    for (int i = 0; i < threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    run(first, workers, threads);
    collect(workers, threads);
#if defined(OPEN_MPI)
    CHECK(loading <= 1);
#endif
    return finish();
}
