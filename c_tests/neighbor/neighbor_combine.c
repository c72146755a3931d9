/* neighbor_combine WAY: blocking neighborhood collectives whose small blocks go from node to node in one message.
 * What arrives is compared with what the edges say, and the messages of the library between nodes are counted: it
 * calls PMPI_Isend and PMPI_Sendrecv, which are this program's here and hand on to the MPI's.
 *
 * Nodes are those of CARTOGRAPH_LAYOUT=NxM. WAY is what is to be seen: "always", one message from node to node
 * wherever there is an edge; "on", only where processes have four edges to a node or more; "off", one for each edge;
 * "info", as "always" where the info of a distributed graph says so; "differ", as "off" since rank 1 does not
 * combine. */
#define _GNU_SOURCE
#include "neighbor_calls.h"

#include <dlfcn.h>

enum { MOST = 64, LARGEST = 1500 };

static int ppn, nodes, messages[MOST];

static void count(MPI_Comm comm, int to)
{
    MPI_Group group, world;
    int rank;
    MPI_Comm_group(comm, &group), MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &to, world, &rank);
    MPI_Group_free(&group), MPI_Group_free(&world);
    if (rank >= 0 && rank < world_size)
        messages[rank / ppn]++;
}

int PMPI_Isend(const void *buffer, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    static int (*host)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    if (!host)
        host = (int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))dlsym(RTLD_NEXT, "PMPI_Isend");
    count(comm, to);
    return host(buffer, number, type, to, tag, comm, request);
}

int PMPI_Sendrecv(const void *sent, int number, MPI_Datatype type, int to, int tag, void *got, int room,
                  MPI_Datatype got_type, int from, int got_tag, MPI_Comm comm, MPI_Status *status)
{
    typedef int function(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                         MPI_Status *);
    static function *host;
    if (!host)
        host = (function *)dlsym(RTLD_NEXT, "PMPI_Sendrecv");
    count(comm, to);
    return host(sent, number, type, to, tag, got, room, got_type, from, got_tag, comm, status);
}

/* A graph by what is sent: all processes know all of it. */
struct graph {
    int edges, from[MOST * 26], to[MOST * 26];
};

static void add(struct graph *graph, int from, int to)
{
    graph->from[graph->edges] = from, graph->to[graph->edges++] = to;
}

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

struct ends {
    int in, out, sources[MAX_DEGREE], destinations[MAX_DEGREE], numbers[MAX_DEGREE];
};

/* The ends of the edges of this process; numbers are the places of the edges in the lists of those that send. */
static void find(const struct graph *graph, struct ends *ends)
{
    int sent[MOST] = { 0 };
    ends->in = ends->out = 0;
    for (int e = 0; e < graph->edges; e++) {
        int from = graph->from[e], to = graph->to[e], number = sent[from]++;
        if (to == world_rank && ends->in < MAX_DEGREE)
            ends->numbers[ends->in] = number, ends->sources[ends->in++] = from;
        if (from == world_rank && ends->out < MAX_DEGREE)
            ends->destinations[ends->out++] = to;
    }
}

static MPI_Comm create(const struct ends *ends, int by_info)
{
    MPI_Comm comm;
    MPI_Info info = MPI_INFO_NULL;
    if (by_info)
        MPI_Info_create(&info), MPI_Info_set(info, "cartograph_combine", "always");
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ends->in, ends->sources, MPI_UNWEIGHTED, ends->out,
                                         ends->destinations, MPI_UNWEIGHTED, info, 0, &comm) == MPI_SUCCESS);
    if (by_info)
        MPI_Info_free(&info);
    return comm;
}

/* How many ints the block of a process has: with some larger than is combined, or none. */
static int ints_of(enum operation operation, int large, int sender, int number)
{
    if (operation == ALLGATHER || operation == ALLTOALL)
        return large == 1 ? LARGEST : 2;
    int block = sender + (operation == ALLGATHERV ? 0 : 3 * number);
    return large && block % 3 == 1 ? LARGEST : block % 4;
}

static int value(int sender, int number, int i)
{
    return 100000 * sender + 4000 * number + i;
}

