/* A dimension and a rank that the grid does not have are errors (MPI 4.1, 8.5.5 and 8.5.6).
 * mpiexec -n 2 ./out_of_range */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, periodic = 0, passed = 0, failed = 0, source = -7, destination = -7, coordinate = -7;
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid);
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
#define WRONG(call) if ((call) == MPI_SUCCESS) { failed++; if (rank == 0) printf("success: %s\n", #call); } else passed++
    WRONG(MPI_Cart_shift(grid, 5, 1, &source, &destination));
    WRONG(MPI_Cart_coords(grid, size, 1, &coordinate));
    if (rank == 0)
        printf("%d passed, %d failed\n", passed, failed);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
