/* Messages of collectives are separate from those of the program (MPI 5.0, 6.1): a receive from any source does
 * not match a message of a neighborhood collective.
 * mpiexec -n 1 ./any_source */
#include "tap.h"

int main(int argc, char **argv)
{
    int periodic = 1, sent[2] = { 1, 2 }, got[2] = { -1, -1 }, mine = -1, flag = 0;
    MPI_Comm ring;
    MPI_Request any, request;
    MPI_Status status;
    tap_begin(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &tap_size, &periodic, 0, &ring);
    MPI_Irecv(&mine, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, ring, &any);
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring, &request);
    /* The library may need calls for progress, but not a matching receive. */
    for (int i = 0; i < 1000 && !flag; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    tap(mine == -1, "the receive waits");
    tap(flag, "MPI_Ineighbor_alltoall is complete");
    MPI_Cancel(&any);
    MPI_Wait(&any, &status);
    return tap_end();
}
