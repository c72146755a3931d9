/* "An error will occur if nnodes is not a multiple of the product of all dims[i] that are not 0", "negative input
 * values of dims[i] are erroneous", and fixed entries do not change (MPI 5.0, 8.5.2).
 * mpiexec -n 1 ./dims_fixed */
#include "tap.h"

int main(int argc, char **argv)
{
    int multiple[2] = { 4, 0 }, negative[2] = { -1, 0 }, kept[3] = { 0, 3, 0 };
    tap_begin(&argc, &argv);
    tap(MPI_Dims_create(6, 2, multiple) != MPI_SUCCESS, "an error for 6 in 4 x 0");
    tap(MPI_Dims_create(6, 2, negative) != MPI_SUCCESS, "an error for 6 in -1 x 0");
    MPI_Dims_create(12, 3, kept);
    tap(kept[0] == 2 && kept[1] == 3 && kept[2] == 2, "12 in 0 x 3 x 0 is 2 x 3 x 2");
    return tap_end();
}
