/* All Fortran names of the library, called from C like Fortran does: with addresses of all arguments, INTEGER
 * handles, and a LOGICAL whose .TRUE. is -1, as in some compilers. */
#include "../check.h"

/* The standard ABI names these functions differently. */
#ifdef MPI_ABI
#define COMM_TO_FORTRAN MPI_Comm_toint
#define COMM_FROM_FORTRAN MPI_Comm_fromint
#define INFO_TO_FORTRAN MPI_Info_toint
#else
#define COMM_TO_FORTRAN MPI_Comm_c2f
#define COMM_FROM_FORTRAN MPI_Comm_f2c
#define INFO_TO_FORTRAN MPI_Info_c2f
#endif

enum { SPELLINGS = 4 };

/* Declares the four names of a procedure, and an array of them. */
#define PROCEDURE(name, ...) \
    typedef void name##_type(__VA_ARGS__); \
    extern name##_type mpi_##name##_, mpi_##name##__, pmpi_##name##_, pmpi_##name##__; \
    static name##_type *const name[SPELLINGS] = { \
        mpi_##name##_, mpi_##name##__, pmpi_##name##_, pmpi_##name##__ \
    };

typedef const int *in;
typedef int *out;

/* The last argument is ierror. */
PROCEDURE(cart_create, in comm, in ndims, in dims, in periods, in reorder, out cart,
          out)
PROCEDURE(cart_sub, in comm, in remain_dims, out newcomm, out)
PROCEDURE(cartdim_get, in comm, out ndims, out)
PROCEDURE(cart_get, in comm, in maxdims, out dims, out periods, out coords, out)
PROCEDURE(cart_rank, in comm, in coords, out rank, out)
PROCEDURE(cart_coords, in comm, in rank, in maxdims, out coords, out)
PROCEDURE(cart_shift, in comm, in direction, in disp, out source, out dest, out)
PROCEDURE(cart_map, in comm, in ndims, in dims, in periods, out newrank, out)
PROCEDURE(graph_create, in comm, in nnodes, in index, in edges, in reorder,
          out graph, out)
PROCEDURE(graphdims_get, in comm, out nnodes, out nedges, out)
PROCEDURE(graph_get, in comm, in maxindex, in maxedges, out index, out edges, out)
PROCEDURE(graph_neighbors_count, in comm, in rank, out count, out)
PROCEDURE(graph_neighbors, in comm, in rank, in max, out neighbors, out)
PROCEDURE(graph_map, in comm, in nnodes, in index, in edges, out newrank, out)
PROCEDURE(dist_graph_create_adjacent, in comm, in indegree, in sources,
          in source_weights, in outdegree, in destinations, in dest_weights, in info, in reorder,
          out graph, out)
PROCEDURE(dist_graph_create, in comm, in n, in sources, in degrees,
          in destinations, in weights, in info, in reorder, out graph, out)
PROCEDURE(dist_graph_neighbors_count, in comm, out indegree,
          out outdegree, out weighted, out)
PROCEDURE(dist_graph_neighbors, in comm, in maxindegree, out sources,
          out source_weights, in maxoutdegree, out destinations, out dest_weights, out)
PROCEDURE(topo_test, in comm, out status, out)
PROCEDURE(dims_create, in nnodes, in ndims, out dims, out)

/* Fortran passes addresses only. */
#define AT(value) ((const int[]){ value })

/* Where ierror goes: nowhere, or to `code`, which gets an invalid value before each call. */
static int code;
static int *wanted(void)
{
    code = -77;
    return &code;
}

static const int fortran_true = -1, fortran_false = 0;

