/* Random topologies that each process computes from a shared seed, without communication: the neighbors of all
 * processes, and the block that each receives from each (MPI 4.1, 8.6). */
#ifndef CARTOGRAPH_NEIGHBOR_RANDOM_H
#define CARTOGRAPH_NEIGHBOR_RANDOM_H

#include "neighbor_calls.h"

enum { MOST_PROCESSES = 64, MOST_EDGES = MOST_PROCESSES * MAX_DEGREE };

/* Random numbers (splitmix64), equal on all ranks with the same start. */
struct dice {
    unsigned long long state;
};

static inline unsigned long long roll(struct dice *dice)
{
    unsigned long long z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline int below(struct dice *dice, int end)
{
    return (int)(roll(dice) % (unsigned)end);
}

/* Dice from a seed and a purpose. */
static inline struct dice dice_of(struct dice seed, int what, int whose, int which)
{
    const int parts[3] = { what, whose, which };
    for (int i = 0; i < 3; i++)
        seed.state = roll(&seed) ^ (unsigned)parts[i];
    return seed;
}

static inline void shuffle(struct dice *dice, int *list, int length)
{
    for (int i = length; i > 1; i--) {
        int j = below(dice, i), kept = list[i - 1];
        list[i - 1] = list[j], list[j] = kept;
    }
}

enum kind { CART, GRAPH, ADJACENT, DIST_GRAPH, KINDS };
static const char *const kind_names[] = { "grid", "graph", "adjacent graph", "distributed graph" };

/* The neighbors of a process in order; on a grid, -1 beyond an end. */
struct lists {
    int in, out, from[MAX_DEGREE], to[MAX_DEGREE];
};

struct topology {
    enum kind kind;
    int nodes;
    struct lists of[MOST_PROCESSES];
};

/* The sender's block that a process receives as its own `block`. */
static inline int sender_block(const struct topology *topology, int receiver, int block)
{
    const struct lists *mine = &topology->of[receiver];
    if (topology->kind == CART)
        return block ^ 1;
    /* The k-th edge from one process to another is the k-th at both ends. */
    const struct lists *theirs = &topology->of[mine->from[block]];
    int earlier = 0, found = -1;
    for (int i = 0; i < block; i++)
        earlier += mine->from[i] == mine->from[block];
    for (int i = 0; i < theirs->out && found < 0; i++)
        if (theirs->to[i] == receiver && earlier-- == 0)
            found = i;
    return found;
}

/* Random edges within the room of each end: some processes have none, some edges are repeated, some are loops. */
static inline int random_edges(struct dice *dice, int size, int both_ways, int (*edges)[2])
{
    int wanted = below(dice, 5 * size + 1), count = 0, alone = below(dice, 2) ? below(dice, size) : -1;
    int in[MOST_PROCESSES] = { 0 }, out[MOST_PROCESSES] = { 0 };
    for (int i = 0; i < wanted; i++) {
        int from = below(dice, size), to = below(dice, 6) ? below(dice, size) : from;
        if (count > 0 && below(dice, 4) == 0)
            from = edges[count - 1][0], to = edges[count - 1][1];
        if (from == alone || to == alone || out[from] == MAX_DEGREE || in[to] == MAX_DEGREE)
            continue;
        if (both_ways && from != to) {
            if (in[from] == MAX_DEGREE || out[to] == MAX_DEGREE)
                continue;
            out[to]++, in[from]++;
        }
        out[from]++, in[to]++;
        edges[count][0] = from, edges[count++][1] = to;
    }
    return count;
}

static inline void add_edge(struct topology *topology, int from, int to)
{
    struct lists *sender = &topology->of[from], *receiver = &topology->of[to];
    sender->to[sender->out++] = to;
    receiver->from[receiver->in++] = from;
}

static inline MPI_Comm random_cart(struct dice *dice, MPI_Comm base, int size, struct topology *topology)
{
    int ndims = 1 + below(dice, 3), dims[3] = { 0 }, periods[3], coords[3];
    MPI_Comm comm;
    topology->nodes = 1;
    for (int d = 0; d < ndims; d++) {
        dims[d] = 1 + below(dice, d == ndims - 1 ? size / topology->nodes : 3);
        if (topology->nodes * dims[d] > size)
            dims[d] = 1;
        topology->nodes *= dims[d], periods[d] = below(dice, 2);
    }
    for (int r = 0; r < topology->nodes; r++) {
        struct lists *lists = &topology->of[r];
        for (int d = ndims - 1, rest = r; d >= 0; rest /= dims[d--])
            coords[d] = rest % dims[d];
        lists->in = lists->out = 2 * ndims;
        for (int block = 0; block < 2 * ndims; block++) {
            int there = coords[block / 2] + (block % 2 ? 1 : -1), rank = 0;
            for (int d = 0; d < ndims; d++)
                rank = rank * dims[d] + (d == block / 2 ? (there + dims[d]) % dims[d] : coords[d]);
            if (!periods[block / 2] && (there < 0 || there >= dims[block / 2]))
                rank = -1;
            lists->from[block] = lists->to[block] = rank;
        }
    }
    CHECK(MPI_Cart_create(base, ndims, dims, periods, below(dice, 2), &comm) == MPI_SUCCESS);
    return comm;
}

static inline MPI_Comm random_graph(struct dice *dice, MPI_Comm base, int size, struct topology *topology)
{
    int edges[MOST_EDGES][2], index[MOST_PROCESSES], targets[MOST_EDGES], length = 0;
    MPI_Comm comm;
    topology->nodes = size > 1 ? size - below(dice, 2) : 1;
    int count = random_edges(dice, topology->nodes, 1, edges);
    for (int e = 0; e < count; e++) {
        add_edge(topology, edges[e][0], edges[e][1]);
        if (edges[e][0] != edges[e][1])
            add_edge(topology, edges[e][1], edges[e][0]);
    }
    for (int r = 0; r < topology->nodes; r++) {
        struct lists *lists = &topology->of[r];
        shuffle(dice, lists->to, lists->out);
        memcpy(lists->from, lists->to, sizeof lists->to);
        memcpy(targets + length, lists->to, lists->out * sizeof *targets);
        index[r] = length += lists->out;
    }
    CHECK(MPI_Graph_create(base, topology->nodes, index, targets, below(dice, 2), &comm) == MPI_SUCCESS);
    return comm;
}

static inline MPI_Comm random_adjacent(struct dice *dice, MPI_Comm base, int size, struct topology *topology)
{
    int edges[MOST_EDGES][2], in_weights[MAX_DEGREE], out_weights[MAX_DEGREE], rank;
    int weighted = below(dice, 2), count = random_edges(dice, size, 0, edges);
    MPI_Comm comm;
    MPI_Comm_rank(base, &rank);
    topology->nodes = size;
    for (int e = 0; e < count; e++)
        add_edge(topology, edges[e][0], edges[e][1]);
    /* Each end has its own order. */
    for (int r = 0; r < size; r++) {
        shuffle(dice, topology->of[r].from, topology->of[r].in);
        shuffle(dice, topology->of[r].to, topology->of[r].out);
    }
    const struct lists *mine = &topology->of[rank];
    for (int i = 0; i < MAX_DEGREE; i++)
        in_weights[i] = 1 + mine->from[i] + 2 * rank, out_weights[i] = 1 + rank + 2 * mine->to[i];
    CHECK(MPI_Dist_graph_create_adjacent(base, mine->in, mine->from, weighted ? in_weights : MPI_UNWEIGHTED,
                                         mine->out, mine->to, weighted ? out_weights : MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, below(dice, 2), &comm) == MPI_SUCCESS);
    return comm;
}

/* Any process passes any edge. Neighbors are ordered by the passing rank, then by its arguments. */
static inline MPI_Comm random_dist_graph(struct dice *dice, MPI_Comm base, int size, struct topology *topology)
{
    int edges[MOST_EDGES][2], giver[MOST_EDGES], from[MOST_EDGES], to[MOST_EDGES], one[MOST_EDGES], rank, own = 0;
    int weighted = below(dice, 2), count = random_edges(dice, size, 0, edges);
    MPI_Comm comm;
    MPI_Comm_rank(base, &rank);
    topology->nodes = size;
    for (int e = 0; e < count; e++)
        giver[e] = below(dice, size);
    for (int r = 0; r < size; r++)
        for (int e = 0; e < count; e++)
            if (giver[e] == r) {
                add_edge(topology, edges[e][0], edges[e][1]);
                if (r == rank)
                    from[own] = edges[e][0], to[own] = edges[e][1], one[own++] = 1;
            }
    CHECK(MPI_Dist_graph_create(base, own, from, one, to, weighted ? one : MPI_UNWEIGHTED, MPI_INFO_NULL,
                                below(dice, 2), &comm) == MPI_SUCCESS);
    return comm;
}

/* A random topology on a communicator; MPI_COMM_NULL if it has no place for this process. */
static inline MPI_Comm random_topology(struct dice *dice, MPI_Comm base, struct topology *topology)
{
    int size;
    MPI_Comm_size(base, &size);
    memset(topology, 0, sizeof *topology);
    topology->kind = below(dice, KINDS);
    switch (topology->kind) {
    case CART:
        return random_cart(dice, base, size, topology);
    case GRAPH:
        return random_graph(dice, base, size, topology);
    case ADJACENT:
        return random_adjacent(dice, base, size, topology);
    default:
        return random_dist_graph(dice, base, size, topology);
    }
}

#endif
