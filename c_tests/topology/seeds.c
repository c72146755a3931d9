/* Examples with their printed values from MPI-1.1's chapter on topologies, from MPI-2.1 and 2.2 on graphs, and
 * from lecture slides. Each example runs if there are enough processes. */
#include "differential.h"

static int same(const int *got, const int *expected, int count)
{
    return !memcmp(got, expected, count * sizeof(int));
}

/* A communicator of the first `size` processes; MPI_COMM_NULL on the others, and everywhere if there are too few. */
static MPI_Comm first(int size)
{
    MPI_Comm comm;
    int in = world_size >= size && world_rank < size;
    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, 0, &comm);
    return comm;
}

static MPI_Comm grid(MPI_Comm comm, int ndims, const int *dims, const int *periods)
{
    MPI_Comm cart = MPI_COMM_NULL;
    if (comm != MPI_COMM_NULL)
        CHECK(MPI_Cart_create(comm, ndims, dims, periods, 0, &cart) == MPI_SUCCESS);
    return cart;
}

/* The table of MPI_Dims_create. */
static void dims_table(void)
{
    static const int three_two[] = { 3, 2 }, seven_one[] = { 7, 1 }, kept[] = { 2, 3, 1 };
    int dims[3] = { 0, 0, 0 }, code;
    CHECK(MPI_Dims_create(6, 2, dims) == MPI_SUCCESS && same(dims, three_two, 2));
    say_ints("dims of 6 in 2", dims, 2);
    dims[0] = dims[1] = 0;
    CHECK(MPI_Dims_create(7, 2, dims) == MPI_SUCCESS && same(dims, seven_one, 2));
    say_ints("dims of 7 in 2", dims, 2);
    dims[0] = 0, dims[1] = 3, dims[2] = 0;
    CHECK(MPI_Dims_create(6, 3, dims) == MPI_SUCCESS && same(dims, kept, 3));
    say_ints("dims of 6 in 3", dims, 3);
    dims[0] = 0, dims[1] = 3, dims[2] = 0;
    code = MPI_Dims_create(7, 3, dims);
    CHECK(class_of(code) == MPI_ERR_DIMS);
    told(code, dims, 3, "dims of 7 in 3");
}

/* Ranks and coordinates of a 2 x 2 grid. */
static void two_by_two(MPI_Comm four)
{
    static const int dims[] = { 2, 2 }, periods[] = { 0, 0 };
    static const int table[4][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };
    MPI_Comm cart = grid(four, 2, dims, periods);
    if (cart == MPI_COMM_NULL)
        return;
    for (int r = 0; r < 4; r++) {
        int coords[2], rank;
        CHECK(MPI_Cart_coords(cart, r, 2, coords) == MPI_SUCCESS && same(coords, table[r], 2));
        CHECK(MPI_Cart_rank(cart, table[r], &rank) == MPI_SUCCESS && rank == r);
    }
    say_cart("2x2", cart);
    MPI_Comm_free(&cart);
}

static void check_neighbors(MPI_Comm graph, int rank, int degree, const int *expected)
{
    int neighbors[8], count;
    CHECK(MPI_Graph_neighbors_count(graph, rank, &count) == MPI_SUCCESS && count == degree);
    CHECK(MPI_Graph_neighbors(graph, rank, count, neighbors) == MPI_SUCCESS);
    CHECK(same(neighbors, expected, degree));
}

