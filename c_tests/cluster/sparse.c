/* The exchange of a sparse graph: sparse BYTES EXCHANGES DEGREE SEED
 *
 * The vertices are random points in a square, each with edges to the DEGREE nearest points, like the parts of a
 * mesh. Their numbers are random, as from partitioners, so that ranks do not reflect distances. Each process has
 * one vertex, and sends a block of BYTES along each of its edges. */
#include "exchange.h"

struct Lists {
    int in, out;
    int *sources, *destinations;
};

static void point_to_point(const struct Exchange *exchange)
{
    const struct Lists *lists = exchange->pattern;
    MPI_Request *requests = room(lists->in + lists->out, sizeof *requests);
    for (int i = 0; i < lists->in; i++)
        MPI_Irecv(exchange->receive + (size_t)i * exchange->words, exchange->words, MPI_UINT64_T,
                  lists->sources[i], 0, exchange->comm, &requests[i]);
    for (int i = 0; i < lists->out; i++)
        MPI_Isend(exchange->send + (size_t)i * exchange->words, exchange->words, MPI_UINT64_T,
                  lists->destinations[i], 0, exchange->comm, &requests[lists->in + i]);
    MPI_Waitall(lists->in + lists->out, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

/* The generator of Knuth's MMIX: the same numbers on every machine. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static double square(double value)
{
    return value * value;
}

/* Connects each vertex with its `degree` nearest points, whose numbers are random. */
static char *nearest(int size, int degree, uint64_t seed)
{
    char *joined = room((size_t)size * size, 1);
    double *x = room(size, sizeof *x), *y = room(size, sizeof *y);
    for (int i = 0; i < size; i++) {
        x[i] = uniform(&seed);
        y[i] = uniform(&seed);
    }
    for (int i = 0; i < size; i++) {
        char *taken = room(size, 1);
        for (int k = 0; k < degree && k < size - 1; k++) {
            int best = -1;
            for (int j = 0; j < size; j++)
                if (j != i && !taken[j] &&
                    (best < 0 || square(x[j] - x[i]) + square(y[j] - y[i]) <
                                     square(x[best] - x[i]) + square(y[best] - y[i])))
                    best = j;
            taken[best] = 1;
            joined[(size_t)i * size + best] = joined[(size_t)best * size + i] = 1;
        }
        free(taken);
    }
    free(x);
    free(y);
    return joined;
}

int main(int argc, char **argv)
{
    int rank, size, wrong, weighted;
    MPI_Init(&argc, &argv);
    if (argc != 5) {
        fprintf(stderr, "sparse BYTES EXCHANGES DEGREE SEED\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int bytes = number(argv[1]), exchanges = number(argv[2]), degree = number(argv[3]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    char *joined = nearest(size, degree, number(argv[4]));
    int *neighbors = room(size, sizeof *neighbors), count = 0;
    for (int j = 0; j < size; j++)
        if (joined[(size_t)rank * size + j])
            neighbors[count++] = j;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, neighbors, MPI_UNWEIGHTED, count, neighbors,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph);

    /* From here on only the new communicator counts. */
    struct Lists lists;
    MPI_Comm_rank(graph, &rank);
    MPI_Dist_graph_neighbors_count(graph, &lists.in, &lists.out, &weighted);
    lists.sources = room(lists.in, sizeof(int));
    lists.destinations = room(lists.out, sizeof(int));
    MPI_Dist_graph_neighbors(graph, lists.in, lists.sources, MPI_UNWEIGHTED, lists.out,
                             lists.destinations, MPI_UNWEIGHTED);

    /* The graph must be the requested one: its vertices are the new ranks. */
    int edges = 0;
    for (int j = 0; j < size; j++)
        edges += joined[(size_t)rank * size + j];
    int right = lists.in == edges && lists.out == edges;
    uint64_t *sent = room(lists.out, sizeof *sent), *expected = room(lists.in, sizeof *expected);
    for (int i = 0; i < lists.out; i++) {
        right &= joined[(size_t)rank * size + lists.destinations[i]];
        sent[i] = 1 + (uint64_t)rank * size + lists.destinations[i];
    }
    for (int i = 0; i < lists.in; i++) {
        right &= joined[(size_t)rank * size + lists.sources[i]];
        expected[i] = 1 + (uint64_t)lists.sources[i] * size + rank;
    }
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, graph);
    if (!right) {
        if (rank == 0)
            fprintf(stderr, "the new communicator has another graph than the one asked for\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    struct Exchange exchange = {
        .comm = graph,
        .blocks = edges,
        .words = bytes / (int)sizeof(uint64_t),
        .sent = sent,
        .expected = expected,
        .run = point_to_point,
        .pattern = &lists,
    };
    wrong = measure(&exchange, exchanges);
    free(lists.sources);
    free(lists.destinations);
    free(sent);
    free(expected);
    free(neighbors);
    free(joined);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return wrong;
}
