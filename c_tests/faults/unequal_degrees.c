/* A process with one neighbor that it receives from and two that it sends to: a list has as many entries as there are
 * neighbors on its own side (MPI 4.1, 8.6).
 * mpiexec -n 3 ./unequal_degrees */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, failed = 0, passed = 0;
    MPI_Comm graph;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* Rank 0 sends to all others, and only rank 1 sends something to it. */
    int others[64], one[1] = { 1 }, zero[1] = { 0 }, back = rank == 1;
    for (int i = 1; i < size; i++)
        others[i - 1] = i;
    if (rank == 0)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, one, MPI_UNWEIGHTED, size - 1, others, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &graph);
    else
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, zero, MPI_UNWEIGHTED, back, zero, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &graph);
    int sent[64], got[2], counts[64], displs[64];
    MPI_Aint places[64];
    MPI_Datatype types[64];
    for (int i = 0; i < 64; i++) {
        sent[i] = 100 * rank + i;
        counts[i] = 1;
        displs[i] = i;
        places[i] = i * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    int expected = rank == 0 ? 100 : rank - 1;
#define CHECK(name) if (got[0] == expected && got[1] == -1) passed++; else { failed++; \
    printf(name ": got %d %d, not %d -1\n", got[0], got[1], expected); }
    got[0] = got[1] = -1;
    MPI_Neighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, graph);
    CHECK("MPI_Neighbor_alltoallv");
    got[0] = got[1] = -1;
    MPI_Ineighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, graph, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK("MPI_Ineighbor_alltoallv");
    got[0] = got[1] = -1;
    MPI_Neighbor_alltoallw(sent, counts, places, types, got, counts, places, types, graph);
    CHECK("MPI_Neighbor_alltoallw");
    got[0] = got[1] = -1;
    MPI_Ineighbor_alltoallw(sent, counts, places, types, got, counts, places, types, graph, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK("MPI_Ineighbor_alltoallw");
    MPI_Comm_free(&graph);
    int own[2] = { passed, failed }, all[2];
    MPI_Reduce(own, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d passed, %d failed\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
