/* Wrong calls of MPI_Dims_create and of the functions for grids. */
#include "errors.h"

/* The entries are in `result`; a wrong call must not change them. */
static int dims_create(int nnodes, int ndims, int first, int second, int third)
{
    int dims[3] = { first, second, third };
    memcpy(result, dims, sizeof dims);
    memcpy(before, dims, sizeof dims);
    return MPI_Dims_create(nnodes, ndims, result);
}

static void dims_cases(void)
{
    WRONG(NOWHERE, MPI_ERR_DIMS, "Dims_create(0, 2, {0, 0})", "nnodes is 0")
        code = dims_create(0, 2, 0, 0, 0);
    WRONG(NOWHERE, MPI_ERR_DIMS, "Dims_create(-1, 2, {0, 0})", "nnodes is -1")
        code = dims_create(-1, 2, 0, 0, 0);
    WRONG(NOWHERE, MPI_ERR_DIMS, "Dims_create(6, 2, {2, 2})", "nnodes is 6", "product is 4")
        code = dims_create(6, 2, 2, 2, 0);
    WRONG(NOWHERE, MPI_ERR_DIMS, "Dims_create(6, 3, {0, -3, 0})", "dims[1] is -3")
        code = dims_create(6, 3, 0, -3, 0);
    WRONG(NOWHERE, MPI_ERR_DIMS, "Dims_create(7, 3, {0, 3, 0})", "nnodes is 7", "multiple of 3")
        code = dims_create(7, 3, 0, 3, 0);
    WRONG(NOWHERE, MPI_ERR_DIMS, "Dims_create(4, 3, {65536, 65536, 0})", "4294967296")
        code = dims_create(4, 3, 65536, 65536, 0);
    WRONG(NOWHERE, MPI_ERR_DIMS, "Dims_create(2, 0, {})", "nnodes is 2", "product is 1")
        code = dims_create(2, 0, FILL, FILL, FILL);
    WRONG(NOWHERE, MPI_ERR_DIMS, "Dims_create(4, -1, {0, 0})", "ndims is -1")
        code = dims_create(4, -1, 0, 0, 0);
    WRONG(NOWHERE, MPI_ERR_ARG, "Dims_create(4, 2, null)", "dims is a null pointer")
        code = MPI_Dims_create(4, 2, NULL);
    RIGHT(NOWHERE, "Dims_create(2147483647, 2, {0, 0}), which is right") {
        code = dims_create(2147483647, 2, 0, 0, 0);
        HOLDS(result[0] == 2147483647 && result[1] == 1);
    }
    RIGHT(NOWHERE, "Dims_create(6, 3, {0, 3, 0}), which is right") {
        code = dims_create(6, 3, 0, 3, 0);
        HOLDS(result[0] == 2 && result[1] == 3 && result[2] == 1);
    }
    RIGHT(NOWHERE, "Dims_create(1, 0, null), which is right")
        code = MPI_Dims_create(1, 0, NULL);
}

