/* neighbor_random [SEED [ROUNDS]]: neighborhood collectives on random topologies: all operations in all modes,
 * several at once, empty blocks, derived datatypes that are freed as early as possible, and messages of the
 * program on the same communicator. The expected data follows from the seed. Each value holds its sender, block
 * and position; memory outside of blocks must stay untouched. */
#include "neighbor_random.h"

enum { ROOM = 8192, MARGIN = 8, MOST_INTS = 6, AT_ONCE = 3, GAP = -7777 };

/* A datatype, described by the positions of its ints, which lie anywhere around its start, in any order. */
struct layout {
    MPI_Datatype type;
    int ints, at[MOST_INTS], first, extent;
};

/* An operation, from its call to its result. */
struct transfer {
    enum operation operation;
    enum mode mode;
    int large, number;
    struct side send, receive;
    struct layout send_layouts[MAX_DEGREE], receive_layouts[MAX_DEGREE];
    /* The start of each block, in ints from the margin on. */
    int send_at[MAX_DEGREE], receive_at[MAX_DEGREE];
    int send_room[ROOM], receive_room[ROOM], sent[ROOM], expected[ROOM];
    MPI_Request request;
};

/* The data of a round. */
struct round {
    int number, rank;
    struct dice seed;
    struct topology topology;
    MPI_Comm comm;
};

static int is_gather(enum operation operation)
{
    return operation == ALLGATHER || operation == ALLGATHERV;
}

/* A datatype of 1, 2, 3, 4 or 6 ints, created by one of many functions. */
static struct layout random_layout(struct dice *dice)
{
    static const int sizes[] = { 1, 2, 3, 4, 6 };
    struct layout layout = { MPI_INT, 1, { 0 }, 0, 1 };
    int places[3 * MOST_INTS], ones[MOST_INTS], way = below(dice, 6), least = 0, most = 0;
    MPI_Aint bytes[MOST_INTS];
    MPI_Datatype types[MOST_INTS], plain;
    if (below(dice, 4) == 0)
        return layout;
    layout.ints = sizes[below(dice, 5)];
    if (way == 0) {
        for (int i = 0; i < layout.ints; i++)
            layout.at[i] = i;
        layout.extent = layout.ints;
        MPI_Type_contiguous(layout.ints, MPI_INT, &layout.type);
        MPI_Type_commit(&layout.type);
        return layout;
    }
    if (way == 1) {
        int stride = 1 + below(dice, 3);
        for (int i = 0; i < layout.ints; i++)
            layout.at[i] = i * stride;
        layout.extent = (layout.ints - 1) * stride + 1;
        MPI_Type_vector(layout.ints, 1, stride, MPI_INT, &layout.type);
        MPI_Type_commit(&layout.type);
        return layout;
    }
    for (int i = 0; i < 2 * layout.ints + 2; i++)
        places[i] = i - 2;
    shuffle(dice, places, 2 * layout.ints + 2);
    for (int i = 0; i < layout.ints; i++) {
        layout.at[i] = places[i], ones[i] = 1, types[i] = MPI_INT;
        bytes[i] = places[i] * (MPI_Aint)sizeof(int);
        if (i == 0 || places[i] < least)
            least = places[i];
        if (i == 0 || places[i] > most)
            most = places[i];
    }
    layout.first = least;
    layout.extent = most - least + 1 + below(dice, 3);
    if (way == 2)
        MPI_Type_create_struct(layout.ints, ones, bytes, types, &plain);
    else if (way == 3)
        MPI_Type_create_hindexed(layout.ints, ones, bytes, MPI_INT, &plain);
    else if (way == 4)
        MPI_Type_create_indexed_block(layout.ints, 1, layout.at, MPI_INT, &plain);
    else
        MPI_Type_indexed(layout.ints, ones, layout.at, MPI_INT, &plain);
    MPI_Type_create_resized(plain, layout.first * (MPI_Aint)sizeof(int), layout.extent * (MPI_Aint)sizeof(int),
                            &layout.type);
    MPI_Type_commit(&layout.type);
    MPI_Type_free(&plain);
    return layout;
}

static void free_layout(struct layout *layout)
{
    if (layout->type != MPI_INT)
        MPI_Type_free(&layout->type);
}

/* The number of ints in a block, chosen by its sender so that both ends agree. It is 0 in some operations with one
 * count for all blocks, and in one block of four in the others. */
static int ints_of(const struct round *round, const struct transfer *t, int sender, int block)
{
    enum operation operation = t->operation;
    int by_sender = operation == ALLGATHER || operation == ALLTOALL ? 0 : sender;
    struct dice dice = dice_of(round->seed, 2, t->number, by_sender * MAX_DEGREE
                               + (operation == ALLTOALLV || operation == ALLTOALLW ? block : 0));
    return 12 * below(&dice, 4);
}

static int value(const struct transfer *t, int turn, int sender, int block, int i)
{
    return (((t->number * 2 + turn) * MOST_PROCESSES + sender) * MAX_DEGREE + block) * 64 + i;
}

