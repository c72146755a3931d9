/* A grid whose ranks may be reordered: mpicc -o stencil stencil.c */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int size, rank, device, dims[2] = { 0, 0 }, periods[2] = { 0, 1 }, at[2];
    int cell[4], halo[4], near, wrong = 0, all_wrong;
    MPI_Comm node, grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    /* The launcher has bound this process, so its device follows from MPI_COMM_WORLD. */
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &device);

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank); /* the only rank from here on */
    MPI_Cart_coords(grid, rank, 2, at);

    /* Data depends on coordinates, not on a rank from before. */
    for (int i = 0; i < 4; i++) {
        cell[i] = at[0] * dims[1] + at[1];
        halo[i] = -1;
    }
    MPI_Neighbor_alltoall(cell, 1, MPI_INT, halo, 1, MPI_INT, grid);

    for (int d = 0; d < 2; d++)
        for (int side = 0; side < 2; side++) {
            int to[2] = { at[0], at[1] };
            to[d] += 2 * side - 1;
            to[1] = (to[1] + dims[1]) % dims[1];
            near = to[0] < 0 || to[0] == dims[0] ? -1 : to[0] * dims[1] + to[1];
            wrong += halo[2 * d + side] != near;
        }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, grid);
    if (rank == 0) /* of the grid: this process also writes its files */
        printf("a grid of %d x %d, %d wrong\n", dims[0], dims[1], all_wrong);
    MPI_Finalize();
    return 0;
}
