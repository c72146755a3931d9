/* Neighborhood collectives: each function on each kind of topology, with many layouts of data. Each value holds
 * its sender, block and position; memory outside of blocks must stay untouched. */
#include "neighbor_topologies.h"

enum { ROOM = 2048, GAP = -7777 };

/* A datatype, described by the positions of its ints. */
struct layout {
    MPI_Datatype type;
    int ints, at[2], extent;
};

static struct layout layouts[4];

static void make_layouts(void)
{
    const struct layout all[4] = {
        { MPI_INT, 1, { 0 }, 1 },
        { MPI_DATATYPE_NULL, 2, { 0, 3 }, 5 },
        { MPI_DATATYPE_NULL, 1, { 2 }, 3 },
        { MPI_DATATYPE_NULL, 2, { 2, 0 }, 3 },
    };
    memcpy(layouts, all, sizeof all);
    for (int i = 1; i < 4; i++) {
        const int ones[2] = { 1, 1 };
        MPI_Datatype plain;
        MPI_Type_indexed(layouts[i].ints, ones, layouts[i].at, MPI_INT, &plain);
        MPI_Type_create_resized(plain, 0, layouts[i].extent * sizeof(int), &layouts[i].type);
        MPI_Type_commit(&layouts[i].type);
        MPI_Type_free(&plain);
    }
}

static void free_layouts(void)
{
    for (int i = 1; i < 4; i++)
        MPI_Type_free(&layouts[i].type);
}

/* The position of the i-th int of a block that starts at `start`. */
static int place(const struct layout *layout, int start, int i)
{
    return start + i / layout->ints * layout->extent + layout->at[i % layout->ints];
}

static int value(int round, int sender, int block, int i)
{
    return ((round * 16 + sender) * 32 + block) * 32 + i;
}

/* The number of ints in a block. Both ends must agree, so it depends on the sender and the sender's block. */
static int length(enum operation operation, int empty, int sender, int block)
{
    if (empty)
        return 0;
    if (operation == ALLGATHERV)
        return 2 * (sender % 3);
    if (operation == ALLTOALLV || operation == ALLTOALLW)
        return 2 * ((sender + block + 1) % 4);
    return 6;
}

/* A call with its arguments. */
struct trial {
    const char *topology;
    MPI_Comm comm;
    const struct oracle *oracle;
    enum operation operation;
    enum mode mode;
    int large, empty, bottom, round;
    /* The layouts of sends, and of receives. */
    int sending, receiving;
};

static int send_room[ROOM], recv_room[ROOM], send_copy[ROOM], expected[ROOM];

/* Operations without displacements have consecutive blocks. The others have blocks in reverse order with gaps, and
 * in alltoallw each block has its own datatype. */
static const struct layout *block_layout(const struct trial *t, int first, int block)
{
    return &layouts[t->operation == ALLTOALLW ? (first + block) % 4 : first];
}

static int start_of(const struct trial *t, const struct layout *layout, int count, int blocks,
                    int block)
{
    switch (t->operation) {
    case ALLGATHER:
    case ALLTOALL:
        return block * count * layout->extent;
    case ALLTOALLW:
        return 3 + (blocks - 1 - block) * 41;
    default:
        return (2 + (blocks - 1 - block) * 7) * layout->extent;
    }
}

static void add_block(const struct trial *t, struct side *side, int blocks, int block, int first,
                      int ints, int *room)
{
    const struct layout *layout = block_layout(t, first, block);
    int count = ints / layout->ints, start = start_of(t, layout, count, blocks, block);
    side->counts[block] = count;
    side->displs[block] = start / layout->extent;
    side->types[block] = layout->type;
    side->distances[block] = start * (MPI_Aint)sizeof(int);
    if (t->bottom)
        MPI_Get_address(room + start, &side->distances[block]);
}

