/* MPI_TYPE_FREE: "Any communication that is currently using this datatype will complete normally" (MPI 5.0,
 * 5.1.9). A persistent request uses the datatype until the request is freed.
 * mpiexec -n 2 ./freed_datatype */
#include "tap.h"

int main(int argc, char **argv)
{
    int periodic = 1, left, right, sent[8], got[8];
    MPI_Comm ring;
    MPI_Datatype spread;
    MPI_Request request;
    tap_begin(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &tap_size, &periodic, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    for (int i = 0; i < 8; i++)
        sent[i] = 10 * tap_rank + i;
    for (int persistent = 0; persistent <= HAS_PERSISTENT; persistent++) {
        memset(got, -1, sizeof got);
        MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
        MPI_Type_commit(&spread);
        if (!persistent)
            MPI_Ineighbor_allgather(sent, 1, spread, got, 2, MPI_INT, ring, &request);
#ifdef PERSISTENT_COLLECTIVES
        else
            MPI_Neighbor_allgather_init(sent, 1, spread, got, 2, MPI_INT, ring, MPI_INFO_NULL, &request);
#endif
        MPI_Type_free(&spread);
        for (int i = 0; i < 8; i++) {
            /* Another datatype may reuse its memory. */
            MPI_Datatype other;
            MPI_Type_vector(2, 2, 3, MPI_DOUBLE, &other);
            MPI_Type_commit(&other);
        }
        if (persistent)
            MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        tap(got[0] == 10 * left && got[1] == 10 * left + 2 && got[2] == 10 * right && got[3] == 10 * right + 2, "%s",
            persistent ? "MPI_Neighbor_allgather_init" : "MPI_Ineighbor_allgather");
        if (persistent)
            MPI_Request_free(&request);
    }
    return tap_end();
}
