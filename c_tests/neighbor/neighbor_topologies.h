/* The origin of each block by the definitions of MPI 4.1, 8.6, from the arguments that the test passed to the
 * constructors. */
#ifndef CARTOGRAPH_NEIGHBOR_TOPOLOGIES_H
#define CARTOGRAPH_NEIGHBOR_TOPOLOGIES_H

#include "neighbor_calls.h"

/* The expected blocks of a process. A sender of -1 is beyond an end: the block is not touched. */
struct oracle {
    int rank, sends, receives;
    int sender[MAX_DEGREE], sender_block[MAX_DEGREE];
};

/* On a grid: block 2d comes from the process one step back in dimension d, which sends it as its block 2d+1; and
 * vice versa. */
static inline void grid_oracle(MPI_Comm comm, int ndims, const int *dims, const int *periods,
                               struct oracle *oracle)
{
    int coords[8], rest;
    MPI_Comm_rank(comm, &oracle->rank);
    rest = oracle->rank;
    for (int d = ndims - 1; d >= 0; d--)
        coords[d] = rest % dims[d], rest /= dims[d];
    oracle->sends = oracle->receives = 2 * ndims;
    for (int block = 0; block < 2 * ndims; block++) {
        int dimension = block / 2, sender = 0;
        int there = coords[dimension] + (block % 2 ? 1 : -1);
        int beyond = there < 0 || there >= dims[dimension];
        if (periods[dimension])
            there = (there + dims[dimension]) % dims[dimension], beyond = 0;
        for (int d = 0; d < ndims; d++)
            sender = sender * dims[d] + (d == dimension ? there : coords[d]);
        oracle->sender[block] = beyond ? -1 : sender;
        oracle->sender_block[block] = block % 2 ? block - 1 : block + 1;
    }
}

/* In graphs: the k-th edge from one process to another is the k-th at both ends. Collective. */
static inline void graph_oracle(MPI_Comm comm, int indegree, const int *sources, int outdegree,
                                const int *destinations, struct oracle *oracle)
{
    int mine[MAX_DEGREE + 1] = { outdegree }, size;
    MPI_Comm_rank(comm, &oracle->rank);
    MPI_Comm_size(comm, &size);
    int *all = malloc(size * sizeof mine);
    memcpy(mine + 1, destinations, outdegree * sizeof *mine);
    MPI_Allgather(mine, MAX_DEGREE + 1, MPI_INT, all, MAX_DEGREE + 1, MPI_INT, comm);
    oracle->sends = outdegree, oracle->receives = indegree;
    for (int block = 0; block < indegree; block++) {
        const int *theirs = all + sources[block] * (MAX_DEGREE + 1);
        int earlier = 0, found = -1;
        for (int i = 0; i < block; i++)
            earlier += sources[i] == sources[block];
        for (int i = 0; i < theirs[0] && found < 0; i++)
            if (theirs[i + 1] == oracle->rank && earlier-- == 0)
                found = i;
        CHECK(found >= 0);
        oracle->sender[block] = sources[block];
        oracle->sender_block[block] = found;
    }
    free(all);
}

/* The edges of a graph for tests, with multi-edges and self-loops. */
struct edges {
    int count, from[64], to[64];
};

enum shape { DOUBLED_RING, SELF_LOOPS, ISOLATED, MIXED, SHAPES };

static inline void edge(struct edges *edges, int from, int to)
{
    edges->from[edges->count] = from, edges->to[edges->count++] = to;
}

static inline void make_edges(enum shape shape, int size, struct edges *edges)
{
    edges->count = 0;
    for (int r = 0; r < size; r++)
        switch (shape) {
        case DOUBLED_RING:
            edge(edges, r, (r + 1) % size), edge(edges, r, (r + size - 1) % size);
            edge(edges, r, (r + 1) % size);
            break;
        case SELF_LOOPS:
            edge(edges, r, r), edge(edges, (r + 1) % size, r), edge(edges, r, r);
            edge(edges, r, r);
            break;
        case ISOLATED:
            /* Only the first two processes have edges; the second, if any, only receives. */
            if (r == 0)
                for (int i = 0; i < 3; i++)
                    edge(edges, 0, size > 1);
            break;
        default:
            for (int i = 0; i < 1 + r % 3; i++)
                edge(edges, r, (r * r + 2 * i) % size), edge(edges, r, (r + i / 2) % size);
        }
}

