/* Local queries and MPI_Dims_create, alternately by the host and by Cartograph; see bench.h. Runs on one process.
 *
 *   bench_queries time           nanoseconds a call, medians
 *   bench_queries count          instructions a call, under callgrind: a dump for each case and side
 *   bench_queries dims FROM      MPI_Dims_create of the case FROM alone: hosts crash on some */
#include "bench.h"

#include <valgrind/callgrind.h>

enum { BATCHES = 41, CALLS = 20000, COUNTED = 1000, DEGREE = 6 };

/* The communicators of each side, from its own constructors. */
static MPI_Comm grid[SIDES], graph[SIDES], weighted[SIDES], unweighted[SIDES];

typedef void body(const struct chapter *side, int of, int calls);

#define CASE(name, call)                                                                            \
    static void name(const struct chapter *side, int of, int calls)                                 \
    {                                                                                              \
        int a[16] = { 0 }, b[16] = { 0 }, c[16] = { 0 }, d[16] = { 0 };                            \
        (void)side, (void)of, (void)a, (void)b, (void)c, (void)d;                                  \
        for (int i = 0; i < calls; i++) {                                                          \
            call;                                                                                  \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
    }

CASE(nothing, )
CASE(cart_rank, side->cart_rank(grid[of], a, b))
CASE(cart_rank_wraps, (a[0] = -1, side->cart_rank(grid[of], a, b)))
CASE(cart_coords, side->cart_coords(grid[of], 0, 3, a))
CASE(cart_shift, side->cart_shift(grid[of], 1, 1, a, b))
CASE(cart_get, side->cart_get(grid[of], 3, a, b, c))
CASE(cartdim_get, side->cartdim_get(grid[of], a))
CASE(topo_test, side->topo_test(grid[of], a))
CASE(topo_test_world, side->topo_test(MPI_COMM_WORLD, a))
CASE(graph_neighbors, side->graph_neighbors(graph[of], 0, DEGREE, a))
CASE(graph_neighbors_count, side->graph_neighbors_count(graph[of], 0, a))
CASE(graphdims_get, side->graphdims_get(graph[of], a, b))
CASE(graph_get, side->graph_get(graph[of], 1, DEGREE, a, b))
CASE(dist_graph_neighbors, side->dist_graph_neighbors(unweighted[of], DEGREE, a, MPI_UNWEIGHTED,
                                                      DEGREE, c, MPI_UNWEIGHTED))
CASE(dist_graph_neighbors_weighted, side->dist_graph_neighbors(weighted[of], DEGREE, a, b, DEGREE, c, d))
CASE(dist_graph_neighbors_count, side->dist_graph_neighbors_count(weighted[of], a, b, c))

static const struct query {
    const char *name;
    body *run;
} queries[] = {
    { "Cart_rank", cart_rank },
    { "Cart_rank, wrapping", cart_rank_wraps },
    { "Cart_coords", cart_coords },
    { "Cart_shift", cart_shift },
    { "Cart_get", cart_get },
    { "Cartdim_get", cartdim_get },
    { "Topo_test", topo_test },
    { "Topo_test, MPI_COMM_WORLD", topo_test_world },
    { "Graph_neighbors", graph_neighbors },
    { "Graph_neighbors_count", graph_neighbors_count },
    { "Graphdims_get", graphdims_get },
    { "Graph_get", graph_get },
    { "Dist_graph_neighbors", dist_graph_neighbors },
    { "Dist_graph_neighbors, weighted", dist_graph_neighbors_weighted },
    { "Dist_graph_neighbors_count", dist_graph_neighbors_count },
};
enum { QUERIES = sizeof queries / sizeof *queries };

static void make(int of)
{
    int dims[3] = { 1, 1, 1 }, periods[3] = { 1, 0, 1 }, index[1] = { DEGREE };
    int edges[DEGREE] = { 0 }, weights[DEGREE] = { 1, 2, 3, 4, 5, 6 };
    const struct chapter *side = &sides[of];
    side->cart_create(MPI_COMM_SELF, 3, dims, periods, 0, &grid[of]);
    side->graph_create(MPI_COMM_SELF, 1, index, edges, 0, &graph[of]);
    side->adjacent(MPI_COMM_SELF, DEGREE, edges, MPI_UNWEIGHTED, DEGREE, edges, MPI_UNWEIGHTED,
                   MPI_INFO_NULL, 0, &unweighted[of]);
    side->adjacent(MPI_COMM_SELF, DEGREE, edges, weights, DEGREE, edges, weights, MPI_INFO_NULL, 0,
                   &weighted[of]);
}

static double batch(body *run, int of, int calls)
{
    double start = bench_now();
    run(&sides[of], of, calls);
    return (bench_now() - start) / calls;
}

static void time_queries(void)
{
    static double seconds[SIDES][BATCHES];
    double loop[BATCHES];
    for (int b = 0; b < BATCHES; b++)
        loop[b] = batch(nothing, HOST, CALLS);
    const double empty = bench_median(loop, BATCHES);
    for (int q = 0; q < QUERIES; q++) {
        /* The first batches warm up. */
        for (int b = -4; b < BATCHES; b++)
            for (int of = 0; of < SIDES; of++) {
                double took = batch(queries[q].run, of, CALLS) - empty;
                if (b >= 0)
                    seconds[of][b] = took;
            }
        bench_line("query", queries[q].name, 0, "ns", 1e9 * bench_median(seconds[HOST], BATCHES),
                   1e9 * bench_median(seconds[OURS], BATCHES));
    }
}

static void count_one(const char *name, body *run, int of)
{
    char label[128];
    snprintf(label, sizeof label, "%s\t%s\t%d", name, of == HOST ? "host" : "ours", COUNTED);
    run(&sides[of], of, 10);
    CALLGRIND_ZERO_STATS;
    run(&sides[of], of, COUNTED);
    CALLGRIND_DUMP_STATS_AT(label);
}

static void count_queries(void)
{
    /* The first dump includes threads that the host was still starting. */
    for (int i = 0; i < 2; i++)
        count_one("nothing", nothing, HOST);
    for (int q = 0; q < QUERIES; q++)
        for (int of = 0; of < SIDES; of++)
            count_one(queries[q].name, queries[q].run, of);
}

/* ---- MPI_Dims_create ---- */

static int of_n, of_k;

static void one_dims(const struct chapter *side, int of, int calls)
{
    (void)of;
    for (int i = 0; i < calls; i++) {
        int dims[6] = { 0 };
        side->dims_create(of_n, of_k, dims);
        __asm__ volatile("" ::: "memory");
    }
}

/* One call for each number of processes up to 20,000. */
static void all_dims(const struct chapter *side, int of, int calls)
{
    (void)of;
    for (int n = 1; n <= calls; n++) {
        int dims[6] = { 0 };
        side->dims_create(n, of_k, dims);
        __asm__ volatile("" ::: "memory");
    }
}

static void time_dims(const char *name, body *run, int batches, int calls[SIDES])
{
    double seconds[SIDES][BATCHES];
    for (int b = -1; b < batches; b++)
        for (int of = 0; of < SIDES; of++) {
            double took = batch(run, of, calls[of]);
            if (b >= 0)
                seconds[of][b] = took;
        }
    bench_line("dims", name, of_k, "ns", 1e9 * bench_median(seconds[HOST], batches),
               1e9 * bench_median(seconds[OURS], batches));
}

static void dims(const char *which)
{
    static const int ns[] = { 96, 720720, 1 << 20, 1102701600, 2147483647 };
    int all[SIDES] = { 20000, 20000 };
    if (!strcmp(which, "mean"))
        for (of_k = 2; of_k <= 6; of_k++)
            time_dims("mean of 1 to 20,000", all_dims, 5, all);
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d", ns[i]);
        if (strcmp(which, name))
            continue;
        for (of_k = 2; of_k <= 4; of_k++) {
            int calls[SIDES];
            of_n = ns[i];
            /* About a millisecond each, even if the sides differ much. */
            for (int of = 0; of < SIDES; of++) {
                double once = batch(one_dims, of, 1);
                calls[of] = once > 1e-3 ? 1 : 1e-3 / once + 1;
            }
            time_dims(name, one_dims, 9, calls);
        }
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "time";
    bench_begin(&argc, &argv);
    if (!strcmp(mode, "dims"))
        dims(argc > 2 ? argv[2] : "mean");
    else {
        make(HOST);
        make(OURS);
        if (!strcmp(mode, "count"))
            count_queries();
        else
            time_queries();
        for (int of = 0; of < SIDES; of++) {
            MPI_Comm_free(&grid[of]);
            MPI_Comm_free(&graph[of]);
            MPI_Comm_free(&weighted[of]);
            MPI_Comm_free(&unweighted[of]);
        }
    }
    MPI_Finalize();
    return 0;
}
