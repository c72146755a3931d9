/* Distributed graphs: both constructors, queries, duplicates. Each rank prints the results, and compares them with
 * the edges that were passed. */
#include "differential_edges.h"

enum { RING, STAR, COMPLETE, MULTIPLE, NO_EDGES, ISOLATED, SHAPES };
enum givers { SOURCE, DESTINATION, ZERO, ANYBODY, GIVERS };

static const char *const weighting_names[] = { "unweighted", "weighted", "weighted or empty" };

static int giver(enum givers givers, int source, int destination, int number)
{
    switch (givers) {
    case SOURCE:
        return source;
    case DESTINATION:
        return destination;
    case ZERO:
        return 0;
    default:
        return (number * 7 + 3) % world_size;
    }
}

static struct edges draw(int shape, enum givers givers)
{
    struct edges edges = { 0, NULL };
    int n = world_size;
#define EDGE(from, to, weight)                                                                     \
    add_edge(&edges, (from) % n, (to) % n, weight, giver(givers, (from) % n, (to) % n, edges.count))
    for (int node = 0; node < n; node++)
        switch (shape) {
        case RING:
            EDGE(node, node + n - 1, 1);
            EDGE(node, node + 1, 1);
            break;
        case STAR: /* All ranks have an edge to the last, which has no edges out. */
            if (node < n - 1)
                EDGE(node, n - 1, node + 1);
            break;
        case COMPLETE:
            for (int other = n - 1; other >= 0; other--)
                EDGE(node, other, 10 * node + other);
            break;
        case MULTIPLE: /* Loops and multiple edges, with different and equal weights. */
            EDGE(node, node + 1, 5);
            EDGE(node, node + 2, 0);
            EDGE(node, node + 1, node);
            EDGE(node, node, 2147483647);
            EDGE(node, node + 1, 5);
            break;
        case ISOLATED: /* A chain without the first and the last rank. */
            if (node > 0 && node < n - 2)
                EDGE(node + 1, node, 3);
            break;
        }
#undef EDGE
    return edges;
}

static void whole(int shape, enum weighting weighting)
{
    struct edges edges = draw(shape, SOURCE);
    char name[NAME_LENGTH];
    MPI_Comm comm = create_adjacent(MPI_COMM_WORLD, &edges, weighting, MPI_INFO_NULL, 0);
    check_edges(comm, &edges, weighting, 0);
    snprintf(name, sizeof name, "adjacent %d %s", shape, weighting_names[weighting]);
    say_dist_graph(name, comm, 0);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL);
    drop_edges(&edges);

    for (enum givers givers = 0; givers < GIVERS; givers++) {
        edges = draw(shape, givers);
        comm = create_by_edges(MPI_COMM_WORLD, &edges, weighting, MPI_INFO_NULL, 0);
        check_edges(comm, &edges, weighting, 1);
        snprintf(name, sizeof name, "create %d %s from %d", shape, weighting_names[weighting],
                 givers);
        say_dist_graph(name, comm, 1);
        /* The standard leaves the order free. Cartograph orders edges by the rank that passes them, then by its
         * arguments, which is the order of the list if sources pass their edges. Hosts do the same if one rank
         * passes all edges into or out of a rank; otherwise their order changes from run to run. */
        if (ours && (givers == SOURCE || givers == ZERO))
            check_edges(comm, &edges, weighting, 0);
        if (givers == ZERO) {
            snprintf(name, sizeof name, "order %d %s", shape, weighting_names[weighting]);
            say_dist_graph(name, comm, 0);
        }
        MPI_Comm_free(&comm);
        drop_edges(&edges);
    }
}

/* After reordering, new rank i has the edges of vertex i, which old rank i passed. */
static void reordered(int shape, enum weighting weighting)
{
    struct edges edges = draw(shape, ANYBODY);
    MPI_Comm comm = create_adjacent(MPI_COMM_WORLD, &edges, weighting, MPI_INFO_NULL, 1);
    check_permutation(comm, world_size);
    if (ours)
        check_edges(comm, &edges, weighting, 0);
    MPI_Comm_free(&comm);
    comm = create_by_edges(MPI_COMM_WORLD, &edges, weighting, MPI_INFO_NULL, 1);
    check_permutation(comm, world_size);
    if (ours)
        check_edges(comm, &edges, weighting, 1);
    MPI_Comm_free(&comm);
    drop_edges(&edges);
}