static void fill(const struct trial *t, struct side *send, struct side *receive)
{
    const struct oracle *o = t->oracle;
    int gathers = t->operation == ALLGATHER || t->operation == ALLGATHERV;
    for (int i = 0; i < ROOM; i++)
        send_room[i] = recv_room[i] = expected[i] = GAP;
    for (int block = 0; block < (gathers ? 1 : o->sends); block++) {
        int ints = length(t->operation, t->empty, o->rank, gathers ? 0 : block);
        const struct layout *layout = block_layout(t, t->sending, block);
        add_block(t, send, o->sends, block, t->sending, ints, send_room);
        int start = gathers ? 0 : start_of(t, layout, ints / layout->ints, o->sends, block);
        for (int i = 0; i < ints; i++)
            send_room[place(layout, start, i)] = value(t->round, o->rank, block, i);
        send->count = ints / layout->ints;
    }
    receive->count = length(t->operation, t->empty, 0, 0) / layouts[t->receiving].ints;
    for (int block = 0; block < o->receives; block++) {
        int from = o->sender[block], sent = gathers ? 0 : o->sender_block[block];
        /* The length does not matter for a neighbor beyond the end of the grid. */
        int ints = length(t->operation, t->empty, from < 0 ? 1 : from, from < 0 ? 2 : sent);
        const struct layout *layout = block_layout(t, t->receiving, block);
        add_block(t, receive, o->receives, block, t->receiving, ints, recv_room);
        int start = start_of(t, layout, ints / layout->ints, o->receives, block);
        for (int i = 0; i < ints && from >= 0; i++)
            expected[place(layout, start, i)] = value(t->round, from, sent, i);
    }
    send->type = layouts[t->sending].type, receive->type = layouts[t->receiving].type;
    send->buffer = t->bottom ? MPI_BOTTOM : send_room;
    receive->buffer = t->bottom ? MPI_BOTTOM : recv_room;
    memcpy(send_copy, send_room, sizeof send_room);
}

static void compare(const struct trial *t, int code)
{
    int good = code == MPI_SUCCESS && !memcmp(recv_room, expected, sizeof expected) &&
               !memcmp(send_room, send_copy, sizeof send_copy);
    if (good) {
        checks_passed++;
        return;
    }
    checks_failed++;
    int at = 0;
    while (at < ROOM - 1 && recv_room[at] == expected[at])
        at++;
    if (checks_failed < 10)
        fprintf(stderr, "rank %d: %s %s %s%s layouts %d %d%s%s: code %d, at %d: %d, expected %d\n",
                world_rank, t->topology, mode_names[t->mode], operation_names[t->operation],
                t->large ? "_c" : "", t->sending, t->receiving, t->empty ? " empty" : "",
                t->bottom ? " bottom" : "", code, at, recv_room[at], expected[at]);
}

static void run(struct trial t)
{
    struct side send, receive;
    MPI_Request request = MPI_REQUEST_NULL;
    int code, rounds = t.mode == PERSISTENT ? 2 : 1;
    memset(&send, 0, sizeof send), memset(&receive, 0, sizeof receive);
    fill(&t, &send, &receive);
    if (t.large)
        code = call_large(t.operation, t.mode, &send, &receive, t.comm, &request);
    else
        code = call(t.operation, t.mode, &send, &receive, t.comm, &request);
    if (t.mode == BLOCKING || code != MPI_SUCCESS) {
        compare(&t, code);
        return;
    }
    for (t.round = 0; t.round < rounds; t.round++) {
        if (t.mode == PERSISTENT) {
            /* Fills the buffers again; the arguments stay. */
            fill(&t, &send, &receive);
            code = MPI_Start(&request);
        }
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        compare(&t, code);
    }
    if (t.mode == PERSISTENT)
        CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
}

/* The number of trials on one communicator. */
enum extent { A_MODE_EACH, ALL_MODES, ALL_LAYOUTS };

/* Positions in the lists of variants that are not tried on each communicator. All processes must be at the same
 * position, even those left out of an earlier communicator. */
static int turn;

static void try(const char *name, MPI_Comm comm, const struct oracle *oracle, enum extent extent)
{
    int modes = HAS_INIT ? 3 : 2;
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int mode = 0; mode < modes; mode++)
            for (int large = 0; large < 2; large++, turn++) {
                if (extent == A_MODE_EACH && (turn / 2 + turn / 30) % modes != 0)
                    continue;
                if (extent < ALL_LAYOUTS && (turn / 2) % 2 != large)
                    continue;
                struct trial t = { name, comm, oracle, operation, mode, large, 0, 0, 0, 0, 0 };
                for (int pair = 0; pair < (extent == ALL_LAYOUTS ? 4 : 1); pair++) {
                    t.sending = (turn + pair) % 4, t.receiving = (turn / 4 + 2 * pair) % 4;
                    run(t);
                }
                if (extent < ALL_LAYOUTS)
                    continue;
                t.empty = 1;
                run(t);
                t.empty = 0, t.bottom = 1;
                if (operation == ALLTOALLW)
                    run(t);
            }
}

