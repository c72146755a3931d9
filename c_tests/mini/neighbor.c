/* Neighborhood collectives on a host without MPI_Ialltoallw and MPI_Alltoallw_init: blocking ones work, and
 * nonblocking ones of a single process. The others call the error handler once, name the function that the host
 * lacks, and leave the request untouched.
 *
 * The buffers lie in memory that only mini can access, like an accelerator's, also at absolute addresses. */
#include "../neighbor/neighbor_topologies.h"
#include "device.h"

enum { ROOM = 16, GAP = -7777 };

static int raised, raised_code;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    raised++, raised_code = *code;
}

static int value(int sender, int block, int i)
{
    return (sender * 64 + block) * 64 + i;
}

/* The number of ints in a block. Both ends must agree, so it depends on the sender and the sender's block. */
static int length(enum operation operation, int sender, int block)
{
    switch (operation) {
    case ALLGATHER:
    case ALLTOALL:
        return 5;
    case ALLGATHERV:
        return sender % 4;
    default:
        return (sender + block) % 4;
    }
}

static int *sent, *got, expected[MAX_DEGREE * ROOM];
/* The address of the memory for MPI. */
static void *closed_sent, *closed_got;

static void add_block(struct side *side, int block, int count, int place)
{
    side->counts[block] = count;
    side->displs[block] = place;
    side->distances[block] = place * (MPI_Aint)sizeof(int);
    side->types[block] = MPI_INT;
}

static void from_bottom(struct side *side, int blocks, void *buffer)
{
    side->buffer = MPI_BOTTOM;
    for (int block = 0; block < blocks; block++)
        side->distances[block] = (MPI_Aint)buffer + side->distances[block];
}

static void fill(enum operation operation, const struct oracle *o, struct side *s, struct side *r)
{
    int gathers = operation == ALLGATHER || operation == ALLGATHERV;
    int evenly = operation == ALLGATHER || operation == ALLTOALL;
    memset(s, 0, sizeof *s), memset(r, 0, sizeof *r);
    for (int i = 0; i < MAX_DEGREE * ROOM; i++)
        sent[i] = got[i] = expected[i] = GAP;
    for (int block = 0; block < (gathers ? 1 : o->sends); block++) {
        int ints = length(operation, o->rank, block), place = block * (evenly ? ints : ROOM);
        add_block(s, block, ints, place);
        s->count = ints;
        for (int i = 0; i < ints; i++)
            sent[place + i] = value(o->rank, block, i);
    }
    r->count = length(operation, 0, 0);
    for (int block = 0; block < o->receives; block++) {
        int from = o->sender[block], theirs = gathers ? 0 : o->sender_block[block];
        int ints = length(operation, from < 0 ? 1 : from, theirs);
        int place = block * (evenly ? ints : ROOM);
        add_block(r, block, ints, place);
        for (int i = 0; i < ints && from >= 0; i++)
            expected[place + i] = value(from, theirs, i);
    }
    s->type = r->type = MPI_INT;
    s->buffer = closed_sent, r->buffer = closed_got;
}

/* A name such as "MPI_Ineighbor_alltoall_c". */
static void function_name(enum operation operation, enum mode mode, int large, char *name)
{
    sprintf(name, "MPI_%s_%s%s%s", mode == NONBLOCKING ? "Ineighbor" : "Neighbor",
            operation_names[operation], mode == PERSISTENT ? "_init" : "", large ? "_c" : "");
}

static void unsupported(enum operation operation, enum mode mode, int large, int code,
                        MPI_Request request, int before)
{
    char name[80], text[MPI_MAX_ERROR_STRING], start[100];
    const char *missing = mode == NONBLOCKING ? "MPI_Ialltoallw" : "MPI_Alltoallw_init";
    int length;
    function_name(operation, mode, large, name);
    sprintf(start, "%s: ", name);
    CHECK(class_of(code) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS);
    if (!CHECK(!strncmp(text, start, strlen(start)) && strstr(text, missing)))
        fprintf(stderr, "%s says: %s\n", name, text);
    CHECK(raised == before + 1 && raised_code == code);
    CHECK(request == MPI_REQUEST_NULL);
}

static void try(const char *topology, MPI_Comm comm, const struct oracle *oracle)
{
    MPI_Errhandler handler;
    int size;
    MPI_Comm_size(comm, &size);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int mode = 0; mode < MODES; mode++)
            for (int way = 0; way < (operation == ALLTOALLW ? 4 : 2); way++) {
                struct side s, r;
                int large = way % 2;
                MPI_Request request = MPI_REQUEST_NULL;
                int before = raised, code;
                fill(operation, oracle, &s, &r);
                if (way > 1) {
                    from_bottom(&s, oracle->sends, closed_sent);
                    from_bottom(&r, oracle->receives, closed_got);
                }
                code = (large ? call_large : call)(operation, mode, &s, &r, comm, &request);
                int works = mode == BLOCKING || (mode == NONBLOCKING && size == 1);
                if (works && mode == NONBLOCKING && code == MPI_SUCCESS)
                    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
                if (!works)
                    unsupported(operation, mode, large, code, request, before);
                else if (!CHECK(code == MPI_SUCCESS && !memcmp(got, expected, sizeof expected)))
                    fprintf(stderr, "%s: %s\n", topology, operation_names[operation]);
            }
    MPI_Comm_free(&comm);
}

static void grid(int ndims, const int *dims, const int *periods)
{
    int size = 1;
    MPI_Comm comm, dup;
    struct oracle oracle;
    for (int d = 0; d < ndims; d++)
        size *= dims[d];
    if (size > world_size)
        return;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm) == MPI_SUCCESS);
    if (comm == MPI_COMM_NULL)
        return;
    grid_oracle(comm, ndims, dims, periods, &oracle);
    CHECK(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS);
    try("grid", comm, &oracle);
    try("dup of a grid", dup, &oracle);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    closed_sent = mini_device_memory(sizeof expected, (void **)&sent);
    closed_got = mini_device_memory(sizeof expected, (void **)&got);
    static const int dims[][3] = { { 1, 1, 1 }, { 2, 1, 1 }, { 3, 1, 1 }, { 2, 2, 1 }, { 2, 2, 2 } };
    static const int periods[][3] = { { 1, 1, 1 }, { 0, 1, 0 }, { 1, 0, 0 } };
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++)
            for (int ndims = 1; ndims <= 3; ndims++)
                grid(ndims, dims[i], periods[j]);
    for (int shape = 0; shape < SHAPES; shape++) {
        struct oracle oracle;
        MPI_Comm graph = adjacent_graph(MPI_COMM_WORLD, shape, &oracle);
        try("adjacent graph", graph, &oracle);
        graph = distributed_graph(MPI_COMM_WORLD, shape, &oracle);
        try("distributed graph", graph, &oracle);
        graph = symmetric_graph(MPI_COMM_WORLD, shape, world_size, &oracle);
        try("graph", graph, &oracle);
    }
    return finish();
}
