/* Writes a file by old ranks; its output is right. */
#include "programs.h"

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periodic[2] = { 1, 1 }, own, *all;
    MPI_Comm grid;
    start(&argc, &argv);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 1, &grid);
    MPI_Comm_rank(grid, &own);
    all = malloc(size * sizeof *all);
    MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        FILE *file = fopen("result.bin", "wb");
        if (!file || fwrite(all, sizeof *all, size, file) != (size_t)size || fclose(file))
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    free(all);
    return finish(own);
}
