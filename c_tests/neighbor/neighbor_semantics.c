/* Guarantees of neighborhood collectives other than their data: nonblocking collectives do not wait, any number may be
 * pending, and an error calls the handler of the communicator once. */
#include "neighbor_calls.h"

/* A ring as a grid or as a graph, or a torus in whose second dimension each process is its own neighbor on both
 * sides. */
enum kind { GRID, GRAPH, TORUS, KINDS };

enum { MOST = 4 };

static MPI_Comm ring(enum kind kind)
{
    int size, rank, ones[2] = { 1, 1 };
    MPI_Comm comm;
    MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int both[2] = { (rank + size - 1) % size, (rank + 1) % size }, dims[2] = { size, 1 };
    if (kind == GRAPH)
        CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both,
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                             &comm) == MPI_SUCCESS);
    else
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, kind == TORUS ? 2 : 1, dims, ones, 0, &comm) ==
              MPI_SUCCESS);
    return comm;
}

/* The values from the left and from the right on a ring where each process sends its rank and a number: first to
 * the left, then to the right. In a graph of one or two processes, both edges come from the same process, in
 * order. */
static int arrived(const int *got, enum kind kind, int rank, int size, int number)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int crossed = !(kind == GRAPH && size < 3), own = 1000 * rank + 10 * number;
    return got[0] == 1000 * left + 10 * number + crossed &&
           got[1] == 1000 * right + 10 * number + !crossed &&
           (kind != TORUS || (got[2] == own + 3 && got[3] == own + 2));
}

static void set(int *sent, int rank, int number)
{
    for (int i = 0; i < MOST; i++)
        sent[i] = 1000 * rank + 10 * number + i;
}

/* Rank 0 starts; rank 1 follows after a message of rank 0. */
static void nobody_waits(enum kind kind, int dup, int persistent)
{
    MPI_Comm comm = ring(kind);
    int sent[MOST], got[MOST] = { -1, -1, -1, -1 }, token = 0, rank, size;
    MPI_Request request;
    if (dup) {
        MPI_Comm original = comm;
        CHECK(MPI_Comm_dup(original, &comm) == MPI_SUCCESS);
        MPI_Comm_free(&original);
    }
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    set(sent, rank, 3);
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#if HAS_INIT
    if (persistent) {
        CHECK(MPI_Neighbor_alltoall_init(sent, 1, MPI_INT, got, 1, MPI_INT, comm, MPI_INFO_NULL,
                                         &request) == MPI_SUCCESS);
        CHECK(MPI_Start(&request) == MPI_SUCCESS);
    } else
#endif
        CHECK(MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, &request) ==
              MPI_SUCCESS);
    if (rank == 0 && size > 1) {
        MPI_Send(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1)
        MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(arrived(got, kind, rank, size, 3));
    if (persistent)
        MPI_Request_free(&request);
    MPI_Comm_free(&comm);
}

#if HAS_INIT
static void again_and_again(enum kind kind)
{
    MPI_Comm comm = ring(kind);
    int sent[MOST], got[MOST], good = 0;
    MPI_Request request;
    CHECK(MPI_Neighbor_alltoall_init(sent, 1, MPI_INT, got, 1, MPI_INT, comm, MPI_INFO_NULL,
                                     &request) == MPI_SUCCESS);
    for (int i = 0; i < 1000; i++) {
        set(sent, world_rank, i);
        memset(got, -1, sizeof got);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        good += arrived(got, kind, world_rank, world_size, i);
    }
    CHECK(good == 1000);
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
}
#endif

/* Many requests at once, with blocking collectives in between, completed in some order. The communicator or the types
 * may be freed before completion, but not both: Open MPI 4.1.4 fails if both are. */
