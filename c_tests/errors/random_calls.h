/* Random calls of the constructors: the arguments of each rank, drawn by all ranks from one seed, and the expected
 * result. */
#ifndef CARTOGRAPH_RANDOM_CALLS_H
#define CARTOGRAPH_RANDOM_CALLS_H

#include "../check.h"

enum { RANKS = 32, EDGES = 4 * RANKS, NDIMS = 4 };
enum kind { CART, GRAPH, SUB, BY_EDGES, ADJACENT, KINDS };
/* How a rank passes weights; null pointers only if it has no edges. */
enum weighting { UNWEIGHTED, WEIGHTED, NULL_OR_UNWEIGHTED };

/* Edges of a list: one end or both, and weights. */
struct list {
    int count, from[EDGES], to[EDGES], weights[EDGES];
};

/* The arguments of one rank to one constructor. */
struct call {
    enum kind kind;
    int reorder;
    int is_null; /* a null pointer that is an error */
    int ndims, dims[NDIMS], periods[NDIMS];
    int nnodes, index[RANKS + 1], edges[EDGES];
    int remain[2];
    enum weighting weighting;
    struct list given; /* MPI_Dist_graph_create */
    struct list into, away; /* MPI_Dist_graph_create_adjacent */
};

static struct call calls[RANKS]; /* of all ranks */
static unsigned long long state;

static int below(int limit)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)limit);
}

static void add(struct list *list, int from, int to, int weight)
{
    list->from[list->count] = from;
    list->to[list->count] = to;
    list->weights[list->count++] = weight;
}

/* A call that is valid if all ranks make it; edges of distributed graphs are drawn later. */
static struct call draw_call(enum kind kind)
{
    struct call call = { .kind = kind };
    int left = world_size;
    call.reorder = below(2);
    call.weighting = below(3);
    call.ndims = below(NDIMS);
    for (int i = 0; i < call.ndims; i++) {
        call.dims[i] = 1 + below(left);
        left /= call.dims[i];
        call.periods[i] = below(2);
    }
    call.nnodes = below(world_size + 1);
    for (int node = 0, edges = 0; node < call.nnodes; node++) {
        for (int i = below(4); i > 0; i--)
            call.edges[edges++] = below(call.nnodes);
        call.index[node] = edges;
    }
    call.remain[0] = below(2);
    call.remain[1] = below(2);
    return call;
}

/* Distributes the edges of a random graph to the ranks that pass them. */
static void deal_edges(void)
{
    for (int i = below(3 * world_size); i > 0; i--) {
        int from = below(world_size), to = below(world_size), weight = below(3);
        add(&calls[below(world_size)].given, from, to, weight);
        add(&calls[from].away, from, to, weight);
        add(&calls[to].into, from, to, weight);
    }
}

/* Changes the arguments of a rank; the result is wrong or only different. */
static void change(struct call *call)
{
    int *const wrong[] = { &call->dims[0], &call->index[0], &call->edges[0], &call->given.to[0],
                           &call->given.weights[0], &call->into.from[0], &call->away.to[0],
                           &call->away.weights[0] };
    struct call other;
    switch (below(8)) {
    case 0: /* another function */
        other = draw_call(below(KINDS));
        other.given = call->given, other.into = call->into, other.away = call->away;
        *call = other;
        break;
    case 1: /* another topology */
        other = draw_call(call->kind);
        other.given = call->given, other.into = call->into, other.away = call->away;
        other.reorder = call->reorder, other.weighting = call->weighting;
        *call = other;
        break;
    case 2:
        call->periods[0] = !call->periods[0];
        call->edges[0] = call->nnodes ? (call->edges[0] + 1) % call->nnodes : 0;
        call->remain[0] = !call->remain[0];
        break;
    case 3:
        call->reorder = !call->reorder;
        break;
    case 4:
        call->weighting = (call->weighting + 1) % 3;
        break;
    case 5:
        call->is_null = 1;
        break;
    case 6:
        for (int i = 0; i < 8; i++)
            *wrong[i] = below(2) ? -1 : world_size + 1;
        break;
    default: /* an edge that the other end does not have */
        if (call->away.count)
            call->away.count--;
        else
            add(&call->away, (int)(call - calls), below(world_size), 1);
    }
}

/* The calls of all ranks in a round. */
static void draw_calls(void)
{
    struct call call = draw_call(below(KINDS));
    for (int rank = 0; rank < world_size; rank++)
        calls[rank] = call;
    deal_edges();
    /* Half of the rounds are valid. */
    for (int i = below(2) ? 1 + below(2) : 0; i > 0; i--)
        change(&calls[below(world_size)]);
    if (below(8) == 0) {
        unsigned long long before = state;
        for (int rank = 0; rank < world_size; rank++) {
            state = before; /* the same on all */
            change(&calls[rank]);
        }
    }
}

static int outside(int value, int limit)
{
    return value < 0 || value >= limit;
}

