/* Queries its rank in the grid, but takes a neighbor in its graph for an old rank. */
#include "programs.h"

#define MOST 64

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periodic[2] = { 1, 1 }, index[MOST], edges[MOST], own, left, right, received = -1;
    MPI_Comm grid, graph;
    start(&argc, &argv);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 1, &grid);
    MPI_Comm_rank(grid, &own);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Sendrecv(&own, 1, MPI_INT, right, 0, &received, 1, MPI_INT, left, 0, grid, MPI_STATUS_IGNORE);
    printf("cell %d has %d from its left\n", own, received);
    for (int i = 0; i < size && i < MOST; i++) {
        index[i] = i + 1;
        edges[i] = size - 1 - i;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &graph);
    MPI_Neighbor_alltoall(&rank, 1, MPI_INT, &received, 1, MPI_INT, graph);
    printf("rank %d has %d\n", rank, received);
    return finish(rank * received);
}
