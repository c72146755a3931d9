/* Random calls of all constructors and of MPI_Cart_sub on all ranks, right and wrong. All ranks must get the same
 * result: an error of the same class, or communicators whose queries return the passed arguments. No rank may wait
 * forever.
 *
 * random_calls SEED [ROUNDS] */
#include "random_calls.h"

#include <signal.h>
#include <unistd.h>

enum { SECONDS = 60, MANY_ROUNDS = 150 };

static unsigned long long seed, round_state;

static void on_alarm(int number)
{
    char text[100];
    int length = snprintf(text, sizeof text, "rank %d hangs: seed %llu, state %llu\n", world_rank, seed,
                          round_state);
    (void)number;
    _exit(write(2, text, length) < 0 ? 3 : 2);
}

static const int *weights_of(const struct call *call, const struct list *list)
{
    switch (chosen(call)) {
    case UNWEIGHTED:
        return MPI_UNWEIGHTED;
    case WEIGHTED:
        return list->weights;
    default:
        return NULL;
    }
}

/* Calls the constructor of this rank on a grid of all processes. */
static int make(MPI_Comm grid, const struct call *call, MPI_Comm *made)
{
    int ones[EDGES];
    switch (call->kind) {
    case CART:
        return MPI_Cart_create(grid, call->ndims, call->dims, call->periods, call->reorder,
                               call->is_null ? NULL : made);
    case GRAPH:
        return MPI_Graph_create(grid, call->nnodes, call->index, call->edges, call->reorder,
                                call->is_null ? NULL : made);
    case SUB:
        return MPI_Cart_sub(grid, call->is_null ? NULL : call->remain, made);
    case BY_EDGES:
        for (int i = 0; i < EDGES; i++)
            ones[i] = 1;
        return MPI_Dist_graph_create(grid, call->given.count, call->given.from, ones, call->given.to,
                                     weights_of(call, &call->given), MPI_INFO_NULL, call->reorder,
                                     call->is_null ? NULL : made);
    default:
        return MPI_Dist_graph_create_adjacent(
            grid, call->into.count, call->into.from, weights_of(call, &call->into),
            call->away.count, call->away.to, weights_of(call, &call->away), MPI_INFO_NULL,
            call->reorder, call->is_null ? NULL : made);
    }
}

/* The expected edges of a distributed graph in one direction, in the order of the ranks that pass them. */
static struct list expected(enum kind kind, int vertex, int incoming)
{
    struct list list = { 0 };
    if (kind == ADJACENT)
        return incoming ? calls[vertex].into : calls[vertex].away;
    for (int giver = 0; giver < world_size; giver++) {
        const struct list *given = &calls[giver].given;
        for (int i = 0; i < given->count; i++)
            if ((incoming ? given->to[i] : given->from[i]) == vertex)
                add(&list, given->from[i], given->to[i], given->weights[i]);
    }
    return list;
}

static void check_dist_graph(MPI_Comm made, enum kind kind, int vertex)
{
    struct list into = expected(kind, vertex, 1), away = expected(kind, vertex, 0);
    int counts[3], ranks[2][EDGES], weights[2][EDGES], weighted = is_weighted(vertex);
    CHECK(MPI_Dist_graph_neighbors_count(made, &counts[0], &counts[1], &counts[2]) == MPI_SUCCESS);
    if (!CHECK(counts[0] == into.count && counts[1] == away.count))
        return;
    CHECK(!counts[2] == !weighted);
    CHECK(MPI_Dist_graph_neighbors(made, EDGES, ranks[0], weights[0], EDGES, ranks[1], weights[1])
          == MPI_SUCCESS);
    CHECK(!memcmp(ranks[0], into.from, into.count * sizeof(int)));
    CHECK(!memcmp(ranks[1], away.to, away.count * sizeof(int)));
    CHECK(!weighted || !memcmp(weights[0], into.weights, into.count * sizeof(int)));
    CHECK(!weighted || !memcmp(weights[1], away.weights, away.count * sizeof(int)));
}

static void check_grid(MPI_Comm made, int ndims, const int *dims, const int *periods)
{
    int got = -1, all[3][NDIMS], rank, back = -1;
    CHECK(MPI_Cartdim_get(made, &got) == MPI_SUCCESS && got == ndims);
    CHECK(MPI_Cart_get(made, NDIMS, all[0], all[1], all[2]) == MPI_SUCCESS);
    CHECK(!memcmp(all[0], dims, ndims * sizeof(int)));
    CHECK(!memcmp(all[1], periods, ndims * sizeof(int)));
    MPI_Comm_rank(made, &rank);
    CHECK(MPI_Cart_rank(made, all[2], &back) == MPI_SUCCESS && back == rank);
}

