/* Creates a grid on a grid, and assumes equal ranks in both, like EPOCH: it works as long as grids of grids keep
 * their ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, again, moved, size, dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, wrong = 0;
    MPI_Comm grid, line;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_create(grid, 1, &size, periods, 1, &line);
    MPI_Comm_rank(line, &again);
    moved = rank != again;
    MPI_Reduce(&moved, &wrong, 1, MPI_INT, MPI_SUM, 0, line);
    if (again == 0)
        printf("%d processes have two ranks\n", wrong);
    MPI_Comm_free(&line);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
