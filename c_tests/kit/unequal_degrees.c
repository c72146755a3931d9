/* A list of counts, displacements or datatypes has an entry for each neighbor on its side: lists for receives have
 * the length indegree, the others outdegree (MPI 5.0, 8.6).
 * mpiexec -n 3 ./unequal_degrees */
#include "tap.h"

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    int others[MOST], sent[MOST], got[2], counts[MOST], displs[MOST];
    MPI_Aint places[MOST];
    MPI_Datatype types[MOST];
    MPI_Comm graph;
    MPI_Request request;
    tap_begin(&argc, &argv);
    /* Rank 0 sends to all others; only rank 1 sends to rank 0. */
    int one[1] = { 1 }, zero[1] = { 0 }, is_root = tap_rank == 0;
    for (int i = 1; i < tap_size; i++)
        others[i - 1] = i;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, is_root ? one : zero, MPI_UNWEIGHTED,
                                   is_root ? tap_size - 1 : tap_rank == 1, is_root ? others : zero, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    for (int i = 0; i < MOST; i++) {
        sent[i] = 100 * tap_rank + i, counts[i] = 1, displs[i] = i;
        places[i] = i * (MPI_Aint)sizeof(int), types[i] = MPI_INT;
    }
    int expected = is_root ? 100 : tap_rank - 1;
#define TRY(name, call)                                                                                                 \
    got[0] = got[1] = -1, request = MPI_REQUEST_NULL, call, MPI_Wait(&request, MPI_STATUS_IGNORE);                      \
    tap(got[0] == expected && got[1] == -1, name)
    TRY("MPI_Neighbor_alltoallv",
        MPI_Neighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, graph));
    TRY("MPI_Ineighbor_alltoallv",
        MPI_Ineighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, graph, &request));
    TRY("MPI_Neighbor_alltoallw", MPI_Neighbor_alltoallw(sent, counts, places, types, got, counts, places, types, graph));
    TRY("MPI_Ineighbor_alltoallw",
        MPI_Ineighbor_alltoallw(sent, counts, places, types, got, counts, places, types, graph, &request));
    MPI_Comm_free(&graph);
    return tap_end();
}
