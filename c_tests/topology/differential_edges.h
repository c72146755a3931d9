/* Distributed graphs as a list of edges that each rank knows, so that it can compute the expected results. */
#ifndef CARTOGRAPH_DIFFERENTIAL_EDGES_H
#define CARTOGRAPH_DIFFERENTIAL_EDGES_H

#include "differential.h"

/* `giver` is the rank that passes the edge to MPI_Dist_graph_create. */
struct edge {
    int source, destination, weight, giver;
};

struct edges {
    int count;
    struct edge *list;
};

/* How weights are passed; the last kind passes MPI_WEIGHTS_EMPTY for no edges. */
enum weighting { UNWEIGHTED, WEIGHTED, WEIGHTED_OR_EMPTY };

static inline void add_edge(struct edges *edges, int source, int destination, int weight,
                            int giver)
{
    edges->list = realloc(edges->list, (edges->count + 1) * sizeof(struct edge));
    edges->list[edges->count++] = (struct edge){ source, destination, weight, giver };
}

static inline void drop_edges(struct edges *edges)
{
    free(edges->list);
    *edges = (struct edges){ 0, NULL };
}

/* The weights argument for `count` edges. */
static inline int *passed(enum weighting weighting, int *weights, int count)
{
    if (weighting == UNWEIGHTED)
        return MPI_UNWEIGHTED;
    return weighting == WEIGHTED_OR_EMPTY && !count ? MPI_WEIGHTS_EMPTY : weights;
}

/* Returns the edges into or out of a rank in the order of the list, and their number. */
static inline int ends_of(const struct edges *edges, int rank, int incoming, int *ends,
                          int *weights)
{
    int count = 0;
    for (int i = 0; i < edges->count; i++) {
        const struct edge *edge = &edges->list[i];
        if ((incoming ? edge->destination : edge->source) != rank)
            continue;
        ends[count] = incoming ? edge->source : edge->destination;
        weights[count++] = edge->weight;
    }
    return count;
}

/* The new communicator has the size of the old one, even if some processes have no edges. */
static inline MPI_Comm check_size(MPI_Comm made, MPI_Comm old)
{
    int size = UNTOUCHED, old_size;
    MPI_Comm_size(old, &old_size);
    CHECK(made != MPI_COMM_NULL && MPI_Comm_size(made, &size) == MPI_SUCCESS && size == old_size);
    return made;
}

static inline MPI_Comm create_adjacent(MPI_Comm comm, const struct edges *edges,
                                       enum weighting weighting, MPI_Info info, int reorder)
{
    int rank, n = edges->count + 1, into[2][n], away[2][n], degrees[2];
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_rank(comm, &rank);
    degrees[0] = ends_of(edges, rank, 1, into[0], into[1]);
    degrees[1] = ends_of(edges, rank, 0, away[0], away[1]);
    CHECK(MPI_Dist_graph_create_adjacent(comm, degrees[0], into[0],
                                         passed(weighting, into[1], degrees[0]), degrees[1],
                                         away[0], passed(weighting, away[1], degrees[1]), info,
                                         reorder, &made)
          == MPI_SUCCESS);
    return check_size(made, comm);
}

/* Consecutive edges of one source are passed as one entry of `sources`. */
static inline MPI_Comm create_by_edges(MPI_Comm comm, const struct edges *edges,
                                       enum weighting weighting, MPI_Info info, int reorder)
{
    int rank, n = 0, count = 0, room = edges->count + 1;
    int sources[room], degrees[room], destinations[room], weights[room];
    MPI_Comm made = MPI_COMM_NULL, fresh = comm;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < edges->count; i++) {
        const struct edge *edge = &edges->list[i];
        if (edge->giver != rank)
            continue;
        if (!n || sources[n - 1] != edge->source) {
            sources[n] = edge->source;
            degrees[n++] = 0;
        }
        degrees[n - 1]++;
        destinations[count] = edge->destination;
        weights[count++] = edge->weight;
    }
#if defined(OPEN_MPI)
    /* Bare Open MPI sometimes hangs here on a used communicator: its tags for edges are also tags of its
     * nonblocking collectives, which count up (its issue 13918). */
    MPI_Comm_dup(comm, &fresh);
#endif
    CHECK(MPI_Dist_graph_create(fresh, n, sources, degrees, destinations,
                                passed(weighting, weights, count), info, reorder, &made)
          == MPI_SUCCESS);
    if (fresh != comm)
        MPI_Comm_free(&fresh);
    return check_size(made, comm);
}

/* Compares one direction with the list. Without weights, the array must be untouched. */
static inline int same_edges(const struct edges *edges, int rank, int incoming, int weighted,
                             int sorted, const int *ends, const int *weights, int degree)
{
    int n = edges->count + 1, expected[2][n], pairs[2][n][2];
    if (ends_of(edges, rank, incoming, expected[0], expected[1]) != degree)
        return 0;
    for (int i = 0; i < degree; i++) {
        pairs[0][i][0] = expected[0][i], pairs[0][i][1] = weighted ? expected[1][i] : UNTOUCHED;
        pairs[1][i][0] = ends[i], pairs[1][i][1] = weights[i];
    }
    for (int i = 0; i < 2 && sorted; i++)
        qsort(pairs[i], degree, sizeof pairs[i][0], compare_edges);
    return !memcmp(pairs[0], pairs[1], degree * sizeof pairs[0][0]);
}

/* The rank must have the edges of the list, in its order unless the order is free: `sorted`. */
static inline void check_edges(MPI_Comm comm, const struct edges *edges, enum weighting weighting,
                               int sorted)
{
    int rank, n = edges->count + 1, counts[3], weighted = weighting != UNWEIGHTED;
    int into[2][n], away[2][n], again[4][n];
    MPI_Comm_rank(comm, &rank);
    CHECK(kind_of(comm) == MPI_DIST_GRAPH);
    CHECK(MPI_Dist_graph_neighbors_count(comm, &counts[0], &counts[1], &counts[2])
          == MPI_SUCCESS);
    CHECK(counts[0] < n && counts[1] < n && !counts[2] == !weighted);
    for (int i = 0; i < n; i++)
        into[0][i] = into[1][i] = away[0][i] = away[1][i] = UNTOUCHED;
    memcpy(again, into, sizeof into);
    memcpy(again + 2, away, sizeof away);
    CHECK(MPI_Dist_graph_neighbors(comm, counts[0], into[0], into[1], counts[1], away[0], away[1])
          == MPI_SUCCESS);
    CHECK(same_edges(edges, rank, 1, weighted, sorted, into[0], into[1], counts[0]));
    CHECK(same_edges(edges, rank, 0, weighted, sorted, away[0], away[1], counts[1]));
    /* A second query has the same order. */
    CHECK(MPI_Dist_graph_neighbors(comm, counts[0], again[0], again[1], counts[1], again[2],
                                   again[3])
          == MPI_SUCCESS);
    CHECK(!memcmp(again, into, sizeof into) && !memcmp(again + 2, away, sizeof away));
}

#endif
