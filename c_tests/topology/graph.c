/* Graphs that each process passes as a whole: creation, queries, duplicates. Each rank prints the results, and
 * compares them with the arguments. */
#include "differential.h"

enum { RING, STAR, COMPLETE, MULTIPLE, NO_EDGES, LAST_ONLY, HALF, SHAPES };

struct graph {
    int nnodes, *index, *edges;
};

/* The shapes, for as many nodes as there are processes (HALF: half as many). */
static struct graph draw(int shape)
{
    struct graph graph = { shape == HALF ? (world_size + 1) / 2 : world_size, NULL, NULL };
    int n = graph.nnodes, count = 0;
    graph.index = malloc(n * sizeof(int));
    graph.edges = malloc((n * (n + 4) + 1) * sizeof(int));
    for (int node = 0; node < n; node++) {
        int *edges = graph.edges;
        switch (shape) {
        case RING:
        case HALF:
            edges[count++] = (node + n - 1) % n;
            edges[count++] = (node + 1) % n;
            break;
        case STAR:
            for (int other = 1; node == 0 && other < n; other++)
                edges[count++] = other;
            if (node > 0)
                edges[count++] = 0;
            break;
        case COMPLETE: /* With loops. */
            for (int other = 0; other < n; other++)
                edges[count++] = other;
            break;
        case MULTIPLE: /* Not symmetric; neighbors are in no order. */
            edges[count++] = (node + 1) % n;
            if (node % 2)
                edges[count++] = node;
            edges[count++] = (node + 3) % n;
            edges[count++] = (node + 1) % n;
            break;
        case LAST_ONLY:
            for (int other = n - 1; node == n - 1 && other >= 0; other--)
                edges[count++] = other;
            break;
        }
        graph.index[node] = count;
    }
    return graph;
}

static void drop(struct graph *graph)
{
    free(graph->index);
    free(graph->edges);
}

static int first(const struct graph *graph, int node)
{
    return node ? graph->index[node - 1] : 0;
}

static int nedges(const struct graph *graph)
{
    return first(graph, graph->nnodes);
}

/* The first `count` entries of `got` are those of `expected`, and the others are untouched. */
static int filled(const int *got, const int *expected, int count, int room)
{
    for (int i = 0; i < room; i++)
        if (got[i] != (i < count ? expected[i] : UNTOUCHED))
            return 0;
    return 1;
}

static void fill(int *array, int count)
{
    for (int i = 0; i < count; i++)
        array[i] = UNTOUCHED;
}

static void check_graph(MPI_Comm comm, const struct graph *graph)
{
    int counts[2], count = nedges(graph), index[graph->nnodes + 1], edges[count + 1], size;
    fill(index, graph->nnodes + 1);
    fill(edges, count + 1);
    CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS && size == graph->nnodes);
    CHECK(kind_of(comm) == MPI_GRAPH);
    CHECK(MPI_Graphdims_get(comm, &counts[0], &counts[1]) == MPI_SUCCESS);
    CHECK(counts[0] == graph->nnodes && counts[1] == count);
    CHECK(MPI_Graph_get(comm, graph->nnodes, count, index, edges) == MPI_SUCCESS);
    CHECK(filled(index, graph->index, graph->nnodes, graph->nnodes + 1));
    CHECK(filled(edges, graph->edges, count, count + 1));
    for (int r = 0; r < graph->nnodes; r++) {
        int degree = UNTOUCHED, expected = graph->index[r] - first(graph, r);
        int neighbors[expected + 1];
        fill(neighbors, expected + 1);
        CHECK(MPI_Graph_neighbors_count(comm, r, &degree) == MPI_SUCCESS && degree == expected);
        CHECK(MPI_Graph_neighbors(comm, r, degree, neighbors) == MPI_SUCCESS);
        CHECK(filled(neighbors, graph->edges + first(graph, r), expected, expected + 1));
    }
}

