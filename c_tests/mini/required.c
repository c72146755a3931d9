/* The chapter on a host with the required functions only. This program calls nothing of the host except MPI_Init and
 * MPI_Finalize. Runs on any number of processes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, passed, failed;

#define CHECK(condition) check((condition), #condition, __LINE__)

static void check(int holds, const char *condition, int line)
{
    if (holds)
        passed++;
    else {
        failed++;
        fprintf(stderr, "rank %d: required.c:%d: failed: %s\n", rank, line, condition);
    }
}

static void grid(void)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, remain[2] = { 0, 1 };
    int got[3][2], coords[2], kind, found, source, dest, there;
    MPI_Comm comm, sub;

    CHECK(MPI_Dims_create(size, 2, dims) == MPI_SUCCESS && dims[0] * dims[1] == size);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm) == MPI_SUCCESS);
    CHECK(MPI_Comm_rank(comm, &there) == MPI_SUCCESS);
    CHECK(MPI_Topo_test(comm, &kind) == MPI_SUCCESS && kind == MPI_CART);
    CHECK(MPI_Cartdim_get(comm, &found) == MPI_SUCCESS && found == 2);
    CHECK(MPI_Cart_get(comm, 2, got[0], got[1], got[2]) == MPI_SUCCESS);
    CHECK(!memcmp(got[0], dims, sizeof dims) && got[1][0] && !got[1][1]);
    CHECK(got[2][0] == there / dims[1] && got[2][1] == there % dims[1]);
    for (int r = 0; r < size; r++) {
        CHECK(MPI_Cart_coords(comm, r, 2, coords) == MPI_SUCCESS);
        CHECK(coords[0] == r / dims[1] && coords[1] == r % dims[1]);
        CHECK(MPI_Cart_rank(comm, coords, &found) == MPI_SUCCESS && found == r);
    }
    CHECK(MPI_Cart_shift(comm, 0, 1, &source, &dest) == MPI_SUCCESS);
    CHECK(source == (there + size - dims[1]) % size && dest == (there + dims[1]) % size);

    /* Block 2d comes from the previous process in dimension d, which sends it as its block 2d+1. */
    int sent[4], got_blocks[4] = { -1, -1, -1, -1 }, row = got[2][1];
    for (int i = 0; i < 4; i++)
        sent[i] = 10 * there + i;
    CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got_blocks, 1, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(got_blocks[0] == 10 * source + 1 && got_blocks[1] == 10 * dest);
    CHECK(got_blocks[2] == (row > 0 ? 10 * (there - 1) + 3 : -1));
    CHECK(got_blocks[3] == (row < dims[1] - 1 ? 10 * (there + 1) + 2 : -1));

    CHECK(MPI_Cart_sub(comm, remain, &sub) == MPI_SUCCESS);
    CHECK(MPI_Cartdim_get(sub, &found) == MPI_SUCCESS && found == 1);
    CHECK(MPI_Comm_size(sub, &found) == MPI_SUCCESS && found == dims[1]);
    CHECK(MPI_Comm_free(&sub) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
}

/* Each process is a neighbor of itself, and has others. */
static void own_neighbor(void)
{
    int dims[2] = { size, 1 }, periods[2] = { 1, 1 }, got[4] = { -1, -1, -1, -1 }, there, source, dest;
    MPI_Comm comm;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm) == MPI_SUCCESS);
    CHECK(MPI_Comm_rank(comm, &there) == MPI_SUCCESS);
    CHECK(MPI_Cart_shift(comm, 0, 1, &source, &dest) == MPI_SUCCESS);
    CHECK(MPI_Neighbor_allgather(&there, 1, MPI_INT, got, 1, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(got[0] == source && got[1] == dest && got[2] == there && got[3] == there);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
}

static void graph(void)
{
    int *index = malloc(sizeof *index * size), *edges = malloc(sizeof *edges * 2 * size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size, kind, nodes, count, found[2];
    MPI_Comm comm;
    for (int r = 0; r < size; r++) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + size - 1) % size;
        edges[2 * r + 1] = (r + 1) % size;
    }
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm) == MPI_SUCCESS);
    CHECK(MPI_Topo_test(comm, &kind) == MPI_SUCCESS && kind == MPI_GRAPH);
    CHECK(MPI_Graphdims_get(comm, &nodes, &count) == MPI_SUCCESS);
    CHECK(nodes == size && count == 2 * size);
    CHECK(MPI_Graph_neighbors_count(comm, rank, &count) == MPI_SUCCESS && count == 2);
    CHECK(MPI_Graph_neighbors(comm, rank, 2, found) == MPI_SUCCESS);
    CHECK(found[0] == left && found[1] == right);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    free(index);
    free(edges);
}

static void dist_graph(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, one = 1, weight = rank + 7;
    int in, out, weighted, source, dest, weights[2], got = -1, kind;
    MPI_Comm comm;
    /* Each process passes the edge from its left neighbor to itself. */
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &left, &one, &rank, &weight, MPI_INFO_NULL, 0,
                                &comm) == MPI_SUCCESS);
    CHECK(MPI_Topo_test(comm, &kind) == MPI_SUCCESS && kind == MPI_DIST_GRAPH);
    CHECK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) == MPI_SUCCESS);
    CHECK(in == 1 && out == 1 && weighted);
    CHECK(MPI_Dist_graph_neighbors(comm, 1, &source, weights, 1, &dest, weights + 1) == MPI_SUCCESS);
    CHECK(source == left && dest == right);
    CHECK(weights[0] == rank + 7 && weights[1] == right + 7);
    CHECK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(got == left);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);

    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm) == MPI_SUCCESS);
    MPI_Aint nowhere = 0;
    MPI_Datatype type = MPI_INT;
    got = -1;
    CHECK(MPI_Neighbor_alltoallw(&rank, &one, &nowhere, &type, &got, &one, &nowhere, &type, comm)
          == MPI_SUCCESS);
    CHECK(got == left);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
}

/* A host without user-defined codes returns the classes. */
static void wrong(void)
{
    int dims[1] = { size }, periods[1] = { 0 }, coords[1] = { -1 }, found, ints[2];
    MPI_Comm comm;
    MPI_Request request;
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm) == MPI_SUCCESS);
    CHECK(MPI_Cart_rank(comm, coords, &found) == MPI_ERR_ARG);
    CHECK(MPI_Graphdims_get(comm, &found, &found) == MPI_ERR_TOPOLOGY);
    /* A single process waits for no other. */
    if (size > 1)
        CHECK(MPI_Ineighbor_allgather(&rank, 1, MPI_INT, ints, 1, MPI_INT, comm, &request)
              == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Neighbor_allgather_init(&rank, 1, MPI_INT, ints, 1, MPI_INT, comm, MPI_INFO_NULL,
                                      &request) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    /* One process passes a wrong argument, and all get the error. */
    dims[0] += rank == size - 1;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm) == MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    int sums[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    grid();
    own_neighbor();
    graph();
    dist_graph();
    if (argc > 1 && !strcmp(argv[1], "classes"))
        wrong();
    int counts[2] = { passed, failed };
    MPI_Allreduce(counts, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d passed, %d failed\n", sums[0], sums[1]);
    MPI_Finalize();
    return sums[1] != 0;
}
