/* Calls each function of the chapter a different number of times, and prints these numbers: the expected counts of a
 * tool. Runs on any number of processes. */
#include "../check.h"

enum { MOST = 32 };
static struct {
    const char *name;
    int times;
} called[MOST];

/* Calls MPI_name `times` times, checks each return code, and adds to the total. */
#define CALLS(times, name, arguments)                                                              \
    do {                                                                                           \
        for (int call_ = 0; call_ < (times); call_++)                                              \
            CHECK(MPI_##name arguments == MPI_SUCCESS);                                            \
        note("MPI_" #name, times);                                                                 \
    } while (0)

static void note(const char *name, int times)
{
    int i = 0;
    while (called[i].name && strcmp(called[i].name, name))
        i++;
    called[i].name = name;
    called[i].times += times;
}

/* Creates a communicator by a constructor again and again, and frees each. */
#define MAKES(times, comm, name, arguments)                                                        \
    for (int make_ = 0; make_ < (times); make_++) {                                                \
        if (make_)                                                                                 \
            MPI_Comm_free(&comm);                                                                  \
        CALLS(1, name, arguments);                                                                 \
    }

static void cart(void)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, remain[2] = { 0, 1 }, coords[2], ndims, rank, kind;
    int source, dest;
    MPI_Comm comm, sub;

    CALLS(1, Dims_create, (world_size, 2, dims));
    MAKES(2, comm, Cart_create, (MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
    CALLS(3, Cartdim_get, (comm, &ndims));
    CHECK(ndims == 2);
    CALLS(4, Cart_get, (comm, 2, dims, periods, coords));
    CHECK(dims[0] * dims[1] == world_size && periods[0] == 1 && periods[1] == 0);
    CALLS(5, Cart_rank, (comm, coords, &rank));
    CHECK(rank == world_rank);
    CALLS(6, Cart_coords, (comm, 0, 2, coords));
    CHECK(coords[0] == 0 && coords[1] == 0);
    CALLS(7, Cart_shift, (comm, 0, dims[0], &source, &dest));
    CHECK(source == world_rank && dest == world_rank);
    MAKES(8, sub, Cart_sub, (comm, remain, &sub));
    CALLS(9, Topo_test, (sub, &kind));
    CHECK(kind == MPI_CART);
    CALLS(10, Cart_map, (MPI_COMM_WORLD, 2, dims, periods, &rank));
    CHECK(rank >= 0 && rank < world_size);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&comm);
}

/* A ring in which each node has an edge to the next. */
static void graph(void)
{
    int *index = malloc(world_size * sizeof *index), *edges = malloc(world_size * sizeof *edges);
    int nnodes, nedges, count, neighbor, rank;
    MPI_Comm comm;
    for (int i = 0; i < world_size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % world_size;
    }
    MAKES(11, comm, Graph_create, (MPI_COMM_WORLD, world_size, index, edges, 0, &comm));
    CALLS(12, Graphdims_get, (comm, &nnodes, &nedges));
    CHECK(nnodes == world_size && nedges == world_size);
    CALLS(13, Graph_get, (comm, nnodes, nedges, index, edges));
    CHECK(index[0] == 1 && edges[world_size - 1] == 0);
    CALLS(14, Graph_neighbors_count, (comm, 0, &count));
    CHECK(count == 1);
    CALLS(15, Graph_neighbors, (comm, world_size - 1, 1, &neighbor));
    CHECK(neighbor == 0);
    CALLS(16, Graph_map, (MPI_COMM_WORLD, world_size, index, edges, &rank));
    CHECK(rank >= 0 && rank < world_size);
    MPI_Comm_free(&comm);
    free(index);
    free(edges);
}

static void dist_graph(void)
{
    int from = (world_rank + world_size - 1) % world_size, to = (world_rank + 1) % world_size;
    int weight = 7, one = 1, in, out, weighted, source, sourceweight, dest, destweight;
    MPI_Comm comm;
    MAKES(17, comm, Dist_graph_create,
          (MPI_COMM_WORLD, 1, &world_rank, &one, &to, &weight, MPI_INFO_NULL, 0, &comm));
    CALLS(18, Dist_graph_neighbors_count, (comm, &in, &out, &weighted));
    CHECK(in == 1 && out == 1 && weighted);
    MPI_Comm_free(&comm);
    MAKES(19, comm, Dist_graph_create_adjacent,
          (MPI_COMM_WORLD, 1, &from, &weight, 1, &to, &weight, MPI_INFO_NULL, 0, &comm));
    CALLS(20, Dist_graph_neighbors, (comm, 1, &source, &sourceweight, 1, &dest, &destweight));
    CHECK(source == from && dest == to && sourceweight == 7 && destweight == 7);
    MPI_Comm_free(&comm);
}

/* A result of Cartograph only: Open MPI 4 returns 12 x 6, and MPICH divides by zero. */
static void ours(void)
{
    int dims[2] = { 0, 0 };
    CALLS(19, Dims_create, (72, 2, dims));
    CHECK(dims[0] == 9 && dims[1] == 8);
    dims[0] = dims[1] = 0;
    CALLS(1, Dims_create, (2147483647, 2, dims));
    CHECK(dims[0] == 2147483647 && dims[1] == 1);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    cart();
    graph();
    dist_graph();
    ours();
    for (int i = 0; i < MOST && called[i].name; i++)
        say("called: %s %d\n", called[i].name, called[i].times);
    return finish();
}