/* The two graphs of four processes; the second lists some neighbors more than once. */
static void graphs(MPI_Comm four)
{
    static const int index[][4] = { { 2, 3, 4, 6 }, { 3, 5, 6, 9 } };
    static const int edges[][9] = { { 1, 3, 0, 3, 0, 2 }, { 1, 1, 3, 0, 0, 3, 0, 2, 2 } };
    static const int degrees[][4] = { { 2, 1, 1, 2 }, { 3, 2, 1, 3 } };
    static const int neighbors[][4][3] = { { { 1, 3 }, { 0 }, { 3 }, { 0, 2 } },
                                           { { 1, 1, 3 }, { 0, 0 }, { 3 }, { 0, 2, 2 } } };
    if (four == MPI_COMM_NULL)
        return;
    for (int i = 0; i < 2; i++) {
        int counts[2], got[2][9];
        MPI_Comm graph;
        CHECK(MPI_Graph_create(four, 4, index[i], edges[i], 0, &graph) == MPI_SUCCESS);
        CHECK(MPI_Graphdims_get(graph, &counts[0], &counts[1]) == MPI_SUCCESS);
        CHECK(counts[0] == 4 && counts[1] == index[i][3]);
        CHECK(MPI_Graph_get(graph, 4, counts[1], got[0], got[1]) == MPI_SUCCESS);
        CHECK(same(got[0], index[i], 4) && same(got[1], edges[i], counts[1]));
        for (int r = 0; r < 4; r++)
            check_neighbors(graph, r, degrees[i][r], neighbors[i][r]);
        say_graph(i ? "multiple edges" : "graph", graph);
        MPI_Comm_free(&graph);
    }
}

/* The shuffle-exchange network of 2^3 processes, and the three permutations on it. */
static void shuffle_exchange(MPI_Comm eight)
{
    static const int table[8][3] = { { 1, 0, 0 }, { 0, 2, 4 }, { 3, 4, 1 }, { 2, 6, 5 },
                                     { 5, 1, 2 }, { 4, 3, 6 }, { 7, 5, 3 }, { 6, 7, 7 } };
    /* The neighbors to send to and to receive from in each permutation. */
    static const int to[3] = { 0, 1, 2 }, from[3] = { 0, 2, 1 };
    int index[8], edges[24], neighbors[3], rank;
    float value, expected;
    MPI_Comm comm;
    if (eight == MPI_COMM_NULL)
        return;
    /* Built from the definition by bits, and compared with the printed table. */
    for (int node = 0; node < 8; node++) {
        index[node] = 3 * (node + 1);
        edges[3 * node] = node ^ 1;
        edges[3 * node + 1] = (node << 1 & 7) | node >> 2;
        edges[3 * node + 2] = node >> 1 | (node & 1) << 2;
    }
    CHECK(MPI_Graph_create(eight, 8, index, edges, 0, &comm) == MPI_SUCCESS);
    for (int r = 0; r < 8; r++)
        check_neighbors(comm, r, 3, table[r]);
    say_graph("shuffle-exchange", comm);
    MPI_Comm_rank(comm, &rank);
    CHECK(MPI_Graph_neighbors(comm, rank, 3, neighbors) == MPI_SUCCESS);
    value = rank + 0.5f;
    for (int i = 0; i < 3; i++) {
        CHECK(MPI_Sendrecv_replace(&value, 1, MPI_FLOAT, neighbors[to[i]], 0, neighbors[from[i]],
                                   0, comm, MPI_STATUS_IGNORE)
              == MPI_SUCCESS);
        say("permutation %d: %.1f\n", i, value);
        /* Exchange, then shuffle; unshuffle reverses the shuffle. */
        expected = (i == 1 ? table[neighbors[2]][0] : neighbors[0]) + 0.5f;
        CHECK(value == expected);
    }
    MPI_Comm_free(&comm);
}

/* Column i of a two-dimensional periodic array is shifted by i steps. */
static void skew(MPI_Comm twelve)
{
    static const int dims[] = { 3, 4 }, periods[] = { 1, 1 };
    int rank, coords[2], source, dest;
    float value;
    MPI_Comm comm = grid(twelve, 2, dims, periods);
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &rank);
    CHECK(MPI_Cart_coords(comm, rank, 2, coords) == MPI_SUCCESS);
    CHECK(MPI_Cart_shift(comm, 0, coords[1], &source, &dest) == MPI_SUCCESS);
    value = 10 * coords[0] + coords[1];
    CHECK(MPI_Sendrecv_replace(&value, 1, MPI_FLOAT, dest, 0, source, 0, comm, MPI_STATUS_IGNORE)
          == MPI_SUCCESS);
    CHECK(value == 10 * ((coords[0] + 3 - coords[1] % 3) % 3) + coords[1]);
    say("skewed: %.0f from %d to %d\n", value, source, dest);
    MPI_Comm_free(&comm);
}

