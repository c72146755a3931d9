/* The cost of creating and freeing communicators, alternately by the host and by Cartograph; see bench.h.
 *
 *   bench_create time     microseconds for one of each kind, of the slowest rank, medians; then the parts
 *                         that Cartograph's constructors consist of, which are all the host's
 *   bench_create memory   bytes for one of each kind, by degree; on one process */
#include "bench.h"

#include <malloc.h>

enum { BATCHES = 11, MOST_DEGREE = 1000, KEPT = 64 };

static int reorder, degree;
static MPI_Comm base, whole[SIDES];
static int neighbors[MOST_DEGREE], ones[MOST_DEGREE], zeros[MOST_DEGREE], *graph_index, *graph_edges;

typedef int constructor(const struct chapter *side, int of, MPI_Comm *made);

static int cart(const struct chapter *side, int of, MPI_Comm *made)
{
    int dims[3] = { 0, 0, 0 };
    (void)of;
    if (degree == 0) {
        MPI_Dims_create(bench_size, 3, dims);
        return side->cart_create(base, 3, dims, ones, reorder, made);
    }
    return side->cart_create(base, degree / 2, ones, zeros, reorder, made);
}

static int cart_sub(const struct chapter *side, int of, MPI_Comm *made)
{
    return side->cart_sub(whole[of], ones, made);
}

static int graph(const struct chapter *side, int of, MPI_Comm *made)
{
    (void)of;
    return side->graph_create(base, bench_size, graph_index, graph_edges, reorder, made);
}

static int adjacent(const struct chapter *side, int of, MPI_Comm *made)
{
    (void)of;
    return side->adjacent(base, degree ? degree : 2, neighbors, MPI_UNWEIGHTED, degree ? degree : 2,
                          neighbors, MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, made);
}

static int dist_graph(const struct chapter *side, int of, MPI_Comm *made)
{
    int degrees[1] = { degree ? degree : 2 };
    (void)of;
    return side->dist_graph_create(base, 1, &bench_rank, degrees, neighbors, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, reorder, made);
}

static int dup(const struct chapter *side, int of, MPI_Comm *made)
{
    (void)side;
    return MPI_Comm_dup(whole[of], made);
}

/* ---- The parts ---- */

static int by_split(const struct chapter *side, int of, MPI_Comm *made)
{
    (void)side, (void)of;
    return PMPI_Comm_split(base, 0, bench_rank, made);
}

static int by_group(const struct chapter *side, int of, MPI_Comm *made)
{
    MPI_Group group;
    (void)side, (void)of;
    PMPI_Comm_group(base, &group);
    PMPI_Comm_create(base, group, made);
    return PMPI_Group_free(&group);
}

static int reduction(const struct chapter *side, int of, MPI_Comm *made)
{
    long long mine = 1, sum;
    (void)side, (void)of;
    *made = MPI_COMM_NULL;
    return PMPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG_INT, MPI_SUM, base);
}

static int keyval;

static int attribute(const struct chapter *side, int of, MPI_Comm *made)
{
    (void)side, (void)of;
    *made = MPI_COMM_NULL;
    PMPI_Comm_set_attr(base, keyval, &keyval);
    return PMPI_Comm_delete_attr(base, keyval);
}

/* Seconds per communicator in a batch, on the slowest rank. */
static double batch(constructor *make, int of, int calls)
{
    double seconds, slowest;
    PMPI_Barrier(base);
    seconds = bench_now();
    for (int i = 0; i < calls; i++) {
        MPI_Comm made;
        make(&sides[of], of, &made);
        if (made != MPI_COMM_NULL)
            MPI_Comm_free(&made);
    }
    seconds = (bench_now() - seconds) / calls;
    PMPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, base);
    return slowest;
}

static void time_one(const char *part, const char *name, constructor *make, int both)
{
    double seconds[SIDES][BATCHES], once = batch(make, OURS, 3);
    /* About 5 milliseconds per batch; all ranks use the same number. */
    int calls = once > 2.5e-3 ? 2 : 5e-3 / once;
    if (calls > 2000)
        calls = 2000;
    for (int b = -2; b < BATCHES; b++)
        for (int of = both ? HOST : OURS; of < SIDES; of++) {
            double took = batch(make, of, calls);
            if (b >= 0)
                seconds[of][b] = took;
        }
    const double ours = bench_median(seconds[OURS], BATCHES);
    bench_line(part, name, 0, "us", 1e6 * (both ? bench_median(seconds[HOST], BATCHES) : ours), 1e6 * ours);
}

