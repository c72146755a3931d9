/* Queries its rank in the grid, like Comb. */
#include "programs.h"

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periodic[2] = { 1, 1 }, own, left, right;
    double value, received;
    MPI_Comm grid;
    start(&argc, &argv);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 1, &grid);
    MPI_Comm_rank(grid, &own);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    value = 1.0 + own;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, right, 0, &received, 1, MPI_DOUBLE, left, 0, grid,
                 MPI_STATUS_IGNORE);
    printf("cell %d has %g from its left\n", own, received);
    return finish(value * received);
}
