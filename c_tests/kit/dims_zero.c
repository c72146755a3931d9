/* Zero processes cause an error, not an endless loop (MPI 5.0, 8.5.2: nnodes is a positive integer).
 * mpiexec -n 1 ./dims_zero */
#include "tap.h"

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 };
    tap_begin(&argc, &argv);
    tap(MPI_Dims_create(0, 2, dims) != MPI_SUCCESS, "an error for no processes");
    return tap_end();
}
