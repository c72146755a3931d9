/* "The dimensions are set to be as close to each other as possible, using an appropriate divisibility algorithm"
 * (MPI 5.0, 8.5.2): 72 processes are 9 x 8.
 * mpiexec -n 1 ./dims_equal */
#include "tap.h"

int main(int argc, char **argv)
{
    /* The number of processes, and the expected results. */
    static const int right[][4] = { { 72, 9, 8, 1 }, { 16384, 32, 32, 16 }, { 1536, 16, 12, 8 }, { 2310, 15, 14, 11 } };
    tap_begin(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        int dims[3] = { 0, 0, 0 }, ndims = right[i][3] == 1 ? 2 : 3;
        MPI_Dims_create(right[i][0], ndims, dims);
        tap(!memcmp(dims, right[i] + 1, (size_t)ndims * sizeof(int)), "%d in %d dimensions", right[i][0], ndims);
    }
    return tap_end();
}