static void many_at_once(enum kind kind, int free_first, int any)
{
    enum { MANY = 50 };
    static int sent[MANY][MOST], got[MANY][MOST];
    MPI_Comm comm = ring(kind);
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        set(sent[i], world_rank, i);
        memset(got[i], -1, sizeof got[i]);
        MPI_Datatype type;
        if (free_first)
            type = MPI_INT;
        else {
            MPI_Type_contiguous(1, MPI_INT, &type);
            MPI_Type_commit(&type);
        }
        if (i % 2) {
            static const int ones[MOST] = { 1, 1, 1, 1 };
            static const MPI_Aint at[MOST] = { 0, 4, 8, 12 };
            static MPI_Datatype types[MANY][MOST];
            for (int j = 0; j < MOST; j++)
                types[i][j] = type;
            CHECK(MPI_Ineighbor_alltoallw(sent[i], ones, at, types[i], got[i], ones, at, types[i],
                                          comm, &requests[i]) == MPI_SUCCESS);
        } else
            CHECK(MPI_Ineighbor_alltoall(sent[i], 1, type, got[i], 1, type, comm, &requests[i]) ==
                  MPI_SUCCESS);
        if (!free_first)
            MPI_Type_free(&type);
        if (i % 10 == 5) {
            int now[MOST], got_now[MOST];
            set(now, world_rank, 100 + i);
            MPI_Neighbor_alltoall(now, 1, MPI_INT, got_now, 1, MPI_INT, comm);
            CHECK(arrived(got_now, kind, world_rank, world_size, 100 + i));
        }
    }
    if (free_first)
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    if (any)
        for (int i = 0; i < MANY; i++) {
            int index;
            CHECK(MPI_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        }
    else {
        for (int i = MANY - 1; i > MANY / 2; i--)
            CHECK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    }
    for (int i = 0; i < MANY; i++)
        CHECK(arrived(got[i], kind, world_rank, world_size, i));
    if (!free_first)
        MPI_Comm_free(&comm);
}

/* Datatypes with absolute addresses: a process sends to itself from MPI_BOTTOM to MPI_BOTTOM. */
static void from_address_to_address(enum mode mode)
{
    MPI_Comm comm = ring(TORUS);
    struct side send = { .buffer = MPI_BOTTOM }, receive = { .buffer = MPI_BOTTOM };
    int sent[MOST], got[MOST] = { -1, -1, -1, -1 }, one = 1;
    MPI_Request request;
    set(sent, world_rank, 7);
    for (int i = 0; i < MOST; i++) {
        MPI_Aint from, to;
        MPI_Get_address(&sent[i], &from), MPI_Get_address(&got[i], &to);
        MPI_Type_create_hindexed(1, &one, &from, MPI_INT, &send.types[i]);
        MPI_Type_create_hindexed(1, &one, &to, MPI_INT, &receive.types[i]);
        MPI_Type_commit(&send.types[i]), MPI_Type_commit(&receive.types[i]);
        send.counts[i] = receive.counts[i] = 1;
    }
    CHECK(call(ALLTOALLW, mode, &send, &receive, comm, &request) == MPI_SUCCESS);
    if (mode == PERSISTENT)
        MPI_Start(&request);
    if (mode != BLOCKING)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(arrived(got, TORUS, world_rank, world_size, 7));
    if (mode == PERSISTENT)
        MPI_Request_free(&request);
    for (int i = 0; i < MOST; i++)
        MPI_Type_free(&send.types[i]), MPI_Type_free(&receive.types[i]);
    MPI_Comm_free(&comm);
}

static int raised, raised_code;
static MPI_Comm raised_on;

static void note(MPI_Comm *comm, int *code, ...)
{
    raised++, raised_code = *code, raised_on = *comm;
}

/* Checks that the error was raised once, on this communicator, and returned. */
static int raised_once(int code, int class, MPI_Comm comm)
{
    int good = raised == 1 && raised_code == code && raised_on == comm && class_of(code) == class;
    if (!good)
        fprintf(stderr, "returned class %d, raised %d times, class %d\n", class_of(code), raised,
                class_of(raised_code));
    raised = 0;
    return good;
}

