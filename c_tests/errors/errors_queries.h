/* All queries of topologies, on communicators without a topology or with another kind. */
#include "errors.h"

/* A function, its kind of topology, and a call that is valid there. */
struct query {
    const char *function;
    enum where right;
    int (*call)(void);
};

static int call_cartdim_get(void)
{
    return MPI_Cartdim_get(comm, result);
}

static int call_cart_get(void)
{
    return MPI_Cart_get(comm, 3, &result[0], &result[3], &result[6]);
}

static int call_cart_rank(void)
{
    return MPI_Cart_rank(comm, no, result);
}

static int call_cart_coords(void)
{
    return MPI_Cart_coords(comm, 0, 3, result);
}

static int call_cart_shift(void)
{
    return MPI_Cart_shift(comm, 0, 1, &result[0], &result[1]);
}

static int call_cart_sub(void)
{
    return MPI_Cart_sub(comm, no, &made);
}

static int call_graphdims_get(void)
{
    return MPI_Graphdims_get(comm, &result[0], &result[1]);
}

static int call_graph_get(void)
{
    return MPI_Graph_get(comm, world_size, world_size, &result[0], &result[8]);
}

static int call_graph_neighbors_count(void)
{
    return MPI_Graph_neighbors_count(comm, 0, result);
}

static int call_graph_neighbors(void)
{
    return MPI_Graph_neighbors(comm, 0, 1, result);
}

static int call_dist_graph_neighbors_count(void)
{
    return MPI_Dist_graph_neighbors_count(comm, &result[0], &result[1], &result[2]);
}

static int call_dist_graph_neighbors(void)
{
    return MPI_Dist_graph_neighbors(comm, 1, &result[0], &result[1], 1, &result[2], &result[3]);
}

static const struct query queries[] = {
    { "Cartdim_get", GRID, call_cartdim_get },
    { "Cart_get", GRID, call_cart_get },
    { "Cart_rank", GRID, call_cart_rank },
    { "Cart_coords", GRID, call_cart_coords },
    { "Cart_shift", GRID, call_cart_shift },
    { "Cart_sub", GRID, call_cart_sub },
    { "Graphdims_get", GRAPH, call_graphdims_get },
    { "Graph_get", GRAPH, call_graph_get },
    { "Graph_neighbors_count", GRAPH, call_graph_neighbors_count },
    { "Graph_neighbors", GRAPH, call_graph_neighbors },
    { "Dist_graph_neighbors_count", DIST_GRAPH, call_dist_graph_neighbors_count },
    { "Dist_graph_neighbors", DIST_GRAPH, call_dist_graph_neighbors },
};

static const char *const kinds[PLACES] = {
    [GRID] = "a Cartesian topology",
    [GRAPH] = "a graph topology",
    [DIST_GRAPH] = "a distributed graph topology",
};

static void query_cases(const struct query *query)
{
    const char *f = query->function, *wanted = kinds[query->right];
    WRONG(PLAIN, MPI_ERR_TOPOLOGY, text("%s without a topology", f), "comm has no topology; ",
          wanted)
        code = query->call();
    for (enum where where = GRID; where <= DIST_GRAPH; where++)
        if (where != query->right && where != POINT)
            WRONG(where, MPI_ERR_TOPOLOGY, text("%s on %s", f, kinds[where]),
                  text("comm has %s; %s is needed", kinds[where], wanted))
                code = query->call();
    WRONG(NOTHING, MPI_ERR_COMM, text("%s on MPI_COMM_NULL", f), "MPI_COMM_NULL")
        code = query->call();
    if (world_size > 1)
        WRONG(INTER, MPI_ERR_COMM, text("%s on an inter-communicator", f), "inter-communicator")
            code = query->call();
}

/* Functions that accept any communicator except MPI_COMM_NULL. */
static void map_and_test_cases(void)
{
    const int n = world_size;
    WRONG(NOTHING, MPI_ERR_COMM, "Topo_test on MPI_COMM_NULL", "MPI_COMM_NULL")
        code = MPI_Topo_test(comm, result);
    WRONG(NOTHING, MPI_ERR_COMM, "Cart_map on MPI_COMM_NULL", "MPI_COMM_NULL")
        code = MPI_Cart_map(comm, 1, one, no, result);
    WRONG(NOTHING, MPI_ERR_COMM, "Graph_map on MPI_COMM_NULL", "MPI_COMM_NULL")
        code = MPI_Graph_map(comm, n, ring_index, ring_edges, result);
    if (n == 1)
        return;
    WRONG(INTER, MPI_ERR_COMM, "Cart_map on an inter-communicator", "inter-communicator")
        code = MPI_Cart_map(comm, 1, one, no, result);
    WRONG(INTER, MPI_ERR_COMM, "Graph_map on an inter-communicator", "inter-communicator")
        code = MPI_Graph_map(comm, 1, one, no, result);
}
