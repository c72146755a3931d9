/* No processes are no grid: an error, not an endless loop.
 * mpiexec -n 1 ./dims_zero */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, right;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    right = MPI_Dims_create(0, 2, dims) != MPI_SUCCESS;
    if (!right)
        printf("success, and %d x %d\n", dims[0], dims[1]);
    printf("%d passed, %d failed\n", right, !right);
    MPI_Finalize();
    return 0;
}
