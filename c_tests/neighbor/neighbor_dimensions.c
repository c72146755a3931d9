/* neighbor_dimensions WAY SIDE...: blocking neighborhood collectives with all neighbors around a process in a torus, whose
 * small blocks travel along its dimensions.
 *
 * WAY is what is to be seen: "on", each process sends as many messages to others as there are different distances in
 * each dimension, in the operations whose blocks have one size; "off", a message for each edge; "info", as "on" where
 * the info of the graph says so. Nodes are those of CARTOGRAPH_LAYOUT=NxM. */
#define _GNU_SOURCE
#include "neighbor_combine.h"

static int sides[3] = { 1, 1, 1 };

/* The process at a place of the torus. */
static int at(int x, int y, int z)
{
    x = (x + sides[0]) % sides[0], y = (y + sides[1]) % sides[1], z = (z + sides[2]) % sides[2];
    return (x * sides[1] + y) * sides[2] + z;
}

/* The neighbors around each process, not along sides of one. */
static void moore(struct graph *graph)
{
    graph->edges = 0;
    for (int r = 0; r < world_size; r++)
        for (int step = 0; step < 27; step++) {
            int by[3] = { step / 9 - 1, step / 3 % 3 - 1, step % 3 - 1 }, lies_here = step != 13;
            for (int d = 0; d < 3; d++)
                lies_here &= sides[d] > 1 || by[d] == 0;
            if (lies_here)
                add(graph, r, at(r / (sides[1] * sides[2]) + by[0], r / sides[2] % sides[1] + by[1], r % sides[2] + by[2]));
        }
}

/* The number of messages that each process sends to others. */
static int all_send(int expected)
{
    int sent = 0, least, most;
    for (int node = 0; node < nodes; node++)
        sent += messages[node];
    MPI_Allreduce(&sent, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&sent, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (world_rank == 0 && (least != expected || most != expected))
        fprintf(stderr, "%d to %d messages a process, not %d\n", least, most, expected);
    return least == expected && most == expected;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "off", *setting = !strcmp(way, "info") ? "on" : NULL;
    static struct graph graph;
    struct ends ends;
    int along = 0;
    begin(&argc, &argv);
    find_nodes();
    for (int d = 0; d + 2 < argc && d < 3; d++) {
        sides[d] = atoi(argv[d + 2]);
        along += sides[d] > 2 ? 2 : sides[d] - 1;
    }
    moore(&graph);
    int each = graph.edges / world_size;
    find(&graph, &ends);
    MPI_Comm comm = create(&ends, setting), copy;
    for (int round = 0; round < 3; round++) {
        for (enum operation operation = ALLGATHER; operation < OPERATIONS; operation++) {
            int uniform = operation == ALLGATHER || operation == ALLTOALL;
            CHECK(delivers(comm, &ends, operation, round));
            memset(messages, 0, sizeof messages);
            CHECK(delivers(comm, &ends, operation, 0));
            int combined = uniform && (setting || !strcmp(way, "on"));
            CHECK(all_send(combined ? along : each));
        }
        /* A duplicate is as the original; on Open MPI it delivers, but combines nothing. */
        MPI_Comm_dup(comm, &copy);
#if defined(OMPI_MAJOR_VERSION)
        for (enum operation operation = ALLGATHER; operation < OPERATIONS; operation++)
            CHECK(delivers(copy, &ends, operation, round));
        MPI_Comm_free(&copy);
#else
        MPI_Comm_free(&comm);
        comm = copy;
#endif
    }
    MPI_Comm_free(&comm);
    other_sizes(&ends, setting);
    return finish();
}
