/* The cost of creating a communicator with a topology: MPI_Comm_split, the base of all others, a periodic grid, a
 * ring as a graph, and a ring as a distributed graph.
 *
 * Prints the seconds of each on the slowest rank, and the bytes allocated while the communicators live, divided by
 * the ranks: all ranks must be in one process, like on SMPI. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { SPLIT, CART, GRAPH, DIST_GRAPH, KINDS };

static const char *const names[KINDS] = { "split", "cart", "graph", "dist_graph" };

/* Walks the heap, which all ranks share; called by one rank. */
static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static MPI_Comm create(enum kind kind, int rank, int size, const int *index, const int *edges)
{
    MPI_Comm made = MPI_COMM_NULL;
    int dims[3] = { 0, 0, 0 }, periods[3] = { 1, 1, 1 };
    int before = (rank + size - 1) % size, after = (rank + 1) % size;
    int near[2] = { before, after }, weights[2] = { 1, 1 };
    switch (kind) {
    case SPLIT:
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
        break;
    case CART:
        MPI_Dims_create(size, 3, dims);
        MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &made);
        break;
    case GRAPH:
        MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &made);
        break;
    default:
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, near, weights, 2, near, weights,
                                       MPI_INFO_NULL, 0, &made);
    }
    return made;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *index = malloc(size * sizeof *index), *edges = malloc(2 * size * sizeof *edges);
    for (int node = 0; node < size; node++) {
        index[node] = 2 * node + 2;
        edges[2 * node] = (node + size - 1) % size;
        edges[2 * node + 1] = (node + 1) % size;
    }
    for (int kind = SPLIT; kind < KINDS; kind++) {
        double taken = 0, longest;
        size_t before = 0, after = 0;
        /* The first round includes one-time costs. */
        for (int round = 0; round < 2; round++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0)
                before = allocated();
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = MPI_Wtime();
            MPI_Comm made = create(kind, rank, size, index, edges);
            taken = MPI_Wtime() - begin;
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0)
                after = allocated();
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Comm_free(&made);
        }
        MPI_Reduce(&taken, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s %.9f %.0f\n", names[kind], longest, ((double)after - (double)before) / size);
    }
    free(index);
    free(edges);
    MPI_Finalize();
    return 0;
}