/* The neighbors of this rank in one direction, in the order of the list or in reverse order. */
static inline int ends(const struct edges *edges, int of, int rank, int backwards, int *others)
{
    int count = 0;
    for (int i = 0; i < edges->count; i++) {
        int e = backwards ? edges->count - 1 - i : i;
        const int *own = of ? edges->to : edges->from, *other = of ? edges->from : edges->to;
        if (own[e] == rank)
            others[count++] = other[e];
    }
    return count;
}

static inline MPI_Comm adjacent_graph(MPI_Comm base, enum shape shape, struct oracle *oracle)
{
    int rank, size, sources[MAX_DEGREE], destinations[MAX_DEGREE];
    struct edges edges;
    MPI_Comm graph;
    MPI_Comm_rank(base, &rank), MPI_Comm_size(base, &size);
    make_edges(shape, size, &edges);
    /* Each end has its own order. */
    int indegree = ends(&edges, 1, rank, rank % 2, sources);
    int outdegree = ends(&edges, 0, rank, rank % 3 == 1, destinations);
    CHECK(MPI_Dist_graph_create_adjacent(base, indegree, sources, MPI_UNWEIGHTED, outdegree,
                                         destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                         &graph) == MPI_SUCCESS);
    graph_oracle(graph, indegree, sources, outdegree, destinations, oracle);
    return graph;
}

/* Any process passes any edge, so the library chooses the order of neighbors: it is queried, and only the set of
 * neighbors is checked. */
static inline MPI_Comm distributed_graph(MPI_Comm base, enum shape shape, struct oracle *oracle)
{
    int rank, size, weighted, count = 0, from[64], to[64], one[64], wrong = 0;
    int sources[MAX_DEGREE], destinations[MAX_DEGREE], expected[MAX_DEGREE], in, out;
    struct edges edges;
    MPI_Comm graph;
    MPI_Comm_rank(base, &rank), MPI_Comm_size(base, &size);
    make_edges(shape, size, &edges);
    for (int e = 0; e < edges.count; e++)
        if (e * 7 / 3 % size == rank)
            from[count] = edges.from[e], to[count] = edges.to[e], one[count++] = 1;
    CHECK(MPI_Dist_graph_create(base, count, from, one, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                &graph) == MPI_SUCCESS);
    CHECK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted) == MPI_SUCCESS);
    if (!CHECK(in == ends(&edges, 1, rank, 0, expected)))
        MPI_Abort(MPI_COMM_WORLD, 1);
    CHECK(MPI_Dist_graph_neighbors(graph, in, sources, MPI_UNWEIGHTED, out, destinations,
                                   MPI_UNWEIGHTED) == MPI_SUCCESS);
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < in; i++)
            wrong += (sources[i] == r) - (expected[i] == r);
        CHECK(wrong == 0);
    }
    CHECK(out == ends(&edges, 0, rank, 0, expected));
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < out; i++)
            wrong += (destinations[i] == r) - (expected[i] == r);
        CHECK(wrong == 0);
    }
    graph_oracle(graph, in, sources, out, destinations, oracle);
    return graph;
}

/* A symmetric graph of `nodes` processes: edges of the shape in both directions; MPI_COMM_NULL on other processes. */
static inline MPI_Comm symmetric_graph(MPI_Comm base, enum shape shape, int nodes,
                                       struct oracle *oracle)
{
    int index[16], targets[256], count = 0;
    struct edges edges;
    MPI_Comm graph;
    make_edges(shape, nodes, &edges);
    for (int r = 0; r < nodes; r++) {
        for (int e = 0; e < edges.count; e++) {
            if (edges.from[e] == r)
                targets[count++] = edges.to[e];
            if (edges.to[e] == r && edges.from[e] != r)
                targets[count++] = edges.from[e];
        }
        index[r] = count;
    }
    CHECK(MPI_Graph_create(base, nodes, index, targets, 0, &graph) == MPI_SUCCESS);
    if (graph != MPI_COMM_NULL) {
        int rank;
        MPI_Comm_rank(graph, &rank);
        int first = rank ? index[rank - 1] : 0, degree = index[rank] - first;
        graph_oracle(graph, degree, targets + first, degree, targets + first, oracle);
    }
    return graph;
}

#endif
