/* Results that depend on the ranks of a grid, including those of a message and of a neighborhood collective, for tools
 * used with Cartograph: c_tests/tool/stacked_tool.c prints the calls that it saw. */
#include "../check.h"

int main(int argc, char **argv)
{
    int dims[1], periods[1] = { 1 }, rank, blocks[2], around[2], left, right, got, sums[2];
    MPI_Comm ring;
    MPI_Request request;
    MPI_File file;

    begin(&argc, &argv);
    dims[0] = world_size;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &ring) == MPI_SUCCESS);
    MPI_Comm_rank(ring, &rank);
    left = (rank + world_size - 1) % world_size;
    right = (rank + 1) % world_size;
    blocks[0] = 2 * rank;
    blocks[1] = 2 * rank + 1;
    for (int round = 0; round < 3; round++) {
        CHECK(MPI_Neighbor_alltoall(blocks, 1, MPI_INT, around, 1, MPI_INT, ring) == MPI_SUCCESS);
        CHECK(around[0] == 2 * left + 1 && around[1] == 2 * right);
    }
    MPI_Isend(&rank, 1, MPI_INT, right, 7, ring, &request);
    MPI_Recv(&got, 1, MPI_INT, left, 7, ring, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == left);
    sums[0] = rank * around[0];
    sums[1] = rank * got;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM, ring);
    /* MPI-IO, which Darshan traces, on a new communicator. */
    if (argc > 1) {
        CHECK(MPI_File_open(ring, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
        CHECK(MPI_File_write_at_all(file, rank * sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_File_read_at_all(file, right * sizeof rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_File_close(&file) == MPI_SUCCESS && got == right);
    }
    if (world_rank == 0)
        say("answers: %d %d\n", sums[0], sums[1]);
    MPI_Comm_free(&ring);
    return finish();
}