/* MPI_UNWEIGHTED requests no weights on either side; a small maximum requests the first edges. */
static void partial_outputs(MPI_Comm comm, const char *name)
{
    int counts[3], got[4][8], all[4][8];
    CHECK(MPI_Dist_graph_neighbors_count(comm, &counts[0], &counts[1], &counts[2])
          == MPI_SUCCESS);
    CHECK(counts[0] == 5 && counts[1] == 5);
    CHECK(MPI_Dist_graph_neighbors(comm, 5, all[0], all[1], 5, all[2], all[3]) == MPI_SUCCESS);
    for (int sides = 0; sides < 4; sides++) {
        for (int i = 0; i < 4 * 8; i++)
            got[i / 8][i % 8] = UNTOUCHED;
        CHECK(MPI_Dist_graph_neighbors(comm, 5, got[0], sides & 1 ? got[1] : MPI_UNWEIGHTED, 5,
                                       got[2], sides & 2 ? got[3] : MPI_UNWEIGHTED)
              == MPI_SUCCESS);
        for (int i = 0; i < 5; i++) {
            CHECK(got[0][i] == all[0][i] && got[2][i] == all[2][i]);
            CHECK(got[1][i] == (sides & 1 && counts[2] ? all[1][i] : UNTOUCHED));
            CHECK(got[3][i] == (sides & 2 && counts[2] ? all[3][i] : UNTOUCHED));
        }
    }
    for (int most_in = 0; most_in <= 6; most_in += 2)
        for (int most_out = 0; most_out <= 6; most_out += 3) {
            int code;
            for (int i = 0; i < 4 * 8; i++)
                got[i / 8][i % 8] = UNTOUCHED;
            code = MPI_Dist_graph_neighbors(comm, most_in, got[0], got[1], most_out, got[2],
                                            got[3]);
            told(code, got[0], 4 * 8, "%s at most %d and %d", name, most_in, most_out);
            CHECK_OURS(code == MPI_SUCCESS);
            for (int i = 0; i < 8; i++) {
                int in = i < most_in && i < 5, out = i < most_out && i < 5;
                CHECK_OURS(got[0][i] == (in ? all[0][i] : UNTOUCHED));
                CHECK_OURS(got[1][i] == (in && counts[2] ? all[1][i] : UNTOUCHED));
                CHECK_OURS(got[2][i] == (out ? all[2][i] : UNTOUCHED));
                CHECK_OURS(got[3][i] == (out && counts[2] ? all[3][i] : UNTOUCHED));
            }
        }
}

int main(int argc, char **argv)
{
    struct parent parent;
    struct edges edges;
    MPI_Comm comm;
    MPI_Info info;
    begin_ours(&argc, &argv);
    for (int shape = 0; shape < SHAPES; shape++)
        whole(shape, shape % 3);
    for (enum weighting weighting = UNWEIGHTED; weighting <= WEIGHTED_OR_EMPTY; weighting++) {
        reordered(MULTIPLE, weighting);
        whole(ISOLATED, weighting);
    }

    edges = draw(MULTIPLE, SOURCE);
    for (enum weighting weighting = UNWEIGHTED; weighting <= WEIGHTED; weighting++) {
        /* An unknown info key changes nothing. */
        MPI_Info_create(&info);
        MPI_Info_set(info, "no such hint", "indeed");
        comm = create_adjacent(MPI_COMM_WORLD, &edges, weighting, info, 0);
        check_edges(comm, &edges, weighting, 0);
        partial_outputs(comm, weighting_names[weighting]);
        say_duplicates("adjacent offspring", comm, 0);
        check_not_carried(comm);
        MPI_Comm_free(&comm);
        comm = create_by_edges(MPI_COMM_WORLD, &edges, weighting, info, 0);
        check_edges(comm, &edges, weighting, 1);
        MPI_Comm_free(&comm);
        MPI_Info_free(&info);

        parent = parent_begin();
        comm = create_adjacent(parent.comm, &edges, weighting, MPI_INFO_NULL, 0);
        parent_end("adjacent", &parent, &comm);
        parent = parent_begin();
        comm = create_by_edges(parent.comm, &edges, weighting, MPI_INFO_NULL, 0);
        parent_end("by edges", &parent, &comm);
    }
    drop_edges(&edges);
    return finish();
}