static void whole(const struct graph *graph, int shape)
{
    int rank, newrank = UNTOUCHED;
    char name[NAME_LENGTH];
    MPI_Comm comm;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, graph->nnodes, graph->index, graph->edges, 0, &comm)
          == MPI_SUCCESS);
    CHECK(ranks_may_move() || (comm == MPI_COMM_NULL) == (world_rank >= graph->nnodes));
    if (comm != MPI_COMM_NULL) {
        CHECK(MPI_Comm_rank(comm, &rank) == MPI_SUCCESS);
        CHECK(ranks_may_move() || rank == world_rank);
        check_graph(comm, graph);
        snprintf(name, sizeof name, "graph %d", shape);
        say_graph(name, comm);
        MPI_Comm_free(&comm);
        CHECK(comm == MPI_COMM_NULL);
    }

    CHECK(MPI_Graph_create(MPI_COMM_WORLD, graph->nnodes, graph->index, graph->edges, 1, &comm)
          == MPI_SUCCESS);
    check_permutation(comm, graph->nnodes);
    CHECK(MPI_Graph_map(MPI_COMM_WORLD, graph->nnodes, graph->index, graph->edges, &newrank)
          == MPI_SUCCESS);
    if (comm == MPI_COMM_NULL) {
        say_ints("map outside", &newrank, 1);
        CHECK_OURS(newrank == MPI_UNDEFINED);
        return;
    }
    CHECK(MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == newrank);
    check_graph(comm, graph);
    MPI_Comm_free(&comm);
}

/* Without nodes no process gets a communicator. */
static void nothing(void)
{
    int unused[1] = { UNTOUCHED };
    for (int reorder = 0; reorder < 2; reorder++) {
        MPI_Comm comm = MPI_COMM_WORLD;
        CHECK(MPI_Graph_create(MPI_COMM_WORLD, 0, unused, unused, reorder, &comm) == MPI_SUCCESS);
        CHECK(comm == MPI_COMM_NULL);
    }
    CHECK(unused[0] == UNTOUCHED);
}

/* Short arrays get the first entries. */
static void short_outputs(void)
{
    struct graph graph = draw(MULTIPLE);
    int count = nedges(&graph), start = first(&graph, world_size - 1);
    int neighbors_of_last = count - start;
    MPI_Comm comm;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, world_size, graph.index, graph.edges, 0, &comm)
          == MPI_SUCCESS);
    for (int less = -1; less <= 2; less++) {
        int index[world_size + 1], edges[count + 1], neighbors[neighbors_of_last + 1], code;
        int maxindex = world_size - less > 0 ? world_size - less : 0, maxedges = count - less;
        int maxneighbors = neighbors_of_last - less;
        fill(index, world_size + 1);
        fill(edges, count + 1);
        fill(neighbors, neighbors_of_last + 1);
        code = MPI_Graph_get(comm, maxindex, count, index, edges);
        told(code, index, world_size + 1, "get with maxindex %d less", less);
        CHECK_OURS(code == MPI_SUCCESS && filled(edges, graph.edges, count, count + 1));
        CHECK_OURS(filled(index, graph.index, less > 0 ? maxindex : world_size, world_size + 1));
        fill(edges, count + 1);
        code = MPI_Graph_get(comm, world_size, maxedges, index, edges);
        told(code, edges, count + 1, "get with maxedges %d less", less);
        CHECK_OURS(code == MPI_SUCCESS && filled(index, graph.index, world_size, world_size + 1));
        CHECK_OURS(filled(edges, graph.edges, less > 0 ? maxedges : count, count + 1));
        code = MPI_Graph_neighbors(comm, world_size - 1, maxneighbors, neighbors);
        told(code, neighbors, neighbors_of_last + 1, "neighbors with maxneighbors %d less", less);
        CHECK_OURS(code == MPI_SUCCESS);
        CHECK_OURS(filled(neighbors, graph.edges + start,
                            less > 0 ? maxneighbors : neighbors_of_last, neighbors_of_last + 1));
    }
    MPI_Comm_free(&comm);
    drop(&graph);
}

int main(int argc, char **argv)
{
    struct parent parent;
    struct graph graph;
    MPI_Comm comm;
    begin_ours(&argc, &argv);
    for (int shape = 0; shape < SHAPES; shape++) {
        graph = draw(shape);
        whole(&graph, shape);
        drop(&graph);
    }
    nothing();
    short_outputs();

    graph = draw(MULTIPLE);
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, world_size, graph.index, graph.edges, 0, &comm)
          == MPI_SUCCESS);
    say_duplicates("offspring", comm, 0);
    check_not_carried(comm);
    MPI_Comm_free(&comm);

    parent = parent_begin();
    CHECK(MPI_Graph_create(parent.comm, world_size, graph.index, graph.edges, 0, &comm)
          == MPI_SUCCESS);
    parent_end("graph", &parent, &comm);
    drop(&graph);
    return finish();
}
