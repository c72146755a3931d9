/* One of two programs of one job. Some processes may lack the library, or load it only later: messages of the program
 * must arrive, from its first collective on MPI_COMM_WORLD on, and each program must have its own grid. The other
 * program may be c_tests/fortran/reorder/coupled.f90.
 *
 * coupled.c NUMBER [pmpi]: the number of the program, and whether it starts with PMPI_Init. */
#include "../check.h"

int main(int argc, char **argv)
{
    int number = argc > 1 ? atoi(argv[1]) : 0, value, sum;
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, kind, own, own_size, source, dest, got = -1;
    MPI_Comm part, grid;

    if (argc > 2 && !strcmp(argv[2], "pmpi"))
        PMPI_Init(&argc, &argv);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);

    value = world_rank == 0 ? 77 : 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(value == 77);
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == world_size * (world_size - 1) / 2);

    MPI_Comm_split(MPI_COMM_WORLD, number, world_rank, &part);
    MPI_Comm_size(part, &own_size);
    MPI_Dims_create(own_size, 2, dims);
    CHECK(MPI_Cart_create(part, 2, dims, periods, 1, &grid) == MPI_SUCCESS);
    CHECK(MPI_Topo_test(grid, &kind) == MPI_SUCCESS && kind == MPI_CART);
    MPI_Comm_rank(grid, &own);
    MPI_Cart_shift(grid, 0, 1, &source, &dest);
    MPI_Sendrecv(&own, 1, MPI_INT, dest, 3, &got, 1, MPI_INT, source, 3, grid, MPI_STATUS_IGNORE);
    CHECK(got == source);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&part);

    value = world_rank == world_size - 1 ? 78 : 0;
    MPI_Bcast(&value, 1, MPI_INT, world_size - 1, MPI_COMM_WORLD);
    CHECK(value == 78);
    MPI_Finalize();
    printf("program %d: %d passed, %d failed\n", number, checks_passed, checks_failed);
    return checks_failed != 0;
}
