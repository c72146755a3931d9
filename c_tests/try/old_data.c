/* Keeps its data on the old rank, like PETSc's star forests: silently wrong if ranks are reordered. */
#include "programs.h"

int main(int argc, char **argv)
{
    int other, weight = 5, received = -1;
    MPI_Comm graph;
    start(&argc, &argv);
    other = size - 1 - rank;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, &weight, 1, &other, &weight, MPI_INFO_NULL, 1,
                                   &graph);
    MPI_Neighbor_alltoall(&rank, 1, MPI_INT, &received, 1, MPI_INT, graph);
    printf("rank %d has %d\n", rank, received);
    return finish(rank * received);
}
