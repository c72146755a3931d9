/* A large prime number of processes has an answer as well.
 * mpiexec -n 1 ./dims_prime */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, right;

    MPI_Init(&argc, &argv);
    MPI_Dims_create(2147483647, 2, dims);
    right = dims[0] == 2147483647 && dims[1] == 1;
    if (!right)
        printf("%d x %d, not 2147483647 x 1\n", dims[0], dims[1]);
    printf("%d passed, %d failed\n", right, !right);
    MPI_Finalize();
    return 0;
}
