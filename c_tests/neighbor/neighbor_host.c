/* Prints the blocks that each neighborhood collective delivers: the output must be equal without and under
 * Cartograph if the host is right. A block is a number made of its sender and position; -1 is a position without a
 * block. The start of a line names the case, for faults of hosts. */
#include "neighbor_calls.h"

static void one_call(const char *kind, const char *name, enum operation operation, enum mode mode, MPI_Comm comm,
                     int indegree)
{
    int sent[2 * MAX_DEGREE], got[2 * MAX_DEGREE + 1], rank;
    struct side s = { .buffer = sent, .count = 1, .type = MPI_INT };
    struct side r = { .buffer = got, .count = 1, .type = MPI_INT };
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 2 * MAX_DEGREE; i++)
        sent[i] = 100 * rank + i, got[i] = -1;
    /* Blocks with gaps; receive blocks are in reverse order. */
    for (int i = 0; i < MAX_DEGREE; i++) {
        s.counts[i] = r.counts[i] = 1;
        s.displs[i] = 2 * i, r.displs[i] = i < indegree ? 2 * (indegree - 1 - i) : 0;
        s.distances[i] = s.displs[i] * sizeof(int), r.distances[i] = r.displs[i] * sizeof(int);
        s.types[i] = r.types[i] = MPI_INT;
    }
    say("%s, %s %s, %s:", kind, mode_names[mode], operation_names[operation], name);
    int code = call(operation, mode, &s, &r, comm, &request);
    if (mode == PERSISTENT && code == MPI_SUCCESS)
        code = MPI_Start(&request);
    if (mode != BLOCKING && code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (mode == PERSISTENT && code == MPI_SUCCESS)
        MPI_Request_free(&request);
    if (code != MPI_SUCCESS)
        say(" error of class %d", class_of(code));
    for (int i = 0; i < 2 * indegree; i++)
        say(" %d", got[i]);
    say("\n");
}

static void all_calls(const char *kind, const char *name, MPI_Comm comm, int indegree)
{
    if (comm == MPI_COMM_NULL)
        return;
    for (int mode = BLOCKING; mode <= (HOST_HAS_INIT ? PERSISTENT : NONBLOCKING); mode++)
        for (int operation = 0; operation < OPERATIONS; operation++)
            one_call(kind, name, operation, mode, comm, indegree);
    MPI_Comm_free(&comm);
}

static void grid(const char *name, int ndims, const int *dims, const int *periods)
{
    char whole[80];
    MPI_Comm comm;
    int narrow = 0;
    int length = snprintf(whole, sizeof whole, "%s", name);
    for (int d = 0; d < ndims; d++) {
        narrow |= periods[d] && dims[d] < 3;
        length += snprintf(whole + length, sizeof whole - length, "%s%d%s", d ? "x" : " ", dims[d],
                           periods[d] ? "p" : "");
    }
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm) == MPI_SUCCESS);
    all_calls(narrow ? "periodic 1 or 2" : "grid", whole, comm, 2 * ndims);
}

/* With two edges from one process to another. */
static const char *repeated(int is)
{
    return is ? "repeated edges" : "graph";
}

static void adjacent(const char *kind, const char *name, int indegree, const int *sources, int outdegree,
                     const int *destinations)
{
    MPI_Comm comm;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, indegree, sources, MPI_UNWEIGHTED, outdegree,
                                         destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm)
          == MPI_SUCCESS);
    all_calls(kind, name, comm, indegree);
}

int main(int argc, char **argv)
{
    static const int all[3] = { 1, 1, 1 }, none[3] = { 0, 0, 0 }, first[3] = { 1, 0, 0 };
    begin(&argc, &argv);
    int size = world_size, rank = world_rank, next = (rank + 1) % size, last = (rank + size - 1) % size;

    grid("ring", 1, &size, all);
    grid("line", 1, &size, none);
    int by_one[2] = { size, 1 }, one_by[2] = { 1, size }, three[3] = { 1, size, 1 };
    grid("grid", 2, by_one, all);
    grid("grid", 2, one_by, none);
    grid("grid", 2, by_one, first);
    grid("grid", 3, three, all);
    if (size % 2 == 0) {
        int halves[2] = { 2, size / 2 };
        grid("grid", 2, halves, all);
        grid("grid", 2, halves, none);
    }

    int index[64], edges[128];
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size, edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Comm comm;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm) == MPI_SUCCESS);
    all_calls(repeated(size < 3), "symmetric ring", comm, 2);

    int both[2] = { last, next }, twice[2] = { next, next }, from[2] = { last, last };
    adjacent(repeated(size < 3), "ring", 2, both, 2, both);
    adjacent(repeated(0), "one way", 1, &last, 1, &next);
    adjacent(repeated(1), "one way twice", 2, from, 2, twice);
    int me[3] = { rank, next, rank }, met[3] = { rank, last, rank };
    adjacent(repeated(1), "with itself", 3, met, 3, me);
    return finish();
}