static void check_sub(MPI_Comm comm, const int *remain, int ndims, const int *dims, int size,
                      int rank)
{
    int got[3][3], found[3];
    MPI_Comm sub;
    CHECK(MPI_Cart_sub(comm, remain, &sub) == MPI_SUCCESS);
    MPI_Comm_size(sub, &found[0]);
    MPI_Comm_rank(sub, &found[1]);
    CHECK(MPI_Cartdim_get(sub, &found[2]) == MPI_SUCCESS);
    CHECK(found[0] == size && found[1] == rank && found[2] == ndims);
    CHECK(MPI_Cart_get(sub, ndims, got[0], got[1], got[2]) == MPI_SUCCESS);
    CHECK(same(got[0], dims, ndims));
    say_cart("sub", sub);
    MPI_Comm_free(&sub);
}

/* Three communicators of 2 x 4, then six of four, out of 2 x 3 x 4. */
static void sub_grids(MPI_Comm comm)
{
    static const int dims[] = { 2, 3, 4 }, periods[] = { 0, 1, 0 }, two_four[] = { 2, 4 };
    static const int four[] = { 4 }, remain[2][3] = { { 1, 0, 1 }, { 0, 0, 1 } };
    int coords[3], rank;
    MPI_Comm cart = grid(comm, 3, dims, periods);
    if (cart == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(cart, &rank);
    CHECK(MPI_Cart_coords(cart, rank, 3, coords) == MPI_SUCCESS);
    check_sub(cart, remain[0], 2, two_four, 8, 4 * coords[0] + coords[2]);
    check_sub(cart, remain[1], 1, four, 4, coords[2]);
    MPI_Comm_free(&cart);
}

/* A row of a table of arguments, for one process; the adjacent form has no `degrees`. */
struct arguments {
    int n, ranks[4], degrees[4], ends[6];
};

static void check_dist_graph(MPI_Comm comm, int weighted, int sorted, const char *name)
{
    /* The neighbors in both directions: the graph is symmetric. */
    static const int degrees[4] = { 2, 1, 1, 2 };
    static const int table[4][2] = { { 1, 3 }, { 0 }, { 3 }, { 0, 2 } };
    int rank, counts[3], into[2][2], away[2][2];
    MPI_Comm_rank(comm, &rank);
    CHECK(MPI_Dist_graph_neighbors_count(comm, &counts[0], &counts[1], &counts[2])
          == MPI_SUCCESS);
    CHECK(counts[0] == degrees[rank] && counts[1] == degrees[rank] && !counts[2] == !weighted);
    for (int i = 0; i < 2; i++)
        into[1][i] = away[1][i] = UNTOUCHED;
    CHECK(MPI_Dist_graph_neighbors(comm, counts[0], into[0], into[1], counts[1], away[0], away[1])
          == MPI_SUCCESS);
    /* The order is free; it changes on hosts if several ranks pass edges into a process. */
    if (sorted && counts[0] == 2 && into[0][0] > into[0][1]) {
        int other = into[0][0];
        into[0][0] = into[0][1], into[0][1] = other;
    }
    for (int i = 0; i < degrees[rank]; i++) {
        CHECK(into[0][i] == table[rank][i] && into[1][i] == (weighted ? 1 : UNTOUCHED));
        CHECK(away[0][i] == table[rank][i] && away[1][i] == (weighted ? 1 : UNTOUCHED));
    }
    say_dist_graph(name, comm, sorted);
}

/* The first graph as a distributed graph in three variants, with unit weights and without weights. */
static void dist_graphs(MPI_Comm four)
{
    static const struct arguments outgoing[4] = { { 1, { 0 }, { 2 }, { 1, 3 } },
                                                  { 1, { 1 }, { 1 }, { 0 } },
                                                  { 1, { 2 }, { 1 }, { 3 } },
                                                  { 1, { 3 }, { 2 }, { 0, 2 } } };
    static const struct arguments on_zero[4] = {
        { 4, { 0, 1, 2, 3 }, { 2, 1, 1, 2 }, { 1, 3, 0, 3, 0, 2 } } };
    static const struct arguments adjacent[4] = { { 2, { 1, 3 }, { 0 }, { 1, 3 } },
                                                  { 1, { 0 }, { 0 }, { 0 } },
                                                  { 1, { 3 }, { 0 }, { 3 } },
                                                  { 2, { 0, 2 }, { 0 }, { 0, 2 } } };
    static const int ones[6] = { 1, 1, 1, 1, 1, 1 };
    int rank;
    if (four == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(four, &rank);
    for (int weighted = 0; weighted < 2; weighted++) {
        const int *weights = weighted ? ones : MPI_UNWEIGHTED;
        const struct arguments *own = &outgoing[rank];
        MPI_Comm comm;
        CHECK(MPI_Dist_graph_create(four, own->n, own->ranks, own->degrees, own->ends, weights,
                                    MPI_INFO_NULL, 0, &comm)
              == MPI_SUCCESS);
        check_dist_graph(comm, weighted, 1, "outgoing edges");
        MPI_Comm_free(&comm);
        own = &on_zero[rank];
        CHECK(MPI_Dist_graph_create(four, own->n, own->ranks, own->degrees, own->ends, weights,
                                    MPI_INFO_NULL, 0, &comm)
              == MPI_SUCCESS);
        check_dist_graph(comm, weighted, 0, "whole graph on 0");
        MPI_Comm_free(&comm);
        own = &adjacent[rank];
        CHECK(MPI_Dist_graph_create_adjacent(four, own->n, own->ranks, weights, own->n, own->ends,
                                             weights, MPI_INFO_NULL, 0, &comm)
              == MPI_SUCCESS);
        check_dist_graph(comm, weighted, 0, "adjacent");
        MPI_Comm_free(&comm);
    }
}

/* Grids without dimensions, grids smaller than the group, and grids larger than the group. */
static void zero_dimensional(void)
{
    int none = UNTOUCHED, out[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED }, rank = UNTOUCHED, ndims;
    int too_many = world_size + 1, code;
    MPI_Comm cart, sub;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &too_many, &rank, 0, &cart) != MPI_SUCCESS);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 0, &none, &none, 0, &cart) == MPI_SUCCESS);
    CHECK((cart == MPI_COMM_NULL) == (world_rank > 0));
    if (cart == MPI_COMM_NULL)
        return;
    CHECK(MPI_Cartdim_get(cart, &ndims) == MPI_SUCCESS && ndims == 0);
    CHECK(MPI_Cart_get(cart, 1, out, out + 1, out + 2) == MPI_SUCCESS);
    CHECK(MPI_Cart_coords(cart, 0, 1, out) == MPI_SUCCESS);
    CHECK(out[0] == UNTOUCHED && out[1] == UNTOUCHED && out[2] == UNTOUCHED);
    CHECK(MPI_Cart_rank(cart, &none, &rank) == MPI_SUCCESS && rank == 0);
    code = MPI_Cart_shift(cart, 0, 1, out, out + 1);
    told(code, NULL, 0, "zero-dimensional shift");
    CHECK_OURS(code != MPI_SUCCESS);
    CHECK(MPI_Cart_sub(cart, &none, &sub) == MPI_SUCCESS);
    CHECK(MPI_Cartdim_get(sub, &ndims) == MPI_SUCCESS && ndims == 0);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&cart);
}

