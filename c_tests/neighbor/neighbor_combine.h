/* Neighborhood collectives whose blocks travel together: graphs that all processes know, what arrives compared with
 * what the edges say, and the messages of the library counted by the node that they go to. Programs define
 * _GNU_SOURCE. */
#ifndef CARTOGRAPH_NEIGHBOR_COMBINE_H
#define CARTOGRAPH_NEIGHBOR_COMBINE_H

#include "neighbor_calls.h"

/* Blocks of MOST_COMBINED have as many ints as are combined at most, and those of NOT_COMBINED one more. */
enum { MOST = 64, LARGEST = 1500, MOST_COMBINED = 256, NOT_COMBINED };

static int ppn, nodes, messages[MOST];

static inline void count(MPI_Comm comm, int to)
{
    MPI_Group group, world;
    int rank;
    MPI_Comm_group(comm, &group), MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &to, world, &rank);
    MPI_Group_free(&group), MPI_Group_free(&world);
    if (rank >= 0 && rank < world_size)
        messages[rank / ppn]++;
}

#include "../count_sends.h"

/* A graph by what is sent: all processes know all of it. */
struct graph {
    int edges, from[MOST * 26], to[MOST * 26];
};

static inline void add(struct graph *graph, int from, int to)
{
    graph->from[graph->edges] = from, graph->to[graph->edges++] = to;
}

struct ends {
    int in, out, sources[MAX_DEGREE], destinations[MAX_DEGREE], numbers[MAX_DEGREE];
};

/* The ends of the edges of this process; numbers are the places of the edges in the lists of those that send. */
static inline void find(const struct graph *graph, struct ends *ends)
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

/* With the setting in the info, if any. */
static inline MPI_Comm create(const struct ends *ends, const char *setting)
{
    MPI_Comm comm;
    MPI_Info info = MPI_INFO_NULL;
    if (setting)
        MPI_Info_create(&info), MPI_Info_set(info, "cartograph_combine", setting);
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ends->in, ends->sources, MPI_UNWEIGHTED, ends->out,
                                         ends->destinations, MPI_UNWEIGHTED, info, 0, &comm) == MPI_SUCCESS);
    if (setting)
        MPI_Info_free(&info);
    return comm;
}

/* The number of ints in the block of a process: with some larger than is combined, none, or all as large as is combined. */
static inline int ints_of(enum operation operation, int large, int sender, int number)
{
    if (operation == ALLGATHER || operation == ALLTOALL)
        return large == 1 ? LARGEST : large < MOST_COMBINED ? 2 : (operation == ALLGATHER ? 1024 : 256) + large - MOST_COMBINED;
    int block = sender + (operation == ALLGATHERV ? 0 : 3 * number);
    return large && block % 3 == 1 ? LARGEST : block % 4;
}

static inline int value(int sender, int number, int i)
{
    return 100000 * sender + 4000 * number + i;
}

/* One collective; every second int of the sender's buffer is sent. Whether what arrived is right. */
static inline int delivers(MPI_Comm comm, const struct ends *ends, enum operation operation, int large)
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

/* Programs that receive less than they have room for run on every MPI, and more is an error. */
static inline void other_sizes(const struct ends *ends, const char *setting)
{
    int sent[3 * MAX_DEGREE], got[3 * MAX_DEGREE], good = 1;
    MPI_Comm comm = create(ends, setting);
    for (int b = 0; b < ends->out; b++)
        sent[2 * b] = value(world_rank, b, 0), sent[2 * b + 1] = value(world_rank, b, 1);
    memset(got, -1, sizeof got);
    CHECK(MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 3, MPI_INT, comm) == MPI_SUCCESS);
    for (int b = 0; b < ends->in; b++)
        good &= got[3 * b] == value(ends->sources[b], ends->numbers[b], 0)
            && got[3 * b + 1] == value(ends->sources[b], ends->numbers[b], 1) && got[3 * b + 2] == -1;
    CHECK(good);
    CHECK(class_of(MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 1, MPI_INT, comm)) == MPI_ERR_TRUNCATE);
    CHECK(class_of(MPI_Neighbor_alltoall(sent, 1, MPI_DATATYPE_NULL, got, 1, MPI_INT, comm)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Neighbor_alltoall(sent, -1, MPI_INT, got, -1, MPI_INT, comm)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, got, 1, MPI_INT, comm)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, comm)) == MPI_ERR_ARG);
    MPI_Comm_free(&comm);
}

/* Nodes as CARTOGRAPH_LAYOUT=NxM says. */
static inline void find_nodes(void)
{
    const char *layout = getenv("CARTOGRAPH_LAYOUT");
    if (!layout || sscanf(layout, "%dx%d", &nodes, &ppn) != 2 || nodes * ppn != world_size || world_size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

#endif
