/* Wrong calls of the functions for distributed graphs. In the valid graph each process has one edge to the next. */
#include "errors.h"

static int create(int n, const int *sources, const int *degrees, const int *destinations,
                  const int *weights)
{
    return MPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, MPI_INFO_NULL, 0,
                                 &made);
}

static int adjacent(int indegree, const int *sources, const int *sourceweights, int outdegree,
                    const int *destinations, const int *destweights)
{
    return MPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree,
                                          destinations, destweights, MPI_INFO_NULL, 0, &made);
}

/* Each fault occurs on all ranks, and on one rank only. */
static void dist_graph_create_cases(int everywhere)
{
    const int n = world_size, big = 2147483647, wrong = everywhere || is_last;
    const char *rank = everywhere ? "on rank 0: " : on_last();
    const char *who = everywhere ? "" : " on one rank";
    const char *f = "Dist_graph_create";

    WRONG(PLAIN, MPI_ERR_ARG, text("%s, n -1%s", f, who), rank, "n is -1")
        code = create(wrong ? -1 : 1, self, one, next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, a degree of -1%s", f, who), rank, "degrees[0] is -1")
        code = create(1, self, wrong ? (int[]){ -1 } : one, next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, degrees {1, -1}%s", f, who), rank, "degrees[1] is -1")
        code = create(2, no, wrong ? (int[]){ 1, -1 } : no, no, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, degrees {2147483647, 2147483647}%s", f, who), rank,
          "4294967294 edges")
        code = create(2, no, wrong ? (int[]){ big, big } : no, no, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, source -1%s", f, who), rank,
          text("sources[0] is -1, outside 0 to %d", n - 1))
        code = create(1, wrong ? (int[]){ -1 } : self, one, next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, source n%s", f, who), rank, text("sources[0] is %d", n))
        code = create(1, wrong ? &n : self, one, next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destination -1%s", f, who), rank, "destinations[0] is -1")
        code = create(1, self, one, wrong ? (int[]){ -1 } : next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destination n%s", f, who), rank,
          text("destinations[0] is %d", n))
        code = create(1, self, one, wrong ? &n : next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, a weight of -1%s", f, who), rank, "weights[0] is -1")
        code = create(1, self, one, next, wrong ? (int[]){ -1 } : one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, sources null%s", f, who), rank, "sources is a null pointer")
        code = create(1, wrong ? NULL : self, one, next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, degrees null%s", f, who), rank, "degrees is a null pointer")
        code = create(1, self, wrong ? NULL : one, next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destinations null%s", f, who), rank,
          "destinations is a null")
        code = create(1, self, one, wrong ? NULL : next, unweighted);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, MPI_WEIGHTS_EMPTY with edges%s", f, who), rank,
          "weights is MPI_WEIGHTS_EMPTY, but there are 1 edges")
        code = create(1, self, one, next, wrong ? weights_empty : one);
    WRONG_WEIGHTS(PLAIN, MPI_ERR_ARG, text("%s, weights null with edges%s", f, who), rank,
                  "weights is a null")
        code = create(1, self, one, next, wrong ? NULL : one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, comm_dist_graph null%s", f, who), rank,
          "comm_dist_graph is a")
        code = MPI_Dist_graph_create(comm, 1, self, one, next, unweighted, MPI_INFO_NULL, 0,
                                     wrong ? NULL : &made);
    if (everywhere) {
        WRONG(NOTHING, MPI_ERR_COMM, "Dist_graph_create on MPI_COMM_NULL", "MPI_COMM_NULL")
            code = create(1, self, one, next, unweighted);
        RIGHT(PLAIN, "Dist_graph_create, no edges and null pointers, which is right")
            code = create(0, NULL, NULL, NULL, NULL);
        if (n > 1)
            WRONG(INTER, MPI_ERR_COMM, "Dist_graph_create on an inter-communicator",
                  "inter-communicator")
                code = create(1, no, one, no, unweighted);
    } else if (n > 1) {
        WRONG(PLAIN, MPI_ERR_ARG, "Dist_graph_create, MPI_UNWEIGHTED on one rank", rank,
              "weights is MPI_UNWEIGHTED, but given on rank 0")
            code = create(1, self, one, next, wrong ? unweighted : one);
        WRONG(PLAIN, MPI_ERR_ARG, "Dist_graph_create, weights on one rank", rank,
              "weights is given, but MPI_UNWEIGHTED on rank 0")
            code = create(1, self, one, next, wrong ? one : unweighted);
        WRONG(PLAIN, MPI_ERR_ARG, "Dist_graph_create, reorder differs", rank,
              "reorder is 1, but 0 on rank 0")
            code = MPI_Dist_graph_create(comm, 1, self, one, next, unweighted, MPI_INFO_NULL,
                                         wrong, &made);
        WRONG(PLAIN, MPI_ERR_ARG, "Dist_graph_create on one rank, ..._adjacent on the others", rank,
              "calls MPI_Dist_graph_create while rank 0 calls MPI_Dist_graph_create_adjacent") {
            if (wrong)
                code = create(1, self, one, next, unweighted);
            else
                code = adjacent(1, previous, unweighted, 1, next, unweighted);
        }
    }
}

static void adjacent_cases(int everywhere)
{
    const int n = world_size, wrong = everywhere || is_last, *bad = (int[]){ -1 };
    const char *rank = everywhere ? "on rank 0: " : on_last();
    const char *who = everywhere ? "" : " on one rank";
    const char *f = "Dist_graph_create_adjacent";

    WRONG(PLAIN, MPI_ERR_ARG, text("%s, indegree -1%s", f, who), rank, "indegree is -1")
        code = adjacent(wrong ? -1 : 1, previous, one, 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, outdegree -1%s", f, who), rank, "outdegree is -1")
        code = adjacent(1, previous, one, wrong ? -1 : 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, source n%s", f, who), rank,
          text("sources[0] is %d, outside 0 to %d", n, n - 1))
        code = adjacent(1, wrong ? &n : previous, one, 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, source -1%s", f, who), rank, "sources[0] is -1")
        code = adjacent(1, wrong ? bad : previous, one, 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destination n%s", f, who), rank,
          text("destinations[0] is %d, outside 0 to %d", n, n - 1))
        code = adjacent(1, previous, one, 1, wrong ? &n : next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destination -1%s", f, who), rank, "destinations[0] is -1")
        code = adjacent(1, previous, one, 1, wrong ? bad : next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, sourceweight -1%s", f, who), rank, "sourceweights[0] is -1")
        code = adjacent(1, previous, wrong ? bad : one, 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destweight -1%s", f, who), rank, "destweights[0] is -1")
        code = adjacent(1, previous, one, 1, next, wrong ? bad : one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, sources null%s", f, who), rank, "sources is a null pointer")
        code = adjacent(1, wrong ? NULL : previous, one, 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destinations null%s", f, who), rank,
          "destinations is a null")
        code = adjacent(1, previous, one, 1, wrong ? NULL : next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, only sourceweights MPI_UNWEIGHTED%s", f, who), rank,
          "sourceweights is MPI_UNWEIGHTED but destweights is not")
        code = adjacent(1, previous, wrong ? unweighted : one, 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, only destweights MPI_UNWEIGHTED%s", f, who), rank,
          "destweights is MPI_UNWEIGHTED but sourceweights is not")
        code = adjacent(1, previous, one, 1, next, wrong ? unweighted : one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, sourceweights MPI_WEIGHTS_EMPTY with edges%s", f, who),
          rank, "sourceweights is MPI_WEIGHTS_EMPTY, but there are 1 edges")
        code = adjacent(1, previous, wrong ? weights_empty : one, 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destweights MPI_WEIGHTS_EMPTY with edges%s", f, who), rank,
          "destweights is MPI_WEIGHTS_EMPTY, but there are 1 edges")
        code = adjacent(1, previous, one, 1, next, wrong ? weights_empty : one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, sourceweights null with edges%s", f, who), rank,
          "sourceweights is a null pointer")
        code = adjacent(1, previous, wrong ? NULL : one, 1, next, one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, destweights null with edges%s", f, who), rank,
          "destweights is a null pointer")
        code = adjacent(1, previous, one, 1, next, wrong ? NULL : one);
    WRONG(PLAIN, MPI_ERR_ARG, text("%s, comm_dist_graph null%s", f, who), rank,
          "comm_dist_graph is a")
        code = MPI_Dist_graph_create_adjacent(comm, 1, previous, one, 1, next, one,
                                              MPI_INFO_NULL, 0, wrong ? NULL : &made);
    if (everywhere) {
        WRONG(NOTHING, MPI_ERR_COMM, text("%s on MPI_COMM_NULL", f), "MPI_COMM_NULL")
            code = adjacent(1, previous, one, 1, next, one);
        if (n > 1)
            WRONG(INTER, MPI_ERR_COMM, text("%s on an inter-communicator", f), "inter-communicator")
                code = adjacent(0, no, one, 0, no, one);
    } else if (n > 1) {
        CHECKED("weights", PLAIN, text("%s, MPI_UNWEIGHTED on one rank", f), rank,
                "sourceweights is MPI_UNWEIGHTED, but given on rank 0") {
            const int *weights = wrong ? unweighted : one;
            code = adjacent(1, previous, weights, 1, next, weights);
        }
        CHECKED("arguments", PLAIN, text("%s, reorder differs", f), rank, "reorder is 1, but 0 on")
            code = MPI_Dist_graph_create_adjacent(comm, 1, previous, one, 1, next, one,
                                                  MPI_INFO_NULL, wrong, &made);
    }
}

/* The arguments of each rank are valid, but edges do not match at their two ends. */
static void edges_cases(void)
{
    const int n = world_size, two[2] = { 2, 2 }, twice[2] = { next[0], next[0] };
    const char *f = "Dist_graph_create_adjacent", *both = "must be given at both ends";
    CHECKED("edges", PLAIN, text("%s, out-edges without in-edges", f), both,
            text("sources name rank %d 0 times", n - 1), "name rank 0 1 times")
        code = adjacent(0, NULL, unweighted, 1, next, unweighted);
    CHECKED("edges", PLAIN, text("%s, in-edges without out-edges", f), both,
            text("sources name rank %d 1 times", n - 1), "name rank 0 0 times")
        code = adjacent(1, previous, unweighted, 0, NULL, unweighted);
    CHECKED("edges", PLAIN, text("%s, one edge of all twice at its start", f), both,
            text("on rank 0: sources name rank %d 1 times", n - 1), "name rank 0 2 times")
        code = adjacent(1, previous, unweighted, is_last ? 2 : 1, twice, unweighted);
    CHECKED("edges", PLAIN, text("%s, weights differ between the two ends", f), both,
            "on rank 0: ", "of weight 1")
        code = adjacent(1, previous, one, 1, next, two);
    CHECKED("edges", PLAIN, text("%s, weights differ at one edge", f), both, on_last(),
            "of weight 1")
        code = adjacent(1, previous, is_last ? one : two, 1, next, two);
    CHECKED("edges", PLAIN, text("%s, edges twice at their start, once at their end", f), both,
            text("sources name rank %d 1 times", n - 1), "name rank 0 2 times")
        code = adjacent(1, previous, unweighted, 2, twice, unweighted);
    CHECKED("edges", PLAIN, text("%s, a loop on rank 0 at its start only", f), both,
            "on rank 0: sources name rank 0 0 times, but destinations on rank 0 name rank 0 1 times")
        code = adjacent(0, NULL, unweighted, world_rank == 0, no, unweighted);
    if (n > 2)
        CHECKED("edges", PLAIN, text("%s, the ends of the edges shifted", f), both)
            code = adjacent(1, next, unweighted, 1, next, unweighted);
}

static void dist_graph_query_cases(void)
{
    const char *f = "Dist_graph_neighbors", *count = "Dist_graph_neighbors_count";
    int *a = &result[0], *b = &result[3], *c = &result[6], *d = &result[9];
    WRONG(DIST_GRAPH, MPI_ERR_ARG, text("%s, maxindegree -1", f), "maxindegree is -1")
        code = MPI_Dist_graph_neighbors(comm, -1, a, b, 1, c, d);
    WRONG(DIST_GRAPH, MPI_ERR_ARG, text("%s, maxoutdegree -1", f), "maxoutdegree is -1")
        code = MPI_Dist_graph_neighbors(comm, 1, a, b, -1, c, d);
    WRONG(DIST_GRAPH, MPI_ERR_ARG, text("%s, sources null", f), "sources is a null pointer")
        code = MPI_Dist_graph_neighbors(comm, 1, NULL, b, 1, c, d);
    WRONG_WEIGHTS(DIST_GRAPH, MPI_ERR_ARG, text("%s, sourceweights null", f),
                  "sourceweights is a null")
        code = MPI_Dist_graph_neighbors(comm, 1, a, NULL, 1, c, d);
    WRONG(DIST_GRAPH, MPI_ERR_ARG, text("%s, destinations null", f), "destinations is a null")
        code = MPI_Dist_graph_neighbors(comm, 1, a, b, 1, NULL, d);
    WRONG_WEIGHTS(DIST_GRAPH, MPI_ERR_ARG, text("%s, destweights null", f),
                  "destweights is a null")
        code = MPI_Dist_graph_neighbors(comm, 1, a, b, 1, c, NULL);
    WRONG(DIST_GRAPH, MPI_ERR_ARG, text("%s, indegree null", count), "indegree is a null pointer")
        code = MPI_Dist_graph_neighbors_count(comm, NULL, a, b);
    WRONG(DIST_GRAPH, MPI_ERR_ARG, text("%s, outdegree null", count), "outdegree is a null pointer")
        code = MPI_Dist_graph_neighbors_count(comm, a, NULL, b);
    WRONG(DIST_GRAPH, MPI_ERR_ARG, text("%s, weighted null", count), "weighted is a null pointer")
        code = MPI_Dist_graph_neighbors_count(comm, a, b, NULL);
}
