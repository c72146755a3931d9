/* The value that a failing constructor leaves in the handle of the new communicator: the same as the host's, if
 * the host also reports an error. */
#include "../check.h"

static void told(const char *what, int code, MPI_Comm comm)
{
    say("%s: error %d, %s\n", what, code != MPI_SUCCESS,
        comm == MPI_COMM_NULL ? "null" : comm == MPI_COMM_SELF ? "as it was" : "another");
    CHECK(code != MPI_SUCCESS);
}

#define FAILS(what, call) \
    do { \
        MPI_Comm made = MPI_COMM_SELF; \
        int code = call; \
        told(what, code, made); \
    } while (0)

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int dims[2] = { world_size, 7 }, periods[2] = { 0, 0 }, one[1] = { 1 }, index[2] = { 1, 2 }, edges[2] = { 1, 0 };
    MPI_Comm world = MPI_COMM_WORLD, none = MPI_COMM_NULL;
    FAILS("grid too large", MPI_Cart_create(world, 2, dims, periods, 0, &made));
    FAILS("ndims is -1", MPI_Cart_create(world, -1, dims, periods, 0, &made));
    FAILS("grid of no communicator", MPI_Cart_create(none, 1, one, periods, 0, &made));
    FAILS("part of no grid", MPI_Cart_sub(world, one, &made));
    FAILS("part of no communicator", MPI_Cart_sub(none, one, &made));
    FAILS("graph of no communicator", MPI_Graph_create(none, 2, index, edges, 0, &made));
    FAILS("graph too large", MPI_Graph_create(world, world_size + 1, index, edges, 0, &made));
    FAILS("indegree is -1", MPI_Dist_graph_create_adjacent(world, -1, one, MPI_UNWEIGHTED, 0, one, MPI_UNWEIGHTED,
                                                           MPI_INFO_NULL, 0, &made));
    FAILS("n is -1", MPI_Dist_graph_create(world, -1, one, one, one, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
    return finish();
}
