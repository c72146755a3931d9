/* The host refuses a message in the middle of a blocking collective: later collectives on the communicator fail,
 * and never deliver the remaining messages. */
#define _GNU_SOURCE
#include "../check.h"

#include <dlfcn.h>

/* Intercepts a function of the host, whose n-th call fails. */
static int fails_in = -1;

int PMPI_Isend(const void *buffer, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    static int (*host)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    if (!host)
        *(void **)&host = dlsym(RTLD_NEXT, "PMPI_Isend");
    if (fails_in >= 0 && fails_in-- == 0)
        return MPI_ERR_OTHER;
    return host(buffer, number, type, to, tag, comm, request);
}

int main(int argc, char **argv)
{
    const int periodic = 1;
    int sent[2] = { 1, 2 }, got[2] = { -1, -1 }, class;
    MPI_Comm comm;
    begin(&argc, &argv);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &comm) == MPI_SUCCESS);
    CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(got[0] == 2 && got[1] == 1);
    fails_in = 0;
    sent[0] = 3, sent[1] = 4;
    MPI_Error_class(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm), &class);
    CHECK(class == MPI_ERR_OTHER && fails_in == -1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        MPI_Error_class(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm), &class);
        CHECK(class == MPI_ERR_COMM);
    }
    MPI_Comm_free(&comm);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &comm) == MPI_SUCCESS);
    CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(got[0] == 4 && got[1] == 3);
    MPI_Comm_free(&comm);
    return finish();
}
