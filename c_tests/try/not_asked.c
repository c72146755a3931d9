/* Passes reorder = 0 and relies on it, like CP2K: it aborts if the grid is reordered. */
#include "programs.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periodic[2] = { 1, 1 }, own;
    MPI_Comm grid;
    start(&argc, &argv);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
    MPI_Comm_rank(grid, &own);
    if (own != rank) {
        fprintf(stderr, "Got different MPI process grid\n");
        /* Launchers may lose output written just before an abort. */
        sleep(1);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return finish(own);
}
