/* A ring of rows in a grid: each process sends its rank to its four neighbors.
 *
 *     mpicc -o halo examples/halo.c
 *     mpiexec -n 4 cartograph exec --report ./halo
 *
 * What makes it safe to be moved: after MPI_Cart_create it uses the new communicator and the rank in it, only. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 1 }, size, rank, got[4], wrong = 0, all_wrong;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, grid);
    for (int dimension = 0; dimension < 2; dimension++) {
        int before, after;
        MPI_Cart_shift(grid, dimension, 1, &before, &after);
        wrong += got[2 * dimension] != before || got[2 * dimension + 1] != after;
    }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, grid);
    if (rank == 0)
        printf("a grid of %d x %d, %d wrong\n", dims[0], dims[1], all_wrong);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return rank == 0 && all_wrong > 0;
}