/* The kind of weights; another function judges null pointers. */
static int chosen(const struct call *call)
{
    int edges = call->kind == BY_EDGES ? call->given.count : call->into.count + call->away.count;
    if (call->weighting == NULL_OR_UNWEIGHTED)
        return edges ? UNWEIGHTED : NULL_OR_UNWEIGHTED;
    return call->weighting;
}

static int is_bad_list(const struct list *list, int weighted)
{
    for (int i = 0; i < list->count; i++)
        if (outside(list->from[i], world_size) || outside(list->to[i], world_size)
            || (weighted && list->weights[i] < 0))
            return 1;
    return 0;
}

/* Returns whether the arguments of a rank are wrong by themselves. */
static int is_wrong(const struct call *call)
{
    long long cells = 1;
    int before = 0, weighted = call->weighting == WEIGHTED;
    if (call->is_null)
        return 1;
    switch (call->kind) {
    case CART:
        for (int i = 0; i < call->ndims; i++) {
            if (call->dims[i] < 1)
                return 1;
            cells *= call->dims[i];
        }
        return cells > world_size;
    case GRAPH:
        for (int i = 0; i < call->nnodes; before = call->index[i++])
            if (call->index[i] < before)
                return 1;
        for (int i = 0; i < before; i++)
            if (outside(call->edges[i], call->nnodes))
                return 1;
        return 0;
    case SUB:
        return 0;
    case BY_EDGES:
        return is_bad_list(&call->given, weighted);
    default:
        return is_bad_list(&call->into, weighted) || is_bad_list(&call->away, weighted);
    }
}

static int edges_of(const struct call *call)
{
    return call->nnodes ? call->index[call->nnodes - 1] : 0;
}

/* Returns whether two ranks differ in arguments that must be equal on all ranks. */
static int differ(const struct call *a, const struct call *b)
{
    if (a->kind != b->kind)
        return 1;
    switch (a->kind) {
    case CART:
        return a->ndims != b->ndims || a->reorder != b->reorder
            || memcmp(a->dims, b->dims, a->ndims * sizeof(int));
    case GRAPH:
        return a->nnodes != b->nnodes || a->reorder != b->reorder;
    case SUB:
        return memcmp(a->remain, b->remain, sizeof a->remain) != 0;
    case BY_EDGES:
        return a->reorder != b->reorder;
    default:
        return 0;
    }
}

/* Returns whether they differ in arguments that hosts allow to differ. */
static int differ_a_little(const struct call *a, const struct call *b)
{
    switch (a->kind) {
    case CART:
        return memcmp(a->periods, b->periods, a->ndims * sizeof(int)) != 0;
    case GRAPH:
        return memcmp(a->index, b->index, a->nnodes * sizeof(int))
            || memcmp(a->edges, b->edges, edges_of(a) * sizeof(int));
    case ADJACENT:
        return a->reorder != b->reorder;
    default:
        return 0;
    }
}

/* Counts an edge in a list, with a weight unless it is -1. */
static int times(const struct list *list, int from, int to, int weight)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->from[i] == from && list->to[i] == to
            && (weight < 0 || list->weights[i] == weight);
    return count;
}

/* Returns whether both ends of each edge pass it. */
static int edges_match(void)
{
    for (int from = 0; from < world_size; from++)
        for (int to = 0; to < world_size; to++) {
            const struct list *away = &calls[from].away, *into = &calls[to].into;
            int weighted_from = chosen(&calls[from]) == WEIGHTED;
            int weighted_to = chosen(&calls[to]) == WEIGHTED;
            if (times(away, from, to, -1) != times(into, from, to, -1))
                return 0;
            for (int weight = 0; weight < 3; weight++)
                if (weighted_from && weighted_to
                    && times(away, from, to, weight) != times(into, from, to, weight))
                    return 0;
        }
    return 1;
}

/* Returns whether the calls of all ranks succeed, with all checks or with none. */
static int succeeds(int checked)
{
    int ways[3] = { 0 }, differing = 0;
    for (int rank = 0; rank < world_size; rank++)
        if (is_wrong(&calls[rank]) || differ(&calls[0], &calls[rank]))
            return 0;
    for (int rank = 0; rank < world_size; rank++) {
        ways[chosen(&calls[rank])] = 1;
        differing |= differ_a_little(&calls[0], &calls[rank]);
    }
    if (checked && differing)
        return 0;
    if (calls[0].kind == BY_EDGES || (checked && calls[0].kind == ADJACENT))
        if (ways[UNWEIGHTED] && ways[WEIGHTED])
            return 0;
    return !checked || calls[0].kind != ADJACENT || edges_match();
}

/* Returns whether the edges of a rank have weights. */
static int is_weighted(int rank)
{
    int ways[3] = { 0 };
    for (int other = 0; other < world_size; other++)
        ways[chosen(&calls[other])] = 1;
    if (chosen(&calls[rank]) != NULL_OR_UNWEIGHTED)
        return chosen(&calls[rank]) == WEIGHTED;
    return ways[WEIGHTED] || !ways[UNWEIGHTED];
}

#endif
