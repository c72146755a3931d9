/* Wrong calls that end the program. The case `fatal` reads their stderr.
 *
 * errors_fatal local       a local call on one rank only
 * errors_fatal collective  a collective call, with wrong arguments on one rank only
 * errors_fatal null        a call on MPI_COMM_NULL
 * errors_fatal nowhere     a call that has no communicator
 * errors_fatal before      a call before MPI_Init, after a right one
 * errors_fatal after       a call after MPI_Finalize, after a right one
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* A valid call that needs no MPI_Init; then a wrong one. */
static void dims_without_mpi(void)
{
    int dims[2] = { 0, 0 };
    if (MPI_Dims_create(6, 2, dims) != MPI_SUCCESS || dims[0] != 3 || dims[1] != 2)
        printf("not 3 x 2\n");
    else
        printf("3 x 2\n");
    fflush(stdout);
    MPI_Dims_create(0, 2, dims);
    printf("survived\n");
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    int rank, size, dims[2] = { -3, 0 }, periods[2] = { 0, 0 }, coords[2] = { 0, 5 };
    MPI_Comm cart;

    if (strcmp(way, "before") == 0) {
        dims_without_mpi();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(way, "local") == 0) {
        dims[0] = size, dims[1] = 1;
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
        if (rank == size - 1)
            MPI_Cart_rank(cart, coords, &rank);
        /* The other ranks wait for a rank that never arrives. */
        MPI_Barrier(cart);
    } else if (strcmp(way, "collective") == 0) {
        dims[0] = rank == size - 1 ? size + 1 : size, dims[1] = 1;
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    } else if (strcmp(way, "null") == 0) {
        MPI_Cart_rank(MPI_COMM_NULL, coords, &rank);
    } else if (strcmp(way, "nowhere") == 0) {
        MPI_Dims_create(6, 2, dims);
    } else if (strcmp(way, "after") == 0) {
        MPI_Finalize();
        dims_without_mpi();
        return 0;
    }
    printf("survived\n");
    MPI_Finalize();
    return 0;
}
