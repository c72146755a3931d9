/* Several edges between two processes are allowed, and edges of a process to itself: each edge has its block, in
 * the order of the lists (MPI 5.0, 8.5.4 and 8.6).
 * mpiexec -n 2 ./repeated_edges */
#include "tap.h"

int main(int argc, char **argv)
{
    int got[5], counts[5] = { 1, 1, 1, 1, 1 }, displs[5] = { 0, 1, 2, 3, 4 }, in, out, weighted;
    MPI_Aint places[5];
    MPI_Datatype types[5];
    MPI_Comm graph;
    MPI_Request request;
    tap_begin(&argc, &argv);
    int next = (tap_rank + 1) % tap_size, last = (tap_rank + tap_size - 1) % tap_size;
    int to[5] = { next, next, tap_rank, next, tap_rank }, from[5] = { last, last, tap_rank, last, tap_rank };
    int sent[5], expected[5];
    for (int i = 0; i < 5; i++) {
        sent[i] = 10 * tap_rank + i, expected[i] = 10 * from[i] + i;
        places[i] = i * (MPI_Aint)sizeof(int), types[i] = MPI_INT;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 5, from, MPI_UNWEIGHTED, 5, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    tap(in == 5 && out == 5 && !weighted, "MPI_Dist_graph_neighbors_count counts each");
#define TRY(name, call)                                                                                                 \
    memset(got, -1, sizeof got), request = MPI_REQUEST_NULL, call, MPI_Wait(&request, MPI_STATUS_IGNORE);               \
    tap(!memcmp(got, expected, sizeof got), name)
    TRY("MPI_Neighbor_alltoall", MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, graph));
    TRY("MPI_Ineighbor_alltoall", MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, graph, &request));
    TRY("MPI_Neighbor_alltoallv",
        MPI_Neighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, graph));
    TRY("MPI_Ineighbor_alltoallv",
        MPI_Ineighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, graph, &request));
    TRY("MPI_Neighbor_alltoallw", MPI_Neighbor_alltoallw(sent, counts, places, types, got, counts, places, types, graph));
    TRY("MPI_Ineighbor_alltoallw",
        MPI_Ineighbor_alltoallw(sent, counts, places, types, got, counts, places, types, graph, &request));
    return tap_end();
}
