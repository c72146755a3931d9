/* A dimension or a rank out of range is an error, and so are coordinates out of range in a dimension that is not
 * periodic (MPI 5.0, 8.5.5 and 8.5.6).
 * mpiexec -n 2 ./out_of_range */
#include "tap.h"

int main(int argc, char **argv)
{
    int periodic = 0, source, destination, coordinate, outside = -1, rank;
    MPI_Comm grid;
    tap_begin(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &tap_size, &periodic, 0, &grid);
    tap(MPI_Cart_shift(grid, 5, 1, &source, &destination) != MPI_SUCCESS, "MPI_Cart_shift in dimension 5 of 1");
    tap(MPI_Cart_coords(grid, tap_size, 1, &coordinate) != MPI_SUCCESS, "MPI_Cart_coords of rank %d of %d", tap_size, tap_size);
    tap(MPI_Cart_rank(grid, &outside, &rank) != MPI_SUCCESS, "MPI_Cart_rank at -1, not periodic");
    MPI_Comm_free(&grid);
    return tap_end();
}