/* Compares the new communicator with the arguments of this rank. */
static void check_made(MPI_Comm grid, MPI_Comm made, const int dims[2])
{
    const struct call *call = &calls[world_rank];
    static const int kinds[] = { MPI_CART, MPI_GRAPH, MPI_CART, MPI_DIST_GRAPH, MPI_DIST_GRAPH };
    int vertices = world_size, rank = -1, size = 0, kind = -1, seen[RANKS + 1] = { 0 };
    if (call->kind == GRAPH)
        vertices = call->nnodes;
    if (call->kind == CART) {
        vertices = 1;
        for (int i = 0; i < call->ndims; i++)
            vertices *= call->dims[i];
    }
    if (made != MPI_COMM_NULL) {
        MPI_Comm_rank(made, &rank);
        MPI_Comm_size(made, &size);
        CHECK(MPI_Topo_test(made, &kind) == MPI_SUCCESS && kind == kinds[call->kind]);
    }
    if (call->kind == SUB) {
        int sides[2], periodic[2], coords[2], kept[3][2], ndims = 0;
        MPI_Cart_get(grid, 2, sides, periodic, coords);
        for (int i = 0; i < 2; i++)
            if (call->remain[i]) {
                kept[0][ndims] = dims[i];
                kept[1][ndims] = periodic[i];
                kept[2][ndims++] = coords[i];
            }
        if (!CHECK(made != MPI_COMM_NULL))
            return;
        check_grid(made, ndims, kept[0], kept[1]);
        CHECK(MPI_Cart_coords(made, rank, 2, coords) == MPI_SUCCESS);
        CHECK(!memcmp(coords, kept[2], ndims * sizeof(int)));
        return;
    }
    /* Each vertex has one process. */
    if (rank >= 0)
        seen[rank] = 1;
    seen[RANKS] = made != MPI_COMM_NULL;
    MPI_Allreduce(MPI_IN_PLACE, seen, RANKS + 1, MPI_INT, MPI_SUM, grid);
    CHECK(seen[RANKS] == vertices);
    for (int i = 0; i < RANKS; i++)
        CHECK(seen[i] == (i < vertices));
    if (made == MPI_COMM_NULL)
        return;
    CHECK(size == vertices);
    if (call->kind == CART) {
        check_grid(made, call->ndims, call->dims, call->periods);
    } else if (call->kind == GRAPH) {
        int counts[2] = { -1, -1 }, index[RANKS], edges[EDGES];
        CHECK(MPI_Graphdims_get(made, &counts[0], &counts[1]) == MPI_SUCCESS);
        CHECK(counts[0] == call->nnodes && counts[1] == edges_of(call));
        CHECK(MPI_Graph_get(made, RANKS, EDGES, index, edges) == MPI_SUCCESS);
        CHECK(!memcmp(index, call->index, call->nnodes * sizeof(int)));
        CHECK(!memcmp(edges, call->edges, edges_of(call) * sizeof(int)));
    } else {
        check_dist_graph(made, call->kind, rank);
    }
}

int main(int argc, char **argv)
{
    const char *words = getenv("CARTOGRAPH_CHECK");
    int rounds = argc > 2 ? atoi(argv[2]) : MANY_ROUNDS, dims[2] = { 0, 0 }, periods[2] = { 1, 0 };
    int outcomes[2] = { 0, 0 };
    MPI_Comm grid;
    begin(&argc, &argv);
    if (world_size > RANKS || argc < 2) {
        fprintf(stderr, "random_calls SEED [ROUNDS], on at most %d processes\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    state = seed = strtoull(argv[1], NULL, 10);
    MPI_Dims_create(world_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &world_rank);
    signal(SIGALRM, on_alarm);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm made = MPI_COMM_SELF;
        int code, classes[2], failed = checks_failed, good;
        round_state = state;
        draw_calls();
        alarm(SECONDS);
        code = make(grid, &calls[world_rank], &made);
        classes[0] = class_of(code), classes[1] = -classes[0];
        MPI_Allreduce(MPI_IN_PLACE, classes, 2, MPI_INT, MPI_MIN, grid);
        good = succeeds(words != NULL);
        CHECK(classes[0] == -classes[1]);
        CHECK(class_of(code) == (good ? MPI_SUCCESS : MPI_ERR_ARG));
        outcomes[good]++;
        if (code == MPI_SUCCESS && good)
            check_made(grid, made, dims);
        if (code == MPI_SUCCESS && made != MPI_COMM_NULL && made != MPI_COMM_SELF)
            MPI_Comm_free(&made);
        else
            CHECK(made == MPI_COMM_NULL || (code != MPI_SUCCESS && made == MPI_COMM_SELF));
        alarm(0);
        if (checks_failed > failed) {
            fprintf(stderr, "rank %d: round %d of seed %llu, kind %d, class %d\n", world_rank, round,
                    seed, calls[world_rank].kind, class_of(code));
            break;
        }
    }
    /* A seed without valid calls, or without wrong ones, tests nothing. */
    CHECK(rounds < 50 || (outcomes[0] > rounds / 25 && outcomes[1] > rounds / 25));
    if (checks_failed)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_free(&grid);
    return finish();
}