/* One collective; every second int of the sender's buffer is sent. Whether what arrived is right. */
static int delivers(MPI_Comm comm, const struct ends *ends, enum operation operation, int large)
{
    static int sent[2 * MAX_DEGREE * LARGEST], got[MAX_DEGREE * LARGEST + 1];
    struct side send = { .buffer = sent }, receive = { .buffer = got };
    int gather = operation == ALLGATHER || operation == ALLGATHERV, at = 0, good = 1;
    MPI_Request request;
    MPI_Datatype spread;
    MPI_Type_vector(1, 1, 2, MPI_INT, &spread);
    MPI_Type_create_resized(spread, 0, 2 * sizeof(int), &send.type);
    MPI_Type_free(&spread), MPI_Type_commit(&send.type);
    receive.type = MPI_INT;
    send.count = ints_of(operation, large, world_rank, 0);
    receive.count = ints_of(operation, large, 0, 0);
    memset(got, -1, sizeof got), memset(sent, -1, sizeof sent);
    for (int b = 0; b < (gather ? 1 : ends->out); b++) {
        send.counts[b] = ints_of(operation, large, world_rank, b), send.displs[b] = at, send.types[b] = send.type;
        send.distances[b] = at * 2 * sizeof(int);
        for (int i = 0; i < send.counts[b]; i++)
            sent[2 * at++] = value(world_rank, b, i);
    }
    at = 0;
    for (int b = 0; b < ends->in; b++) {
        receive.counts[b] = ints_of(operation, large, ends->sources[b], ends->numbers[b]);
        receive.displs[b] = at, receive.distances[b] = at * sizeof(int), receive.types[b] = MPI_INT;
        at += receive.counts[b];
    }
    good &= call(operation, BLOCKING, &send, &receive, comm, &request) == MPI_SUCCESS;
    at = 0;
    for (int b = 0; b < ends->in; b++)
        for (int i = 0; i < receive.counts[b]; i++)
            good &= got[at++] == value(ends->sources[b], gather ? 0 : ends->numbers[b], i);
    good &= got[at] == -1;
    MPI_Type_free(&send.type);
    return good;
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
            int pays = expected >= 4 * senders && expected >= 4 * receivers;
            if (!strcmp(way, "always") || !strcmp(way, "info") || (!strcmp(way, "on") && uniform && pays))
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
    MPI_Comm comm = create(&ends, !strcmp(way, "info")), copy;
    for (int round = 0; round < 3; round++) {
        for (enum operation operation = ALLGATHER; operation < OPERATIONS; operation++) {
            int uniform = operation == ALLGATHER || operation == ALLTOALL;
            CHECK(delivers(comm, &ends, operation, round));
            memset(messages, 0, sizeof messages);
            CHECK(delivers(comm, &ends, operation, 0));
            CHECK(as_expected(way, &graph, uniform));
        }
        /* A duplicate is as the original. */
        MPI_Comm_dup(comm, &copy);
        MPI_Comm_free(&comm);
        comm = copy;
    }
    MPI_Comm_free(&comm);
}

/* The parts of a grid are as the grid; blocks in both directions of a dimension of two are two edges. */
static void parts_of_a_grid(const char *way)
{
    int dims[2] = { nodes, ppn }, periods[2] = { 1, 1 }, remain[2] = { 1, 0 }, sent[2], got[2] = { -1, -1 }, rank, size;
    MPI_Comm grid, column;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_sub(grid, remain, &column);
    MPI_Comm_rank(column, &rank), MPI_Comm_size(column, &size);
    for (int round = 0; round < 3; round++) {
        memset(messages, 0, sizeof messages);
        sent[0] = 10 * rank + round, sent[1] = 10 * rank + round + 5;
        CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, column) == MPI_SUCCESS);
        CHECK(got[0] == 10 * ((rank + size - 1) % size) + round + 5 && got[1] == 10 * ((rank + 1) % size) + round);
    }
    int total = 0, combined = !strcmp(way, "always");
    for (int node = 0; node < nodes; node++)
        total += node == world_rank / ppn ? 0 : messages[node];
    CHECK(total == (size == 1 ? 0 : size == 2 && combined ? 1 : 2));
    MPI_Comm_free(&column), MPI_Comm_free(&grid);
}

/* Programs that receive less than they have room for run on every MPI, and more is an error. */
static void other_sizes(const char *way)
{
    static struct graph graph;
    struct ends ends;
    int sent[3 * MAX_DEGREE], got[3 * MAX_DEGREE], good = 1;
    box(&graph), find(&graph, &ends);
    MPI_Comm comm = create(&ends, !strcmp(way, "info"));
    for (int b = 0; b < ends.out; b++)
        sent[2 * b] = value(world_rank, b, 0), sent[2 * b + 1] = value(world_rank, b, 1);
    memset(got, -1, sizeof got);
    CHECK(MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 3, MPI_INT, comm) == MPI_SUCCESS);
    for (int b = 0; b < ends.in; b++)
        good &= got[3 * b] == value(ends.sources[b], ends.numbers[b], 0)
            && got[3 * b + 1] == value(ends.sources[b], ends.numbers[b], 1) && got[3 * b + 2] == -1;
    CHECK(good);
    CHECK(class_of(MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 1, MPI_INT, comm)) == MPI_ERR_TRUNCATE);
    CHECK(class_of(MPI_Neighbor_alltoall(sent, 1, MPI_DATATYPE_NULL, got, 1, MPI_INT, comm)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Neighbor_alltoall(sent, -1, MPI_INT, got, -1, MPI_INT, comm)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, got, 1, MPI_INT, comm)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, comm)) == MPI_ERR_ARG);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "off", *layout = getenv("CARTOGRAPH_LAYOUT");
    begin(&argc, &argv);
    if (!layout || sscanf(layout, "%dx%d", &nodes, &ppn) != 2 || nodes * ppn != world_size || world_size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (!strcmp(way, "differ") && world_rank == 1)
        setenv("CARTOGRAPH_COMBINE", "off", 1);
    play(way, box);
    play(way, sparse);
    play(way, star);
    parts_of_a_grid(way);
    other_sizes(way);
    return finish();
}