static void make_whole(int of)
{
    int dims[2] = { 0, 0 };
    MPI_Dims_create(bench_size, 2, dims);
    sides[of].cart_create(base, 2, dims, ones, 0, &whole[of]);
}

static void time_all(void)
{
    static const struct {
        const char *name;
        constructor *make;
    } kinds[] = {
        { "Cart_create", cart },
        { "Graph_create", graph },
        { "Dist_graph_create_adjacent", adjacent },
        { "Dist_graph_create", dist_graph },
    };
    char name[64];
    for (int k = 0; k < 4; k++)
        for (reorder = 0; reorder < 2; reorder++) {
            snprintf(name, sizeof name, "%s, reorder %d", kinds[k].name, reorder);
            time_one("create", name, kinds[k].make, 1);
        }
    time_one("create", "Cart_sub", cart_sub, 1);
    time_one("create", "Comm_dup of a grid", dup, 1);
    time_one("part", "Comm_split of all", by_split, 0);
    time_one("part", "Comm_create of all", by_group, 0);
    time_one("part", "Allreduce of 8 bytes", reduction, 0);
    time_one("part", "setting and deleting an attribute", attribute, 0);
}

/* ---- Memory ---- */

static double in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

/* Bytes per communicator, after hosts have filled the pools that they keep when communicators are freed. */
static double bytes(constructor *make, int of)
{
    static MPI_Comm made[KEPT];
    double before = 0, after = 0;
    for (int round = 0; round < 2; round++) {
        before = in_use();
        for (int i = 0; i < KEPT; i++)
            make(&sides[of], of, &made[i]);
        after = in_use();
        for (int i = 0; i < KEPT; i++)
            MPI_Comm_free(&made[i]);
    }
    return (after - before) / KEPT;
}

static void weigh_all(void)
{
    static const int degrees[] = { 6, 26, 1000 };
    /* A communicator without a topology, for comparison. */
    double plain = bytes(by_split, HOST);
    bench_line("memory", "Comm_split", 0, "bytes", plain, plain);
    for (int d = 0; d < 3; d++) {
        degree = degrees[d];
        graph_index[0] = degree;
        bench_line("memory", "Cart_create", degree, "bytes", bytes(cart, HOST), bytes(cart, OURS));
        bench_line("memory", "Graph_create", degree, "bytes", bytes(graph, HOST), bytes(graph, OURS));
        bench_line("memory", "Dist_graph_create_adjacent", degree, "bytes", bytes(adjacent, HOST),
                   bytes(adjacent, OURS));
        bench_line("memory", "Dist_graph_create", degree, "bytes", bytes(dist_graph, HOST),
                   bytes(dist_graph, OURS));
    }
}

int main(int argc, char **argv)
{
    bench_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    for (int i = 0; i < MOST_DEGREE; i++)
        ones[i] = 1;
    if (argc > 1 && !strcmp(argv[1], "memory")) {
        graph_index = calloc(1, sizeof *graph_index);
        graph_edges = calloc(MOST_DEGREE, sizeof *graph_edges);
        weigh_all();
    } else {
        /* A ring with edges in both directions. */
        graph_index = calloc(bench_size, sizeof *graph_index);
        graph_edges = calloc(2 * bench_size, sizeof *graph_edges);
        for (int i = 0; i < bench_size; i++) {
            graph_index[i] = 2 * i + 2;
            graph_edges[2 * i] = (i + bench_size - 1) % bench_size;
            graph_edges[2 * i + 1] = (i + 1) % bench_size;
        }
        memcpy(neighbors, graph_edges + 2 * bench_rank, 2 * sizeof(int));
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
        make_whole(HOST);
        make_whole(OURS);
        time_all();
        MPI_Comm_free(&whole[HOST]);
        MPI_Comm_free(&whole[OURS]);
        PMPI_Comm_free_keyval(&keyval);
    }
    MPI_Comm_free(&base);
    free(graph_index);
    free(graph_edges);
    MPI_Finalize();
    return 0;
}
