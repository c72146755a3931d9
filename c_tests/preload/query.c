/* A local query, called many times for counting; prints the number of calls. */
#include <mpi.h>
#include <stdio.h>

enum { CALLS = 20000 };

__attribute__((noinline)) void query(MPI_Comm grid)
{
    int coords[3] = { 0, 0, 0 }, rank;
    for (int call = 0; call < CALLS; call++)
        MPI_Cart_rank(grid, coords, &rank);
}

int main(int argc, char **argv)
{
    int dims[3] = { 1, 1, 1 }, periods[3] = { 1, 1, 1 }, coords[3] = { 0, 0, 0 }, rank;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_SELF, 3, dims, periods, 0, &grid);
    /* The first call resolves the name. */
    MPI_Cart_rank(grid, coords, &rank);
    query(grid);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    printf("%d\n", CALLS);
    return 0;
}
