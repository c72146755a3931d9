/* Uses ranks of the grid on the old communicator, like LAMMPS: a reordered rank waits for messages that are sent to
 * other ranks. */
#include "programs.h"

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periodic[2] = { 1, 1 }, left, right;
    double value, received;
    MPI_Comm grid;
    start(&argc, &argv);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 1, &grid);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Comm_free(&grid);
    value = 1.0 + rank;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, right, 0, &received, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return finish(value * received);
}
