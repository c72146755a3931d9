/* neighbor_combine WAY: blocking neighborhood collectives whose small blocks go from node to node in one message.
 *
 * Nodes are those of CARTOGRAPH_LAYOUT=NxM. WAY is what is to be seen: "on", one message from node to node where
 * processes have three edges to a node or more; "off", one for each edge; "info", as "on" where the info of a
 * distributed graph says so; "differ", as "off" since rank 1 does not combine. */
#define _GNU_SOURCE
#include "neighbor_combine.h"

/* Half of the neighbors around each process in a torus, those at odd places. */
static void box(struct graph *graph)
{
    int dims[3] = { 0 };
    graph->edges = 0;
    MPI_Dims_create(world_size, 3, dims);
    int x = dims[0], y = dims[1], z = dims[2];
    for (int r = 0; r < world_size; r++)
        for (int step = 0; step < 27; step++) {
            int a = r / (y * z) + step / 9 - 1, b = r / z % y + step / 3 % 3 - 1, c = r % z + step % 3 - 1;
            if (step != 13 && step % 2)
                add(graph, r, ((a + x) % x * y + (b + y) % y) * z + (c + z) % z);
        }
}

/* One edge to the next process of each other node: processes have one edge to a node. */
static void sparse(struct graph *graph)
{
    graph->edges = 0;
    for (int r = 0; r < world_size; r++)
        for (int node = 1; node < nodes; node++)
            add(graph, r, (r + node * ppn) % world_size);
}

/* Edges of the first process to all and back, twice; all others have no more. */
static void star(struct graph *graph)
{
    graph->edges = 0;
    for (int twice = 0; twice < 2; twice++)
        for (int r = 0; r < world_size - 1; r++)
            add(graph, 0, r), add(graph, r, 0);
}

/* Messages between nodes in a collective, as many as there are to be: `edges` are those from node to node. */
static int as_expected(const char *way, const struct graph *graph, int uniform)
{
    static int all[MOST * MOST];
    int edges[MOST * MOST] = { 0 }, good = 1;
    static char sends[MOST][MOST], receives[MOST][MOST];
    memset(sends, 0, sizeof sends), memset(receives, 0, sizeof receives);
    MPI_Allgather(messages, nodes, MPI_INT, all, nodes, MPI_INT, MPI_COMM_WORLD);
    for (int e = 0; e < graph->edges; e++) {
        int from = graph->from[e], to = graph->to[e];
        edges[from / ppn * nodes + to / ppn]++;
        sends[from][to / ppn] = receives[to][from / ppn] = 1;
    }
    for (int from = 0; from < nodes; from++)
        for (int to = 0; to < nodes; to++) {
            int sent = 0, expected = edges[from * nodes + to], senders = 0, receivers = 0;
            for (int i = 0; i < ppn; i++) {
                sent += all[(from * ppn + i) * nodes + to];
                senders += sends[from * ppn + i][to], receivers += receives[to * ppn + i][from];
            }
            int pays = expected >= 3 * senders && expected >= 3 * receivers;
            if ((!strcmp(way, "on") || !strcmp(way, "info")) && uniform && pays)
                expected = expected > 0;
            if (from != to && sent != expected) {
                good = 0;
                if (world_rank == 0)
                    fprintf(stderr, "%d messages from node %d to node %d, not %d\n", sent, from, to, expected);
            }
        }
    return good;
}

static void play(const char *way, void (*make)(struct graph *))
{
    static struct graph graph;
    struct ends ends;
    make(&graph);
    find(&graph, &ends);
    MPI_Comm comm = create(&ends, !strcmp(way, "info") ? "on" : NULL), copy;
    for (int round = 0; round < 3; round++) {
        for (enum operation operation = ALLGATHER; operation < OPERATIONS; operation++) {
            int uniform = operation == ALLGATHER || operation == ALLTOALL;
            CHECK(delivers(comm, &ends, operation, round));
            memset(messages, 0, sizeof messages);
            CHECK(delivers(comm, &ends, operation, uniform && round ? MOST_COMBINED : 0));
            CHECK(as_expected(way, &graph, uniform));
            memset(messages, 0, sizeof messages);
            CHECK(delivers(comm, &ends, operation, uniform ? NOT_COMBINED : 0));
            CHECK(as_expected(way, &graph, 0));
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
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "off";
    static struct graph graph;
    struct ends ends;
    begin(&argc, &argv);
    find_nodes();
    if (!strcmp(way, "differ") && world_rank == 1)
        setenv("CARTOGRAPH_COMBINE", "off", 1);
    play(way, box);
    play(way, sparse);
    play(way, star);
    box(&graph), find(&graph, &ends);
    other_sizes(&ends, !strcmp(way, "info") ? "on" : NULL);
    return finish();
}
