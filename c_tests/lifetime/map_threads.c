/* MPI_Cart_map and MPI_Graph_map on several threads at once (MPI_THREAD_MULTIPLE), on communicators whose layout
 * is not cached: all threads get the same result, and none caches anything on the communicator, whose attributes
 * the host may be copying in another call. */
#define _GNU_SOURCE
#include "../check.h"
#include <dlfcn.h>
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 10 };

static MPI_Comm comm;
static pthread_barrier_t start;
static int mapping, sets;
static __thread int is_mapping;

/* Intercepts the function of the host. */
int PMPI_Comm_set_attr(MPI_Comm of, int keyval, void *value)
{
    int (*host)(MPI_Comm, int, void *);
    *(void **)&host = dlsym(RTLD_NEXT, "PMPI_Comm_set_attr");
    if (is_mapping)
        __atomic_add_fetch(&sets, 1, __ATOMIC_RELAXED);
    return host(of, keyval, value);
}

struct answer {
    pthread_t thread;
    int cart, graph;
};

static void ask(struct answer *answer)
{
    int dims[1] = { world_size }, periods[1] = { 0 }, index[64], edges[64];
    /* A ring through every second process first: consecutive ranks on a node are a bad order. */
    for (int i = 0; i < world_size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 2) % world_size;
    }
    answer->cart = answer->graph = -2;
    MPI_Cart_map(comm, 1, dims, periods, &answer->cart);
    MPI_Graph_map(comm, world_size, index, edges, &answer->graph);
}

static void *map(void *argument)
{
    is_mapping = 1;
    pthread_barrier_wait(&start);
    ask(argument);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int round = 0; round < ROUNDS && provided == MPI_THREAD_MULTIPLE; round++) {
        struct answer answers[THREADS], after;
        /* Each round rotates the ranks, so that its communicator is a new one. */
        MPI_Comm_split(MPI_COMM_WORLD, 0, (world_rank * 3 + round) % world_size, &comm);
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&answers[i].thread, NULL, map, &answers[i]))
                MPI_Abort(MPI_COMM_WORLD, 1);
        for (int i = 0; i < THREADS; i++)
            pthread_join(answers[i].thread, NULL);
        ask(&after);
        for (int i = 0; i < THREADS; i++)
            CHECK(answers[i].cart == after.cart && answers[i].graph == after.graph);
        int rank, all[64], seen = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Allgather(&after.graph, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int i = 0; i < world_size; i++)
            for (int j = 0; j < world_size; j++)
                seen += all[j] == i;
        CHECK(seen == world_size);
        mapping |= after.graph != rank || after.cart != rank;
        MPI_Comm_free(&comm);
    }
    CHECK(sets == 0);
    if (provided == MPI_THREAD_MULTIPLE) {
        MPI_Allreduce(MPI_IN_PLACE, &mapping, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        /* Otherwise this program tested nothing. */
        CHECK(mapping);
    }
    pthread_barrier_destroy(&start);
    return finish();
}
