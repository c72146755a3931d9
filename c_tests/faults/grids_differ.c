/* Ranks that pass different sizes of one grid: an error on each, neither a hang nor two grids in one.
 * mpiexec -n 4 ./grids_differ */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, code, failures, periodic = 0;
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int dims = rank == size - 1 ? size - 1 : size;
    code = MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &grid);
    int success = code == MPI_SUCCESS;
    MPI_Allreduce(&success, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        if (failures)
            printf("%d of %d ranks got a communicator\n", failures, size);
        printf("%d passed, %d failed\n", failures == 0, failures > 0);
    }
    MPI_Finalize();
    return 0;
}