/* The position of the i-th int of a block in the buffer. */
static int place(const struct layout *layout, int at, int i)
{
    return MARGIN + at + i / layout->ints * layout->extent + layout->at[i % layout->ints];
}

/* Places the blocks of one side: consecutively for operations without displacements, otherwise in any order with
 * gaps. */
static void place_blocks(struct dice *dice, struct transfer *t, int blocks, int single, const int *ints,
                         struct side *side, struct layout *layouts, int *at, int *room)
{
    int order[MAX_DEGREE], cursor = 0, absolute = t->operation == ALLTOALLW && below(dice, 3) == 0;
    struct layout one = random_layout(dice);
    layouts[0] = one;
    for (int b = 0; b < blocks; b++) {
        layouts[b] = t->operation == ALLTOALLW ? random_layout(dice) : one;
        order[b] = b;
    }
    side->type = one.type;
    side->buffer = absolute ? MPI_BOTTOM : room + MARGIN;
    side->count = blocks ? ints[0] / one.ints : 0;
    if (t->operation != ALLGATHER && t->operation != ALLTOALL && !single)
        shuffle(dice, order, blocks);
    for (int i = 0; i < blocks; i++) {
        int b = order[i], count = ints[b] / layouts[b].ints, extent = layouts[b].extent, start = i * count * extent;
        if (t->operation != ALLGATHER && t->operation != ALLTOALL && !single) {
            start = cursor + below(dice, 4) - layouts[b].first;
            /* In whole extents, the unit of displacements except in alltoallw. */
            start = (start + extent - 1) / extent * extent;
            cursor = start + count * extent + layouts[b].first;
        }
        at[b] = start;
        side->counts[b] = count, side->displs[b] = start / extent, side->types[b] = layouts[b].type;
        side->distances[b] = start * (MPI_Aint)sizeof(int);
        if (absolute)
            MPI_Get_address(room + MARGIN + start, &side->distances[b]);
    }
    if (t->operation == ALLTOALLW)
        free_layout(&one);
}

static void free_layouts(const struct round *round, struct transfer *t)
{
    const struct lists *mine = &round->topology.of[round->rank];
    if (t->operation != ALLTOALLW) {
        struct layout sent = { .type = t->send.type }, received = { .type = t->receive.type };
        free_layout(&sent), free_layout(&received);
        return;
    }
    for (int b = 0; b < mine->out; b++)
        free_layout(&t->send_layouts[b]);
    for (int b = 0; b < mine->in; b++)
        free_layout(&t->receive_layouts[b]);
}

/* The data sent, and the data expected in the end. */
static void fill(const struct round *round, struct transfer *t, int turn)
{
    const struct lists *mine = &round->topology.of[round->rank];
    for (int i = 0; i < ROOM; i++)
        t->send_room[i] = t->receive_room[i] = t->expected[i] = GAP;
    for (int b = 0; b < (is_gather(t->operation) ? 1 : mine->out); b++)
        for (int i = 0; i < ints_of(round, t, round->rank, b); i++)
            t->send_room[place(&t->send_layouts[b], t->send_at[b], i)] = value(t, turn, round->rank, b, i);
    for (int b = 0; b < mine->in; b++) {
        int sender = mine->from[b], block;
        if (sender < 0)
            continue;
        block = is_gather(t->operation) ? 0 : sender_block(&round->topology, round->rank, b);
        for (int i = 0; i < ints_of(round, t, sender, block); i++)
            t->expected[place(&t->receive_layouts[b], t->receive_at[b], i)] = value(t, turn, sender, block, i);
    }
    memcpy(t->sent, t->send_room, sizeof t->sent);
}

/* Chooses an operation: common properties with the shared dice, the others with the dice of this rank. */
static void prepare(const struct round *round, struct dice *shared, struct dice *own, struct transfer *t, int number,
                    int modes)
{
    const struct lists *mine = &round->topology.of[round->rank];
    int ints[MAX_DEGREE] = { 0 };
    t->number = number;
    t->operation = below(shared, OPERATIONS);
    t->mode = below(shared, HAS_INIT ? modes : PERSISTENT);
    t->large = below(shared, 2);
    for (int b = 0; b < (is_gather(t->operation) ? 1 : mine->out); b++)
        ints[b] = ints_of(round, t, round->rank, b);
    place_blocks(own, t, is_gather(t->operation) ? 1 : mine->out, is_gather(t->operation), ints, &t->send,
                 t->send_layouts, t->send_at, t->send_room);
    for (int b = 0; b < mine->in; b++) {
        int sender = mine->from[b];
        int block = sender < 0 || is_gather(t->operation) ? 0 : sender_block(&round->topology, round->rank, b);
        ints[b] = sender < 0 ? ints_of(round, t, round->rank, b) : ints_of(round, t, sender, block);
    }
    place_blocks(own, t, mine->in, 0, ints, &t->receive, t->receive_layouts, t->receive_at, t->receive_room);
    /* Ranks without blocks also pass the one count for all blocks. */
    if (t->operation == ALLGATHER || t->operation == ALLTOALL) {
        t->send.count = ints_of(round, t, 0, 0) / t->send_layouts[0].ints;
        t->receive.count = ints_of(round, t, 0, 0) / t->receive_layouts[0].ints;
    }
}