static void errors(enum kind kind)
{
    MPI_Comm comm = ring(kind), plain;
    MPI_Errhandler handler;
    MPI_Request request;
    int sent[2 * MOST] = { 0 }, got[2 * MOST], ones[MOST] = { 1, 1, 1, 1 }, at[MOST] = { 0, 1, 2, 3 };
    MPI_Aint bytes[MOST] = { 0, 4, 8, 12 };
    MPI_Datatype types[MOST] = { MPI_INT, MPI_INT, MPI_INT, MPI_INT };
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &plain);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(plain, handler);
#define RAISES(class, comm, call) CHECK(raised_once((call), (class), (comm)))
    RAISES(MPI_ERR_ARG, comm,
           MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, comm));
    RAISES(MPI_ERR_ARG, comm,
           MPI_Ineighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, comm, &request));
    RAISES(MPI_ERR_TOPOLOGY, plain, MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, plain));
    RAISES(MPI_ERR_TOPOLOGY, plain,
           MPI_Ineighbor_allgatherv(sent, 1, MPI_INT, got, ones, at, MPI_INT, plain, &request));
    RAISES(MPI_ERR_ARG, comm,
           MPI_Neighbor_alltoallv(sent, NULL, at, MPI_INT, got, ones, at, MPI_INT, comm));
    RAISES(MPI_ERR_ARG, comm,
           MPI_Ineighbor_alltoallw(sent, ones, bytes, types, got, ones, NULL, types, comm,
                                   &request));
    RAISES(MPI_ERR_ARG, comm,
           MPI_Neighbor_alltoallw(sent, ones, bytes, types, got, ones, bytes, NULL, comm));
#if HAS_INIT
    RAISES(MPI_ERR_ARG, comm,
           MPI_Neighbor_allgather_init(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, comm,
                                       MPI_INFO_NULL, &request));
    RAISES(MPI_ERR_TOPOLOGY, plain,
           MPI_Neighbor_alltoall_init(sent, 1, MPI_INT, got, 1, MPI_INT, plain, MPI_INFO_NULL,
                                      &request));
#endif
    /* More data than room, which Open MPI reports only for messages of other processes. */
    if (world_size > 1)
        RAISES(MPI_ERR_TRUNCATE, comm,
               MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 1, MPI_INT, comm));
    /* A wrong block to the process itself is refused before any message is sent. */
    if (kind == TORUS && !MPI_BOTTOM) {
        const int wrong[MOST] = { 1, 1, -1, 1 };
        set(sent, world_rank, 5);
        got[0] = got[1] = -1;
        RAISES(MPI_ERR_COUNT, comm,
               MPI_Neighbor_alltoallv(sent, wrong, at, MPI_INT, got, ones, at, MPI_INT, comm));
        CHECK(got[0] == -1 && got[1] == -1);
    }
    /* Without a communicator, an error is raised on MPI_COMM_SELF. */
    MPI_Errhandler others;
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &others);
    CHECK(class_of(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_NULL)) ==
          MPI_ERR_COMM);
    CHECK(class_of(MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_NULL,
                                          &request)) == MPI_ERR_COMM);
    CHECK(raised == 0);
    MPI_Errhandler_free(&others);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&plain);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (enum kind kind = GRID; kind < KINDS; kind++) {
        for (int dup = 0; dup < 2; dup++)
            for (int persistent = 0; persistent <= HAS_INIT; persistent++)
                nobody_waits(kind, dup, persistent);
#if HAS_INIT
        again_and_again(kind);
#endif
        for (int how = 0; how < 4; how++)
            many_at_once(kind, how % 2, how / 2);
        errors(kind);
    }
    /* If MPI_BOTTOM is not address zero (SMPI), messages from it are refused. */
    for (enum mode mode = BLOCKING; !MPI_BOTTOM && mode <= (HAS_INIT ? PERSISTENT : NONBLOCKING); mode++)
        from_address_to_address(mode);
    return finish();
}