/* The same fault on all ranks. */
static void cart_create_cases(void)
{
    const int n = world_size, big = 2147483647;
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims {-1, 1}", "dims[0] is -1", "on rank 0: ")
        code = MPI_Cart_create(comm, 2, (int[]){ -1, 1 }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims {-1, -1}", "dims[0] is -1")
        code = MPI_Cart_create(comm, 2, (int[]){ -1, -1 }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims {1, 0}", "dims[1] is 0")
        code = MPI_Cart_create(comm, 2, (int[]){ 1, 0 }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, a grid larger than the group",
          text("a grid of %d processes", n + 1), text("only %d", n))
        code = MPI_Cart_create(comm, 2, (int[]){ n + 1, 1 }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims {65536, 65536}", "4294967296 processes")
        code = MPI_Cart_create(comm, 2, (int[]){ 65536, 65536 }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, four dims of 2147483647",
          "21267647892944572736998860269687930881 processes")
        code = MPI_Cart_create(comm, 4, (int[]){ big, big, big, big }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, eight dims of 65536", "dims make a grid of")
        code = MPI_Cart_create(comm, 8,
                               (int[]){ 65536, 65536, 65536, 65536, 65536, 65536, 65536, 65536 },
                               no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, ndims -1", "ndims is -1")
        code = MPI_Cart_create(comm, -1, one, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims null", "dims is a null pointer")
        code = MPI_Cart_create(comm, 1, NULL, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, periods null", "periods is a null pointer")
        code = MPI_Cart_create(comm, 1, one, NULL, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, comm_cart null", "comm_cart is a null pointer")
        code = MPI_Cart_create(comm, 1, one, no, 0, NULL);
    WRONG(NOTHING, MPI_ERR_COMM, "Cart_create on MPI_COMM_NULL", "MPI_COMM_NULL")
        code = MPI_Cart_create(comm, 1, one, no, 0, &made);
    if (n > 1)
        WRONG(INTER, MPI_ERR_COMM, "Cart_create on an inter-communicator", "inter-communicator")
            code = MPI_Cart_create(comm, 1, one, no, 0, &made);
}

/* One rank differs from the others. */
static void cart_create_alone_cases(void)
{
    const int n = world_size, same = is_last ? 1 : n, other = is_last ? n : 1;
    const char *alone = on_last();
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims {-1} on one rank", alone, "dims[0] is -1")
        code = MPI_Cart_create(comm, 1, (int[]){ is_last ? -1 : n }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims {0} on one rank", alone, "dims[0] is 0")
        code = MPI_Cart_create(comm, 1, (int[]){ is_last ? 0 : n }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, a grid larger than the group on one rank", alone,
          text("%d processes", n + 1))
        code = MPI_Cart_create(comm, 1, (int[]){ is_last ? n + 1 : n }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, ndims -1 on one rank", alone, "ndims is -1")
        code = MPI_Cart_create(comm, is_last ? -1 : 1, one, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims null on one rank", alone, "dims is a null pointer")
        code = MPI_Cart_create(comm, 1, is_last ? NULL : one, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, periods null on one rank", alone, "periods is a null")
        code = MPI_Cart_create(comm, 1, one, is_last ? NULL : no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, comm_cart null on one rank", alone, "comm_cart is a nu")
        code = MPI_Cart_create(comm, 1, one, no, 0, is_last ? NULL : &made);
    if (n == 1)
        return;
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims differ, product the same", alone,
          text("dims[0] is 1, but %d on rank 0", n))
        code = MPI_Cart_create(comm, 2, (int[]){ same, other }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, the size of the grid differs", alone,
          text("dims[0] is %d, but %d on rank 0", n - 1, n))
        code = MPI_Cart_create(comm, 2, (int[]){ is_last ? n - 1 : n, 1 }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, ndims differ", alone, "ndims is 2, but 1 on rank 0")
        code = MPI_Cart_create(comm, is_last ? 2 : 1, (int[]){ n, 1 }, no, 0, &made);
    CHECKED("arguments", PLAIN, "Cart_create, periods differ", alone,
            "periods is 1, but 0 on rank 0")
        code = MPI_Cart_create(comm, 1, &n, is_last ? one : no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, reorder differs", alone,
          "reorder is 1, but 0 on rank 0")
        code = MPI_Cart_create(comm, 1, &n, no, is_last, &made);
    RIGHT(PLAIN, "Cart_create, periods 1 on one rank and 2 on the others, which is right")
        code = MPI_Cart_create(comm, 1, &n, (int[]){ is_last ? 1 : 2 }, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create on one rank, Graph_create on the others", alone,
          "calls MPI_Cart_create while rank 0 calls MPI_Graph_create") {
        if (is_last)
            code = MPI_Cart_create(comm, 1, &n, no, 0, &made);
        else
            code = MPI_Graph_create(comm, n, ring_index, ring_edges, 0, &made);
    }
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_create on one rank, Dist_graph_create on the others", alone,
          "calls MPI_Cart_create while rank 0 calls MPI_Dist_graph_create") {
        if (is_last)
            code = MPI_Cart_create(comm, 1, &n, no, 0, &made);
        else
            code = MPI_Dist_graph_create(comm, 1, self, one, next, unweighted, MPI_INFO_NULL, 0,
                                         &made);
    }
}

static void cart_query_cases(void)
{
    const int n = world_size;
    WRONG(GRID, MPI_ERR_ARG, "Cart_rank, a coordinate too large",
          "coordinate 5 of dimension 2 is outside 0 to 0")
        code = MPI_Cart_rank(comm, (int[]){ 0, 5, 5 }, result);
    WRONG(GRID, MPI_ERR_ARG, "Cart_rank, coordinate -1",
          text("coordinate -1 of dimension 0 is outside 0 to %d", n - 1))
        code = MPI_Cart_rank(comm, (int[]){ -1, -1, 0 }, result);
    WRONG(GRID, MPI_ERR_ARG, "Cart_rank, coords null", "coords is a null pointer")
        code = MPI_Cart_rank(comm, NULL, result);
    WRONG(GRID, MPI_ERR_ARG, "Cart_rank, rank null", "rank is a null pointer")
        code = MPI_Cart_rank(comm, no, NULL);
    WRONG(GRID, MPI_ERR_RANK, "Cart_coords, rank -1", text("rank is -1, outside 0 to %d", n - 1))
        code = MPI_Cart_coords(comm, -1, 3, result);
    WRONG(GRID, MPI_ERR_RANK, "Cart_coords, rank n", text("rank is %d, outside 0 to %d", n, n - 1))
        code = MPI_Cart_coords(comm, n, 3, result);
    WRONG(GRID, MPI_ERR_ARG, "Cart_coords, maxdims -1", "maxdims is -1")
        code = MPI_Cart_coords(comm, 0, -1, result);
    WRONG(GRID, MPI_ERR_ARG, "Cart_coords, coords null", "coords is a null pointer")
        code = MPI_Cart_coords(comm, 0, 3, NULL);
    WRONG(GRID, MPI_ERR_ARG, "Cart_shift, direction 5 of 3",
          "direction is 5, but the grid has 3 dimensions")
        code = MPI_Cart_shift(comm, 5, 1, &result[0], &result[1]);
    WRONG(GRID, MPI_ERR_ARG, "Cart_shift, direction 3 of 3", "direction is 3, but the grid has 3")
        code = MPI_Cart_shift(comm, 3, 1, &result[0], &result[1]);
    WRONG(GRID, MPI_ERR_ARG, "Cart_shift, direction -1", "direction is -1, but the grid has 3")
        code = MPI_Cart_shift(comm, -1, 1, &result[0], &result[1]);
    WRONG(POINT, MPI_ERR_ARG, "Cart_shift in a grid without dimensions",
          "direction is 0, but the grid has 0")
        code = MPI_Cart_shift(comm, 0, 1, &result[0], &result[1]);
    WRONG(GRID, MPI_ERR_ARG, "Cart_shift, rank_source null", "rank_source is a null pointer")
        code = MPI_Cart_shift(comm, 0, 1, NULL, result);
    WRONG(GRID, MPI_ERR_ARG, "Cart_shift, rank_dest null", "rank_dest is a null pointer")
        code = MPI_Cart_shift(comm, 0, 1, result, NULL);
    WRONG(GRID, MPI_ERR_ARG, "Cart_get, maxdims -1", "maxdims is -1")
        code = MPI_Cart_get(comm, -1, &result[0], &result[3], &result[6]);
    WRONG(GRID, MPI_ERR_ARG, "Cart_get, dims null", "dims is a null pointer")
        code = MPI_Cart_get(comm, 3, NULL, &result[3], &result[6]);
    WRONG(GRID, MPI_ERR_ARG, "Cart_get, periods null", "periods is a null pointer")
        code = MPI_Cart_get(comm, 3, &result[0], NULL, &result[6]);
    WRONG(GRID, MPI_ERR_ARG, "Cart_get, coords null", "coords is a null pointer")
        code = MPI_Cart_get(comm, 3, &result[0], &result[3], NULL);
    WRONG(GRID, MPI_ERR_ARG, "Cartdim_get, ndims null", "ndims is a null pointer")
        code = MPI_Cartdim_get(comm, NULL);
    WRONG(PLAIN, MPI_ERR_ARG, "Topo_test, status null", "status is a null pointer")
        code = MPI_Topo_test(comm, NULL);
}

static void cart_sub_and_map_cases(void)
{
    const int n = world_size;
    WRONG(GRID, MPI_ERR_ARG, "Cart_sub, remain_dims null", "remain_dims is a null pointer")
        code = MPI_Cart_sub(comm, NULL, &made);
    WRONG(GRID, MPI_ERR_ARG, "Cart_sub, newcomm null", "newcomm is a null pointer")
        code = MPI_Cart_sub(comm, no, NULL);
    WRONG(GRID, MPI_ERR_ARG, "Cart_sub, remain_dims null on one rank", on_last(),
          "remain_dims is a null pointer")
        code = MPI_Cart_sub(comm, is_last ? NULL : no, &made);
    if (n > 1) {
        WRONG(GRID, MPI_ERR_ARG, "Cart_sub, remain_dims differ", on_last(),
              "remain_dims[2] is 1, but 0 on rank 0")
            code = MPI_Cart_sub(comm, (int[]){ 0, 0, is_last }, &made);
        WRONG(GRID, MPI_ERR_ARG, "Cart_sub on one rank, Cart_create on the others", on_last(),
              "calls MPI_Cart_sub while rank 0 calls MPI_Cart_create") {
            if (is_last)
                code = MPI_Cart_sub(comm, no, &made);
            else
                code = MPI_Cart_create(comm, 1, &n, no, 0, &made);
        }
    }
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_map, a grid larger than the group",
          text("a grid of %d processes", n + 1))
        code = MPI_Cart_map(comm, 2, (int[]){ n + 1, 1 }, no, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_map, dims {1, -1}", "dims[1] is -1")
        code = MPI_Cart_map(comm, 2, (int[]){ 1, -1 }, no, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_map, ndims -1", "ndims is -1")
        code = MPI_Cart_map(comm, -1, one, no, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_map, dims null", "dims is a null pointer")
        code = MPI_Cart_map(comm, 1, NULL, no, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_map, periods null", "periods is a null pointer")
        code = MPI_Cart_map(comm, 1, one, NULL, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Cart_map, newrank null", "newrank is a null pointer")
        code = MPI_Cart_map(comm, 1, one, no, NULL);
}