static void grids(int s)
{
    int world = COMM_TO_FORTRAN(MPI_COMM_WORLD), cart, sub, n = -1, m = -1, rank, place;
    int dims[2] = { 0, 0 }, periods[2] = { fortran_true, fortran_false }, coords[2], back[2];
    int expected[2] = { 0, 0 }, flags[2] = { 7, 7 }, source, dest, new_rank;
    const int remain[2] = { 0, fortran_true };
    MPI_Comm comm;

    dims_create[s](&world_size, AT(2), dims, NULL);
    MPI_Dims_create(world_size, 2, expected);
    CHECK(dims[0] == expected[0] && dims[1] == expected[1]);
    dims_create[s](AT(6), AT(1), (int[]){ 4 }, wanted());
    CHECK(class_of(code) == MPI_ERR_DIMS);

    cart_create[s](&world, AT(2), dims, periods, &fortran_false, &cart, NULL);
    CHECK(periods[0] == fortran_true);
    comm = COMM_FROM_FORTRAN(cart);
    CHECK(MPI_Topo_test(comm, &n) == MPI_SUCCESS && n == MPI_CART);
    topo_test[s](&cart, &m, wanted());
    CHECK(code == MPI_SUCCESS && m == n);
    cartdim_get[s](&cart, &n, NULL);
    CHECK(n == 2);
    cart_get[s](&cart, AT(2), expected, flags, coords, NULL);
    CHECK(expected[0] == dims[0] && expected[1] == dims[1]);
    CHECK(flags[0] != 0 && flags[0] != 7 && flags[1] == 0);
    cart_rank[s](&cart, coords, &rank, wanted());
    CHECK(code == MPI_SUCCESS && rank == world_rank);
    for (place = 0; place < world_size; place++) {
        cart_coords[s](&cart, &place, AT(2), coords, NULL);
        MPI_Cart_coords(comm, place, 2, back);
        CHECK(coords[0] == back[0] && coords[1] == back[1]);
    }
    for (int direction = 0; direction < 2; direction++) {
        cart_shift[s](&cart, &direction, AT(-1), &source, &dest, NULL);
        MPI_Cart_shift(comm, direction, -1, &n, &m);
        CHECK(source == n && dest == m);
    }
    cart_shift[s](&cart, AT(2), AT(1), &source, &dest, wanted());
    CHECK(class_of(code) == MPI_ERR_ARG);

    cart_sub[s](&cart, remain, &sub, NULL);
    comm = COMM_FROM_FORTRAN(sub);
    n = 0, flags[0] = 7;
    MPI_Cart_get(comm, 1, &n, flags, back);
    CHECK(n == dims[1] && flags[0] == 0);
    MPI_Comm_free(&comm);
    comm = COMM_FROM_FORTRAN(cart);
    MPI_Comm_free(&comm);

    cart_map[s](&world, AT(1), AT(world_size - 1), &fortran_true, &new_rank, wanted());
    MPI_Cart_map(MPI_COMM_WORLD, 1, AT(world_size - 1), AT(1), &n);
    CHECK(code == MPI_SUCCESS && new_rank == n);
    cart_create[s](&world, AT(1), AT(world_size - 1), &fortran_true, &fortran_true, &cart, NULL);
    CHECK((COMM_FROM_FORTRAN(cart) == MPI_COMM_NULL) == (new_rank == MPI_UNDEFINED));
    if (new_rank != MPI_UNDEFINED) {
        comm = COMM_FROM_FORTRAN(cart);
        MPI_Cart_get(comm, 1, dims, flags, coords);
        CHECK(flags[0] == 1 && coords[0] == new_rank);
        MPI_Comm_free(&comm);
    }
}

/* Two nodes: each has an edge to itself, and the first has one to the second. */
static void graphs(int s)
{
    int world = COMM_TO_FORTRAN(MPI_COMM_WORLD), graph, n, m, new_rank;
    const int index[2] = { 2, 3 }, edges[3] = { 1, 0, 1 };
    int ends[2], found[3];
    MPI_Comm comm;

    graph_map[s](&world, AT(2), index, edges, &new_rank, NULL);
    MPI_Graph_map(MPI_COMM_WORLD, 2, index, edges, &n);
    CHECK(new_rank == n);
    graph_create[s](&world, AT(2), index, edges, &fortran_true, &graph, wanted());
    comm = COMM_FROM_FORTRAN(graph);
    CHECK(code == MPI_SUCCESS && (comm == MPI_COMM_NULL) == (new_rank == MPI_UNDEFINED));
    if (comm == MPI_COMM_NULL)
        return;
    graphdims_get[s](&graph, &n, &m, NULL);
    CHECK(n == 2 && m == 3);
    graph_get[s](&graph, AT(2), AT(3), ends, found, NULL);
    CHECK(!memcmp(ends, index, sizeof ends) && !memcmp(found, edges, sizeof found));
    graph_neighbors_count[s](&graph, AT(0), &n, NULL);
    CHECK(n == 2);
    graph_neighbors[s](&graph, AT(0), AT(2), found, wanted());
    CHECK(code == MPI_SUCCESS && found[0] == 1 && found[1] == 0);
    graph_neighbors[s](&graph, AT(2), AT(2), found, wanted());
    CHECK(class_of(code) == MPI_ERR_RANK);
    MPI_Comm_free(&comm);
}

