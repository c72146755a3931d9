/* reorder = 1: every process appears once, new rank i has vertex i, queries and data are those of the new order,
 * MPI_Cart_map and MPI_Graph_map agree with the constructors. Prints the order of each communicator: the old ranks in
 * the order of the new ranks, which the case reorder compares with `cartograph plan`.
 *
 * reorder.c [gains]: also checks that the placement of a 2-D grid is better than one row per node. */
#include "../check.h"

#define MOST 64

/* The prefix of the name of a communicator that is not created from MPI_COMM_WORLD. */
static const char *whose = "";

/* The old ranks of a communicator's processes in the order of the new ranks; each must occur once. */
static int order_of(const char *what, MPI_Comm old, MPI_Comm made, int *order)
{
    int old_rank, size, seen[MOST] = { 0 };
    MPI_Comm_rank(old, &old_rank);
    MPI_Comm_size(made, &size);
    MPI_Allgather(&old_rank, 1, MPI_INT, order, 1, MPI_INT, made);
    for (int i = 0; i < size; i++) {
        CHECK(order[i] >= 0 && order[i] < MOST);
        seen[order[i]]++;
    }
    for (int i = 0; i < MOST; i++)
        CHECK(seen[i] <= 1);
    int rank;
    MPI_Comm_rank(made, &rank);
    if (rank == 0)
        say_ints(what, order, size);
    return size;
}

/* Passes the old rank along every dimension: each process must receive the old rank that the order lists there. */
static void check_grid(MPI_Comm grid, int ndims, const int *order)
{
    int rank, world;
    MPI_Comm_rank(grid, &rank);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    for (int i = 0; i < ndims; i++) {
        int source, dest, got = -1, coords[4], expected;
        MPI_Cart_shift(grid, i, 1, &source, &dest);
        MPI_Sendrecv(&order[rank], 1, MPI_INT, dest, 7, &got, 1, MPI_INT, source, 7, grid,
                     MPI_STATUS_IGNORE);
        CHECK(source == MPI_PROC_NULL ? got == -1 : got == order[source]);
        if (source != MPI_PROC_NULL) {
            MPI_Cart_coords(grid, rank, ndims, coords);
            coords[i]--;
            MPI_Cart_rank(grid, coords, &expected);
            CHECK(expected == source);
        }
    }
}

static void cart(MPI_Comm comm, int ndims, const int *dims, const int *periods, int *order)
{
    char what[80];
    int mapped, rank = MPI_UNDEFINED;
    MPI_Comm grid;
    sprintf(what, "order %scart ", whose);
    for (int i = 0; i < ndims; i++)
        sprintf(what + strlen(what), "%s%d", i ? "x" : "", dims[i]);
    strcat(what, " ");
    for (int i = 0; i < ndims; i++)
        strcat(what, periods[i] ? "1" : "0");
    CHECK(MPI_Cart_create(comm, ndims, dims, periods, 1, &grid) == MPI_SUCCESS);
    CHECK(MPI_Cart_map(comm, ndims, dims, periods, &mapped) == MPI_SUCCESS);
    if (grid != MPI_COMM_NULL) {
        MPI_Comm_rank(grid, &rank);
        order_of(what, comm, grid, order);
        check_grid(grid, ndims, order);
        MPI_Comm_free(&grid);
    }
    CHECK(mapped == rank);
}

/* The neighbors of a vertex in a graph of `nodes` vertices: two on a ring, the opposite vertex, and one by a rule. */
static int neighbors_of(int vertex, int nodes, int *neighbors)
{
    int count = 0;
    neighbors[count++] = (vertex + 1) % nodes;
    neighbors[count++] = (vertex + nodes - 1) % nodes;
    neighbors[count++] = (vertex + nodes / 2) % nodes;
    if (vertex % 3 == 0)
        neighbors[count++] = (vertex * 5 + 1) % nodes;
    return count;
}

static void graph(MPI_Comm comm, int nodes, int *order)
{
    int index[MOST], edges[4 * MOST], count = 0, mapped, rank = MPI_UNDEFINED;
    char what[80];
    MPI_Comm made;
    for (int i = 0; i < nodes; i++)
        index[i] = count += neighbors_of(i, nodes, edges + count);
    CHECK(MPI_Graph_create(comm, nodes, index, edges, 1, &made) == MPI_SUCCESS);
    CHECK(MPI_Graph_map(comm, nodes, index, edges, &mapped) == MPI_SUCCESS);
    if (made != MPI_COMM_NULL) {
        int expected[4], found[4], degree, n;
        MPI_Comm_rank(made, &rank);
        sprintf(what, "order graph %d", nodes);
        order_of(what, comm, made, order);
        degree = neighbors_of(rank, nodes, expected);
        CHECK(MPI_Graph_neighbors_count(made, rank, &n) == MPI_SUCCESS && n == degree);
        CHECK(MPI_Graph_neighbors(made, rank, 4, found) == MPI_SUCCESS);
        CHECK(memcmp(found, expected, degree * sizeof *found) == 0);
        MPI_Comm_free(&made);
    }
    CHECK(mapped == rank);
}

