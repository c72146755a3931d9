/* A large prime number of processes has a result (MPI 5.0, 8.5.2).
 * mpiexec -n 1 ./dims_prime */
#include "tap.h"

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 };
    tap_begin(&argc, &argv);
    MPI_Dims_create(2147483647, 2, dims);
    tap(dims[0] == 2147483647 && dims[1] == 1, "2147483647 in 2 dimensions");
    return tap_end();
}