static void check_ring(int s, int graph, int weight_in, int weight_out)
{
    int n, m, weighted = 0, found[4] = { -1, -1, -1, -1 };
    MPI_Comm comm = COMM_FROM_FORTRAN(graph);
    dist_graph_neighbors_count[s](&graph, &n, &m, &weighted, NULL);
    CHECK(n == 1 && m == 1 && weighted == 1);
    dist_graph_neighbors[s](&graph, &n, found, found + 1, &m, found + 2, found + 3, NULL);
    CHECK(found[0] == (world_rank + world_size - 1) % world_size && found[1] == weight_in);
    CHECK(found[2] == (world_rank + 1) % world_size && found[3] == weight_out);
    MPI_Comm_free(&comm);
}

/* Open MPI defines the sentinels of Fortran even without a Fortran compiler. */
extern int mpi_fortran_unweighted_, mpi_fortran_weights_empty_;
#pragma weak mpi_fortran_unweighted_
#pragma weak mpi_fortran_weights_empty_

static void sentinels(int s)
{
    int world = COMM_TO_FORTRAN(MPI_COMM_WORLD), info = INFO_TO_FORTRAN(MPI_INFO_NULL), graph;
    int n, m, weighted = 7, rank;
    MPI_Comm comm;
    if (&mpi_fortran_unweighted_ == NULL)
        return;
    dist_graph_create_adjacent[s](&world, AT(1), &world_rank, &mpi_fortran_unweighted_, AT(1),
                                  &world_rank, &mpi_fortran_unweighted_, &info, &fortran_false,
                                  &graph, wanted());
    CHECK(code == MPI_SUCCESS);
    dist_graph_neighbors_count[s](&graph, &n, &m, &weighted, NULL);
    CHECK(n == 1 && m == 1 && weighted == 0);
    dist_graph_neighbors[s](&graph, &n, &rank, &mpi_fortran_unweighted_, AT(0), NULL,
                            &mpi_fortran_unweighted_, wanted());
    CHECK(code == MPI_SUCCESS && rank == world_rank);
    comm = COMM_FROM_FORTRAN(graph);
    MPI_Comm_free(&comm);
    /* One edge needs one weight. */
    dist_graph_create[s](&world, AT(1), &world_rank, AT(1), &world_rank,
                         &mpi_fortran_weights_empty_, &info, &fortran_false, &graph, wanted());
    CHECK(class_of(code) == MPI_ERR_ARG);
}

/* A ring; the weight of an edge is the rank of its source. */
static void dist_graphs(int s)
{
    int world = COMM_TO_FORTRAN(MPI_COMM_WORLD), info = INFO_TO_FORTRAN(MPI_INFO_NULL), graph;
    int before = (world_rank + world_size - 1) % world_size, after = (world_rank + 1) % world_size;
    dist_graph_create_adjacent[s](&world, AT(1), &before, &before, AT(1), &after, &world_rank,
                                  &info, &fortran_false, &graph, NULL);
    check_ring(s, graph, before, world_rank);
    /* Here each rank passes its incoming edge. */
    dist_graph_create[s](&world, AT(1), &before, AT(1), &world_rank, &before, &info,
                         &fortran_false, &graph, wanted());
    CHECK(code == MPI_SUCCESS);
    check_ring(s, graph, before, world_rank);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int s = 0; s < SPELLINGS; s++) {
        grids(s);
        graphs(s);
        dist_graphs(s);
        sentinels(s);
        /* Without a topology, each call returns a code. */
        int self = COMM_TO_FORTRAN(MPI_COMM_SELF), n, m, a[1] = { 0 }, b[1], c[1], d[1];
#define REFUSED(call) CHECK(((call), class_of(code)) == MPI_ERR_TOPOLOGY)
        REFUSED(cart_sub[s](&self, &fortran_true, &n, wanted()));
        REFUSED(cartdim_get[s](&self, &n, wanted()));
        REFUSED(cart_get[s](&self, AT(1), a, b, c, wanted()));
        REFUSED(cart_rank[s](&self, a, &n, wanted()));
        REFUSED(cart_coords[s](&self, AT(0), AT(1), a, wanted()));
        REFUSED(graphdims_get[s](&self, &n, &m, wanted()));
        REFUSED(graph_get[s](&self, AT(1), AT(1), a, b, wanted()));
        REFUSED(graph_neighbors_count[s](&self, AT(0), &n, wanted()));
        REFUSED(dist_graph_neighbors_count[s](&self, &n, &m, a, wanted()));
        REFUSED(dist_graph_neighbors[s](&self, AT(1), a, b, AT(1), c, d, wanted()));
        topo_test[s](&self, &n, wanted());
        CHECK(code == MPI_SUCCESS && n == MPI_UNDEFINED);
    }
    return finish();
}