/* Weighted edges of distributed graphs; new rank i must have the edges of vertex i. */
static void dist_graph(MPI_Comm comm, const char *objective, int adjacent, int *order)
{
    int rank, size, neighbors[4], degree, found_in, found_out, weighted;
    int sources[4 * MOST], in_weights[4 * MOST], destinations[4], weights[4], indegree = 0;
    char what[80];
    MPI_Comm made;
    MPI_Info info;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cartograph_objective", (char *)objective);
    MPI_Info_set(info, "some_other_key", "some value");
    degree = neighbors_of(rank, size, destinations);
    for (int i = 0; i < degree; i++)
        weights[i] = 1 + (rank * 7 + i) % 5;
    for (int from = 0; from < size; from++) {
        int count = neighbors_of(from, size, neighbors);
        for (int i = 0; i < count; i++)
            if (neighbors[i] == rank) {
                sources[indegree] = from;
                in_weights[indegree++] = 1 + (from * 7 + i) % 5;
            }
    }
    if (adjacent)
        CHECK(MPI_Dist_graph_create_adjacent(comm, indegree, sources, in_weights, degree,
                                             destinations, weights, info, 1, &made)
              == MPI_SUCCESS);
    else
        CHECK(MPI_Dist_graph_create(comm, 1, &rank, &degree, destinations, weights, info, 1, &made)
              == MPI_SUCCESS);
    MPI_Info_free(&info);

    sprintf(what, "order %sdist_graph%s %s", whose, adjacent ? "_adjacent" : "", objective);
    order_of(what, comm, made, order);
    /* The lists that were passed for vertex `new`, by whichever process. */
    int new, expected[4], expected_weights[4], got[4], got_weights[4];
    int from[4 * MOST], from_weights[4 * MOST];
    MPI_Comm_rank(made, &new);
    degree = neighbors_of(new, size, expected);
    CHECK(MPI_Dist_graph_neighbors_count(made, &found_in, &found_out, &weighted) == MPI_SUCCESS);
    CHECK(found_out == degree && weighted);
    CHECK(MPI_Dist_graph_neighbors(made, found_in, from, from_weights, found_out, got, got_weights)
          == MPI_SUCCESS);
    for (int i = 0; i < degree; i++) {
        expected_weights[i] = 1 + (new * 7 + i) % 5;
        CHECK(got[i] == expected[i] && got_weights[i] == expected_weights[i]);
    }
    indegree = 0;
    for (int vertex = 0; vertex < size; vertex++) {
        int count = neighbors_of(vertex, size, neighbors);
        for (int i = 0; i < count; i++)
            if (neighbors[i] == new) {
                CHECK(from[indegree] == vertex && from_weights[indegree] == 1 + (vertex * 7 + i) % 5);
                indegree++;
            }
    }
    CHECK(indegree == found_in);

    /* The new rank of every neighbor arrives. */
    int send[4], receive[4 * MOST];
    for (int i = 0; i < found_out; i++)
        send[i] = new;
    CHECK(MPI_Neighbor_alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, made) == MPI_SUCCESS);
    for (int i = 0; i < found_in; i++)
        CHECK(receive[i] == from[i]);
    MPI_Comm_free(&made);
}

/* The number of edges of a side x side grid that join two rows of ranks, where nodes have `side` processes. */
static int edges_between(int side, const int *order)
{
    int edges = 0;
    for (int cell = 0; cell < side * side; cell++) {
        if (cell % side + 1 < side)
            edges += order[cell] / side != order[cell + 1] / side;
        if (cell + side < side * side)
            edges += order[cell] / side != order[cell + side] / side;
    }
    return edges;
}

/* The first constructor determines where processes run, here on a communicator of all processes in another order: from
 * then on MPI_COMM_WORLD's layout is known as well, in its own order. */
static void known_from_elsewhere(void)
{
    int dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, mapped = -1, rank;
    MPI_Comm backwards, grid;
    MPI_Dims_create(world_size, 2, dims);
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped) == MPI_SUCCESS);
    CHECK(getenv("CARTOGRAPH_LAYOUT") || getenv("CARTOGRAPH_REORDER") || mapped == world_rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &backwards);
    CHECK(MPI_Cart_create(backwards, 2, dims, periods, 1, &grid) == MPI_SUCCESS);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&backwards);
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped) == MPI_SUCCESS);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid) == MPI_SUCCESS);
    MPI_Comm_rank(grid, &rank);
    CHECK(mapped == rank);
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
    int order[MOST], none[3] = { 0, 0, 0 }, mixed[3] = { 1, 0, 1 };
    begin(&argc, &argv);
    known_from_elsewhere();
    for (int used = world_size; used >= 1 && used >= world_size - 3; used--)
        for (int ndims = 1; ndims <= 3; ndims++) {
            int dims[3] = { 0, 0, 0 };
            MPI_Dims_create(used, ndims, dims);
            cart(MPI_COMM_WORLD, ndims, dims, none, order);
            cart(MPI_COMM_WORLD, ndims, dims, mixed, order);
        }
    graph(MPI_COMM_WORLD, world_size, order);
    if (world_size > 2)
        graph(MPI_COMM_WORLD, world_size - 1, order);
    for (int adjacent = 0; adjacent < 2; adjacent++) {
        dist_graph(MPI_COMM_WORLD, "sum", adjacent, order);
        dist_graph(MPI_COMM_WORLD, "max", adjacent, order);
    }
    /* On a communicator with other ranks than the world's: in reverse order, without the last process. */
    MPI_Comm part;
    whose = "part ";
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == world_size - 1 && world_size > 1, -world_rank, &part);
    if (world_rank < world_size - 1 || world_size == 1) {
        int dims[2] = { 0, 0 };
        MPI_Dims_create(world_size > 1 ? world_size - 1 : 1, 2, dims);
        MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
        cart(part, 2, dims, mixed, order);
        dist_graph(part, "sum", 1, order);
    }
    MPI_Comm_free(&part);
    whose = "";
    if (argc > 1 && strcmp(argv[1], "gains") == 0) {
        int side = 1;
        while ((side + 1) * (side + 1) <= world_size)
            side++;
        int dims[2] = { side, side };
        for (int i = 0; i < MOST; i++)
            order[i] = i;
        int before = edges_between(side, order);
        cart(MPI_COMM_WORLD, 2, dims, none, order);
        CHECK(edges_between(side, order) < before);
    }
    return finish();
}
