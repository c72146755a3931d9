/* Ranks pass different sizes of a grid, which must be identical on all (MPI 5.0, 8.4): each rank gets an error; the
 * ranks neither hang nor create two grids in one. The standard requires no error. mpiexec -n 4 ./grids_differ */
#include "tap.h"

int main(int argc, char **argv)
{
    int periodic = 0;
    MPI_Comm old, grid;
    tap_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &old);
    int dims = tap_rank == tap_size - 1 ? tap_size - 1 : tap_size;
    tap(MPI_Cart_create(old, 1, &dims, &periodic, 0, &grid) != MPI_SUCCESS, "an error on each rank");
    MPI_Comm_free(&old);
    return tap_end();
}
