/* Many threads at once (MPI_THREAD_MULTIPLE): the first topology calls of the process, queries of shared
 * communicators, communicators created and freed, and errors with their texts. */
#define _GNU_SOURCE
#include "worker.h"
#include <dlfcn.h>
#include <unistd.h>

enum { CREATORS = 2, QUERIERS = 8, FAULTS = 5, FIRST = 8, THREADS = CREATORS + QUERIERS + FAULTS };

static MPI_Comm grid, graph, adjacent; /* Shared by all threads with queries. */
static pthread_barrier_t start, lockstep;
static int creating = CREATORS;

/* ---- The first topology of the process, created by several threads at once ---- */

static int keys_made;

/* Intercepts the function of the host. The first thread waits here for a second, which makes a race certain. */
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete,
                            int *keyval, void *state)
{
    int (*host)(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *);
    *(void **)&host = dlsym(RTLD_NEXT, "PMPI_Comm_create_keyval");
    __atomic_add_fetch(&keys_made, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 20000 && __atomic_load_n(&keys_made, __ATOMIC_RELAXED) < 2; i++)
        usleep(250);
    return host(copy, delete, keyval, state);
}

static void *first(void *argument)
{
    struct worker *me = argument;
    int dims[2] = { 1, 1 }, periods[2] = { me->index & 1, 1 }, kind = -1;
    int got_dims[2], got_periods[2], coords[2];
    MPI_Comm comm, dup;
    pthread_barrier_wait(&start);
    HOLDS(MPI_Cart_create(me->comm, 2, dims, periods, 0, &comm) == MPI_SUCCESS);
    /* There is one key now, and each topology must be found by it. */
    pthread_barrier_wait(&start);
    HOLDS(MPI_Topo_test(comm, &kind) == MPI_SUCCESS && kind == MPI_CART);
    HOLDS(MPI_Cart_get(comm, 2, got_dims, got_periods, coords) == MPI_SUCCESS);
    HOLDS(got_dims[0] == 1 && got_periods[0] == (me->index & 1) && coords[0] == 0);
    HOLDS(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS);
    HOLDS(MPI_Comm_free(&comm) == MPI_SUCCESS);
    HOLDS(MPI_Topo_test(dup, &kind) == MPI_SUCCESS && kind == MPI_CART);
    HOLDS(MPI_Comm_free(&dup) == MPI_SUCCESS);
    return NULL;
}

/* ---- Communicators created and freed ---- */

