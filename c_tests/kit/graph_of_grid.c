/* A topology can be created on any intra-communicator, even on one with a topology, and the new communicator has
 * the new topology (MPI 5.0, 8.5).
 * mpiexec -n 4 ./graph_of_grid */
#include "tap.h"

int main(int argc, char **argv)
{
    int dims[2] = { 2, 2 }, periods[2] = { 1, 0 }, kind, degree = 1, got = -1;
    MPI_Comm grid, graph;
    tap_begin(&argc, &argv);
    int left = (tap_rank + tap_size - 1) % tap_size, right = (tap_rank + 1) % tap_size;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Dist_graph_create_adjacent(grid, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Topo_test(graph, &kind);
    tap(kind == MPI_DIST_GRAPH, "MPI_Dist_graph_create_adjacent on a grid");
    MPI_Neighbor_allgather(&tap_rank, 1, MPI_INT, &got, 1, MPI_INT, graph);
    tap(got == left, "its MPI_Neighbor_allgather");
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create(grid, 1, &tap_rank, &degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph);
    MPI_Topo_test(graph, &kind);
    tap(kind == MPI_DIST_GRAPH, "MPI_Dist_graph_create on a grid, reorder = 1");
    MPI_Comm_free(&graph);
    MPI_Cart_create(grid, 1, &tap_size, periods, 0, &graph);
    MPI_Cartdim_get(graph, &kind);
    tap(kind == 1, "MPI_Cart_create on a grid");
    MPI_Comm_free(&graph);
    MPI_Comm_free(&grid);
    return tap_end();
}
