/* A program that frees nothing. */
#include "neighbor_calls.h"

int main(int argc, char **argv)
{
    static const int periods[2] = { 1, 1 };
    int sent[8] = { 0 }, got[8];
    begin(&argc, &argv);
    const int dims[2] = { world_size, 1 };
    MPI_Comm comm;
    MPI_Request request;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm) == MPI_SUCCESS);
    for (int i = 0; i < 3; i++) {
        CHECK(MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, comm) == MPI_SUCCESS);
        CHECK(MPI_Ineighbor_alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, comm, &request) == MPI_SUCCESS);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Neighbor_alltoall_init(sent, 2, MPI_INT, got, 2, MPI_INT, comm, MPI_INFO_NULL, &request)
              == MPI_SUCCESS);
        CHECK(MPI_Start(&request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        MPI_Request_free(&request);
    }
    return finish();
}