static void grids(void)
{
    static const struct {
        int ndims, dims[3], periods[3];
    } all[] = {
        { 1, { 1 }, { 1 } },          { 1, { 1 }, { 0 } },
        { 1, { 2 }, { 1 } },          { 1, { 3 }, { 1 } },
        { 1, { 3 }, { 0 } },          { 1, { 4 }, { 1 } },
        { 1, { 6 }, { 1 } },          { 2, { 2, 1 }, { 1, 1 } },
        { 2, { 1, 3 }, { 1, 0 } },    { 2, { 2, 2 }, { 1, 1 } },
        { 2, { 3, 2 }, { 0, 1 } },    { 2, { 3, 2 }, { 1, 1 } },
        { 3, { 1, 1, 1 }, { 1, 1, 1 } }, { 3, { 1, 2, 1 }, { 1, 0, 1 } },
        { 3, { 1, 2, 2 }, { 0, 1, 1 } }, { 3, { 3, 2, 1 }, { 1, 1, 1 } },
        { 0, { 0 }, { 0 } },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int ndims = all[i].ndims, *dims = all[i].dims, *periods = all[i].periods;
        int size = 1;
        for (int d = 0; d < ndims; d++)
            size *= dims[d];
        if (size > world_size)
            continue;
        turn = 7 * (int)i;
        struct oracle oracle;
        MPI_Comm cart, dup, sub;
        char name[80];
        snprintf(name, sizeof name, "grid %d (%d-D)", (int)i, ndims);
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, i % 2, &cart) == MPI_SUCCESS);
        if (cart == MPI_COMM_NULL)
            continue;
        grid_oracle(cart, ndims, dims, periods, &oracle);
        try(name, cart, &oracle, i % 7 == 2 ? ALL_LAYOUTS : ALL_MODES);
        if (ndims > 1) {
            for (int kept = 1; kept < (1 << ndims) - 1; kept += 2) {
                int keep[3], kept_dims[3], kept_periods[3], n = 0;
                for (int d = 0; d < ndims; d++)
                    if ((keep[d] = kept >> d & 1))
                        kept_dims[n] = dims[d], kept_periods[n++] = periods[d];
                struct oracle of_sub;
                snprintf(name, sizeof name, "part of grid %d, kept %d", (int)i, kept);
                CHECK(MPI_Cart_sub(cart, keep, &sub) == MPI_SUCCESS);
                grid_oracle(sub, n, kept_dims, kept_periods, &of_sub);
                try(name, sub, &of_sub, A_MODE_EACH);
                MPI_Comm_free(&sub);
            }
        }
        snprintf(name, sizeof name, "dup of grid %d", (int)i);
        if (i % 2)
            CHECK(MPI_Comm_dup(cart, &dup) == MPI_SUCCESS);
        else
            CHECK(duplicate_later(cart, &dup) == MPI_SUCCESS);
        /* A duplicate works without the original. */
        MPI_Comm_free(&cart);
        try(name, dup, &oracle, A_MODE_EACH);
        MPI_Comm_free(&dup);
    }
}

/* A communicator and its duplicates. */
static void with_duplicates(const char *name, MPI_Comm *comm, const struct oracle *oracle,
                            enum extent extent)
{
    char copy[80];
    MPI_Comm dup, again;
    try(name, *comm, oracle, extent);
    snprintf(copy, sizeof copy, "dup of %s", name);
    CHECK(MPI_Comm_dup(*comm, &dup) == MPI_SUCCESS);
    try(copy, dup, oracle, A_MODE_EACH);
    snprintf(copy, sizeof copy, "idup of dup of %s", name);
    CHECK(duplicate_later(dup, &again) == MPI_SUCCESS);
    MPI_Comm_free(comm);
    MPI_Comm_free(&dup);
    try(copy, again, oracle, A_MODE_EACH);
    MPI_Comm_free(&again);
}

static void graphs(void)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        turn = 7 * shape;
        struct oracle oracle;
        char name[80];
        MPI_Comm graph = adjacent_graph(MPI_COMM_WORLD, shape, &oracle);
        snprintf(name, sizeof name, "adjacent graph %d", shape);
        with_duplicates(name, &graph, &oracle, shape == MIXED ? ALL_LAYOUTS : ALL_MODES);
        graph = distributed_graph(MPI_COMM_WORLD, shape, &oracle);
        snprintf(name, sizeof name, "distributed graph %d", shape);
        with_duplicates(name, &graph, &oracle, ALL_MODES);
        /* One process is left out if there are several. */
        int nodes = shape % 2 || world_size == 1 ? world_size : world_size - 1;
        graph = symmetric_graph(MPI_COMM_WORLD, shape, nodes, &oracle);
        snprintf(name, sizeof name, "graph %d", shape);
        if (graph != MPI_COMM_NULL)
            with_duplicates(name, &graph, &oracle, ALL_MODES);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    make_layouts();
    grids();
    graphs();
    free_layouts();
    return finish();
}