/* The 3 x 4 cylinder of the slides, cut into columns. */
static void cylinder(MPI_Comm twelve)
{
    static const int dims[] = { 3, 4 }, periods[] = { 1, 0 }, keep[] = { 1, 0 }, three[] = { 3 };
    int rank, above, below, left, right;
    MPI_Comm cart = grid(twelve, 2, dims, periods);
    if (cart == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(cart, &rank);
    for (int i = -3; i < 6; i++)
        for (int j = 0; j < 4; j++) {
            int at[2] = { i, j }, found;
            CHECK(MPI_Cart_rank(cart, at, &found) == MPI_SUCCESS && found == (i + 3) % 3 * 4 + j);
        }
    CHECK(MPI_Cart_shift(cart, 0, 1, &above, &below) == MPI_SUCCESS);
    CHECK(above == (rank + 8) % 12 && below == (rank + 4) % 12);
    CHECK(MPI_Cart_shift(cart, 1, 1, &left, &right) == MPI_SUCCESS);
    CHECK(left == (rank % 4 == 0 ? MPI_PROC_NULL : rank - 1));
    CHECK(right == (rank % 4 == 3 ? MPI_PROC_NULL : rank + 1));
    check_sub(cart, keep, 1, three, 3, rank / 4);
    MPI_Comm_free(&cart);
}

/* The 3 x 5 grid of the slides: a process, and the source and destination of a shift to the right. */
static void shifts(MPI_Comm fifteen)
{
    static const int dims[] = { 3, 5 }, periods[] = { 0, 0 };
    static const int table[3][3] = { { 7, 6, 8 },
                                     { 5, MPI_PROC_NULL, 6 },
                                     { 9, 8, MPI_PROC_NULL } };
    int rank, source, dest;
    MPI_Comm cart = grid(fifteen, 2, dims, periods);
    if (cart == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(cart, &rank);
    CHECK(MPI_Cart_shift(cart, 1, 1, &source, &dest) == MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        CHECK(rank != table[i][0] || (source == table[i][1] && dest == table[i][2]));
    say("3x5 shift: %d %d\n", source, dest);
    MPI_Comm_free(&cart);
}

/* The application at the end of MPI-1.1's chapter: neighbors on a torus by coordinates, and values sent to them.
 * The grid is also created as in the advice to implementors. */
static void poisson(void)
{
    static const int steps[4][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
    int dims[2] = { 0, 0 }, periods[2] = { 1, 1 }, position[2], neighbors[4], got[4], rank, newrank;
    MPI_Comm cart, split;
    CHECK(MPI_Dims_create(world_size, 2, dims) == MPI_SUCCESS);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart) == MPI_SUCCESS);
    CHECK(MPI_Cart_get(cart, 2, dims, periods, position) == MPI_SUCCESS);
    MPI_Comm_rank(cart, &rank);
    for (int i = 0; i < 4; i++) {
        int at[2] = { position[0] + steps[i][0], position[1] + steps[i][1] };
        CHECK(MPI_Cart_rank(cart, at, &neighbors[i]) == MPI_SUCCESS);
    }
    /* A block sent in one direction arrives from the other. */
    for (int i = 0; i < 4; i++)
        CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, neighbors[i], i, &got[i], 1, MPI_INT,
                           neighbors[i ^ 1], i, cart, MPI_STATUS_IGNORE)
              == MPI_SUCCESS
              && got[i] == neighbors[i ^ 1]);

    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &newrank) == MPI_SUCCESS);
    MPI_Comm_split(MPI_COMM_WORLD, newrank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, newrank, &split);
    MPI_Comm_rank(split, &newrank);
    CHECK(newrank == rank);
    MPI_Comm_free(&split);
    MPI_Comm_free(&cart);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[5];
    static const int sizes[5] = { 4, 8, 12, 15, 24 };
    begin_ours(&argc, &argv);
    for (int i = 0; i < 5; i++)
        comms[i] = first(sizes[i]);
    dims_table();
    two_by_two(comms[0]);
    graphs(comms[0]);
    shuffle_exchange(comms[1]);
    skew(comms[2]);
    sub_grids(comms[4]);
    dist_graphs(comms[0]);
    zero_dimensional();
    cylinder(comms[2]);
    shifts(comms[3]);
    poisson();
    for (int i = 0; i < 5; i++)
        if (comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i]);
    return finish();
}