static void *create(void *argument)
{
    struct worker *me = argument;
    int from = (world_rank + world_size - 1) % world_size, to = (world_rank + 1) % world_size;
    pthread_barrier_wait(&start);
    for (int round = 0; round < 30; round++) {
        int dims[3] = { 1, world_size, 1 }, periods[3] = { 0, 1, 0 }, remain[3] = { 1, 0, 1 };
        int in, out, weighted, ndims, rank, weight = 10 * round + me->index, found = -1, neighbor;
        int one = 1;
        MPI_Comm cart, sub, dup, ring, given;
        HOLDS(MPI_Cart_create(me->comm, 3, dims, periods, 0, &cart) == MPI_SUCCESS);
        HOLDS(MPI_Cart_sub(cart, remain, &sub) == MPI_SUCCESS);
        HOLDS(MPI_Comm_free(&cart) == MPI_SUCCESS);
        HOLDS(MPI_Cartdim_get(sub, &ndims) == MPI_SUCCESS && ndims == 2);
        HOLDS(MPI_Comm_size(sub, &rank) == MPI_SUCCESS && rank == 1);
        HOLDS(MPI_Comm_free(&sub) == MPI_SUCCESS);
        HOLDS(MPI_Dist_graph_create_adjacent(me->comm, 1, &from, &weight, 1, &to, &weight,
                                             MPI_INFO_NULL, 0, &ring)
              == MPI_SUCCESS);
        HOLDS(MPI_Dist_graph_create(me->comm, 1, &world_rank, &one, &to, &weight, MPI_INFO_NULL, 0, &given)
              == MPI_SUCCESS);
        HOLDS(MPI_Dist_graph_neighbors(given, 1, &neighbor, &found, 0, NULL, MPI_UNWEIGHTED) == MPI_SUCCESS);
        HOLDS(neighbor == from && found == 10 * round + me->index);
        HOLDS(MPI_Comm_free(&given) == MPI_SUCCESS);
        HOLDS(MPI_Comm_dup(ring, &dup) == MPI_SUCCESS);
        HOLDS(MPI_Comm_free(&ring) == MPI_SUCCESS);
        HOLDS(MPI_Dist_graph_neighbors_count(dup, &in, &out, &weighted) == MPI_SUCCESS);
        HOLDS(in == 1 && out == 1 && weighted);
        HOLDS(MPI_Dist_graph_neighbors(dup, 1, &neighbor, &found, 0, NULL, MPI_UNWEIGHTED)
              == MPI_SUCCESS);
        HOLDS(neighbor == from && found == weight);
        HOLDS(MPI_Comm_free(&dup) == MPI_SUCCESS);
    }
    __atomic_sub_fetch(&creating, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Queries last as long as communicators are created, so that both happen at once. */
static int goes_on(int round)
{
    /* Threads that never wait would take all processors. */
    if (round % 16 == 15)
        usleep(500);
    return round < 100 || (__atomic_load_n(&creating, __ATOMIC_RELAXED) && round < 20000);
}

/* ---- Queries ---- */

static void *query(void *argument)
{
    struct worker *me = argument;
    pthread_barrier_wait(&start);
    for (int round = 0; goes_on(round); round++) {
        int kind, ndims, dims[2], periods[2], coords[2], rank, source, dest, count, sizes[2];
        int index[2], edges[2], in[1], out[1], weights[2], shift = round % 7 - 3;
        HOLDS(MPI_Topo_test(grid, &kind) == MPI_SUCCESS && kind == MPI_CART);
        HOLDS(MPI_Cartdim_get(grid, &ndims) == MPI_SUCCESS && ndims == 2);
        HOLDS(MPI_Cart_get(grid, 2, dims, periods, coords) == MPI_SUCCESS);
        HOLDS(dims[0] == 1 && dims[1] == world_size && periods[0] == 0 && periods[1] == 1);
        coords[1] += round % 5 * world_size;
        HOLDS(MPI_Cart_rank(grid, coords, &rank) == MPI_SUCCESS && rank == world_rank);
        HOLDS(MPI_Cart_coords(grid, round % world_size, 2, coords) == MPI_SUCCESS);
        HOLDS(coords[0] == 0 && coords[1] == round % world_size);
        HOLDS(MPI_Cart_shift(grid, 1, shift, &source, &dest) == MPI_SUCCESS);
        HOLDS(dest == (world_rank + shift + 4 * world_size) % world_size);
        HOLDS(source == (world_rank - shift + 4 * world_size) % world_size);
        dims[0] = dims[1] = 0;
        HOLDS(MPI_Dims_create(72, 2, dims) == MPI_SUCCESS && dims[0] == 9 && dims[1] == 8);

        HOLDS(MPI_Topo_test(graph, &kind) == MPI_SUCCESS && kind == MPI_GRAPH);
        HOLDS(MPI_Graphdims_get(graph, &sizes[0], &sizes[1]) == MPI_SUCCESS);
        HOLDS(sizes[0] == 1 && sizes[1] == 2);
        HOLDS(MPI_Graph_get(graph, 1, 2, index, edges) == MPI_SUCCESS && index[0] == 2);
        HOLDS(MPI_Graph_neighbors_count(graph, 0, &count) == MPI_SUCCESS && count == 2);
        HOLDS(MPI_Graph_neighbors(graph, 0, 2, edges) == MPI_SUCCESS && edges[1] == 0);

        HOLDS(MPI_Topo_test(adjacent, &kind) == MPI_SUCCESS && kind == MPI_DIST_GRAPH);
        HOLDS(MPI_Dist_graph_neighbors(adjacent, 1, in, &weights[0], 1, out, &weights[1])
              == MPI_SUCCESS);
        HOLDS(in[0] == world_rank && out[0] == world_rank && weights[0] == 40 + world_rank);
        HOLDS(MPI_Topo_test(MPI_COMM_WORLD, &kind) == MPI_SUCCESS && kind == MPI_UNDEFINED);
    }
    return NULL;
}

/* ---- Errors ---- */

/* A call that fails; returns the expected class, and a word of the expected text. */
static int fail(int way, int number, char *word, int *code)
{
    int dims[2] = { -number, 0 }, place[2];
    sprintf(word, "%d", way == 1 ? -number : number);
    switch (way) {
    case 0:
        *code = MPI_Cart_coords(grid, number, 2, place);
        return MPI_ERR_RANK;
    case 1:
        *code = MPI_Dims_create(7, 2, dims);
        return MPI_ERR_DIMS;
    case 2:
        *code = MPI_Cart_shift(grid, number, 1, &place[0], &place[1]);
        return MPI_ERR_ARG;
    case 3:
        strcpy(word, number & 1 ? "MPI_Cartdim_get" : "MPI_Graphdims_get");
        *code = number & 1 ? MPI_Cartdim_get(graph, place)
                           : MPI_Graphdims_get(grid, &place[0], &place[1]);
        return MPI_ERR_TOPOLOGY;
    default:
        strcpy(word, number & 1 ? "MPI_Cart_rank" : "MPI_Topo_test");
        *code = number & 1 ? MPI_Cart_rank(MPI_COMM_NULL, dims, place)
                           : MPI_Topo_test(MPI_COMM_NULL, place);
        return MPI_ERR_COMM;
    }
}

/* All threads fail at once, alternately with different and equal errors, and each finds its own text. They wait
 * for each other, since a text is kept only for a limited number of errors. */
static void *fault(void *argument)
{
    struct worker *me = argument;
    pthread_barrier_wait(&start);
    for (int round = 0; round < 200; round++) {
        char text[MPI_MAX_ERROR_STRING] = "", word[32];
        int number = 1000 + 10 * round + me->index, class = -1, length, code = MPI_SUCCESS;
        int expected = fail(round & 1 ? round / 2 % FAULTS : me->index, number, word, &code);
        HOLDS(MPI_Error_class(code, &class) == MPI_SUCCESS && class == expected);
        HOLDS(MPI_Error_string(code, text, &length) == MPI_SUCCESS);
        if (!strstr(text, word) && me->failed < 3)
            fprintf(stderr, "no %s in: %s\n", word, text);
        HOLDS(strstr(text, word) != NULL);
        pthread_barrier_wait(&lockstep);
    }
    return NULL;
}

/* ---- */

/* The shared communicators: a ring of all processes, a node with two loops, and a loop for each process. */
static void share(void)
{
    int dims[2] = { 1, world_size }, periods[2] = { 0, 1 }, index[1] = { 2 }, edges[2] = { 0, 0 };
    int weight = 40 + world_rank;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid) == MPI_SUCCESS);
    CHECK(MPI_Graph_create(MPI_COMM_SELF, 1, index, edges, 0, &graph) == MPI_SUCCESS);
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &world_rank, &weight, 1, &world_rank,
                                         &weight, MPI_INFO_NULL, 0, &adjacent)
          == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    static struct worker early[FIRST], creators[CREATORS], queriers[QUERIERS], faults[FAULTS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (provided < MPI_THREAD_MULTIPLE) {
        say("threads: the host provides level %d only, so there is one\n", provided);
        share();
        CHECK(grid != MPI_COMM_NULL && graph != MPI_COMM_NULL && adjacent != MPI_COMM_NULL);
        return finish();
    }

    pthread_barrier_init(&start, NULL, FIRST);
    for (int i = 0; i < FIRST; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &early[i].comm);
    run(first, early, FIRST);
    collect(early, FIRST);
    pthread_barrier_destroy(&start);
    say("threads: %d made the first topologies, %d of them a key\n", FIRST, keys_made);
    /* Otherwise this program tested nothing. */
    CHECK(keys_made > 1);

    share();
    for (int i = 0; i < THREADS - CREATORS; i++)
        (i < QUERIERS ? &queriers[i] : &faults[i - QUERIERS])->comm = MPI_COMM_NULL;
    for (int i = 0; i < CREATORS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &creators[i].comm);
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_barrier_init(&lockstep, NULL, FAULTS);
    run(create, creators, CREATORS);
    run(query, queriers, QUERIERS);
    run(fault, faults, FAULTS);
    collect(creators, CREATORS);
    collect(queriers, QUERIERS);
    collect(faults, FAULTS);
    say("threads: %d created, %d queried, %d failed in a way each\n", CREATORS, QUERIERS, FAULTS);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&adjacent);
    return finish();
}