static int start(const struct round *round, struct transfer *t)
{
    t->request = MPI_REQUEST_NULL;
    if (t->large)
        return call_large(t->operation, t->mode, &t->send, &t->receive, round->comm, &t->request);
    return call(t->operation, t->mode, &t->send, &t->receive, round->comm, &t->request);
}

/* All data arrived, other memory is untouched, and the send buffer is unchanged. */
static void look(const struct round *round, const struct transfer *t)
{
    int right = CHECK(memcmp(t->receive_room, t->expected, sizeof t->expected) == 0);
    right &= CHECK(memcmp(t->send_room, t->sent, sizeof t->sent) == 0);
    if (!right)
        fprintf(stderr, "rank %d: round %d, %s, %s %s%s\n", round->rank, round->number,
                kind_names[round->topology.kind], mode_names[t->mode], operation_names[t->operation],
                t->large ? " with large counts" : "");
}

/* Several operations at once, and a message along the ring meanwhile. */
static void step(const struct round *round, int number)
{
    static struct transfer transfers[AT_ONCE];
    struct dice shared = dice_of(round->seed, 3, number, 0), own = dice_of(round->seed, 4, number, round->rank);
    int count = 1 + below(&shared, AT_ONCE), size, message = -1, freed = below(&own, 2);
    /* In its own collectives, MPICH loses messages of a process to itself to a receive with any tag. Only
     * persistent collectives are still MPICH's own. */
    int tag = below(&shared, 2) ? MPI_ANY_TAG : number, modes = tag == number ? MODES : PERSISTENT;
    MPI_Request ring[2], all[AT_ONCE];
    MPI_Status statuses[AT_ONCE];
    MPI_Comm_size(round->comm, &size);
    CHECK(MPI_Irecv(&message, 1, MPI_INT, MPI_ANY_SOURCE, tag, round->comm, &ring[0]) == MPI_SUCCESS);
    for (int i = 0; i < count; i++) {
        struct transfer *t = &transfers[i];
        prepare(round, &shared, &own, t, number * AT_ONCE + i, modes);
        fill(round, t, 0);
        CHECK(start(round, t) == MPI_SUCCESS);
        if (t->mode == PERSISTENT)
            CHECK(MPI_Start(&t->request) == MPI_SUCCESS);
        /* MPI keeps a datatype as long as it needs it. */
        if (freed)
            free_layouts(round, t);
    }
    CHECK(MPI_Isend(&number, 1, MPI_INT, (round->rank + 1) % size, number, round->comm, &ring[1]) == MPI_SUCCESS);
    for (int i = 0; i < count; i++)
        all[i] = transfers[i].request;
    if (below(&own, 2))
        for (int i = count; i-- > 0;)
            CHECK(MPI_Wait(&all[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    else
        CHECK(MPI_Waitall(count, all, statuses) == MPI_SUCCESS);
    for (int i = 0; i < count; i++)
        look(round, &transfers[i]);
    for (int i = 0; i < count; i++) {
        struct transfer *t = &transfers[i];
        if (t->mode == PERSISTENT) {
            fill(round, t, 1);
            CHECK(MPI_Start(&t->request) == MPI_SUCCESS && MPI_Wait(&t->request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            look(round, t);
            CHECK(MPI_Request_free(&t->request) == MPI_SUCCESS);
        }
        if (!freed)
            free_layouts(round, t);
    }
    CHECK(MPI_Waitall(2, ring, statuses) == MPI_SUCCESS && message == number);
}

/* A topology on the world, on the reversed world, or on each half of it. */
static void play(struct dice seed, int number)
{
    struct dice dice = dice_of(seed, 1, number, 0);
    int way = below(&dice, 3), half = way == 2 ? world_rank % 2 : 0;
    struct round round = { .number = number, .seed = dice_of(dice, 5, half, 0) };
    MPI_Comm base, copy;
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, half, way == 1 ? -world_rank : world_rank, &base) == MPI_SUCCESS);
    dice = round.seed;
    round.comm = random_topology(&dice, base, &round.topology);
    CHECK(MPI_Comm_free(&base) == MPI_SUCCESS);
    if (round.comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(round.comm, &round.rank);
    for (int number = 0; number < 4; number++) {
        step(&round, number);
        if (number == 1 && below(&dice, 2)) {
            CHECK(MPI_Comm_dup(round.comm, &copy) == MPI_SUCCESS);
            CHECK(MPI_Comm_free(&round.comm) == MPI_SUCCESS);
            round.comm = copy;
        }
    }
    CHECK(MPI_Comm_free(&round.comm) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    struct dice seed = { argc > 1 ? strtoull(argv[1], NULL, 10) : 1 };
    int rounds = argc > 2 ? atoi(argv[2]) : 50;
    if (world_size > MOST_PROCESSES)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int number = 0; number < rounds; number++)
        play(seed, number);
    return finish();
}
