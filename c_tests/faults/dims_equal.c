/* The sizes of dimensions are as close to each other as possible (MPI 4.1, 8.5.2): 72 processes are 9 x 8.
 * mpiexec -n 1 ./dims_equal */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    /* The number of processes, and the right answers. */
    static const int right[][4] = { { 72, 9, 8, 1 }, { 16384, 32, 32, 16 }, { 1536, 16, 12, 8 }, { 2310, 15, 14, 11 } };
    int failed = 0, passed = 0;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        int dims[3] = { 0, 0, 0 }, ndims = right[i][3] == 1 ? 2 : 3;
        MPI_Dims_create(right[i][0], ndims, dims);
        if (dims[0] == right[i][1] && dims[1] == right[i][2] && (ndims == 2 || dims[2] == right[i][3]))
            passed++;
        else {
            failed++;
            printf("%d: %d x %d x %d, not %d x %d x %d\n", right[i][0], dims[0], dims[1], ndims == 2 ? 1 : dims[2],
                   right[i][1], right[i][2], right[i][3]);
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    MPI_Finalize();
    return 0;
}
