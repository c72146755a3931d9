/* What neighborhood collectives promise beyond their data: nonblocking ones wait for nobody, any
 * number may be under way, errors go to the communicator's handler once. */
#include "neighbor_calls.h"

/* A ring by a grid or by a graph. */
static MPI_Comm ring(int graph)
{
    int size, rank, one = 1;
    MPI_Comm comm;
    MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int both[2] = { (rank + size - 1) % size, (rank + 1) % size };
    if (graph)
        CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both,
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                             &comm) == MPI_SUCCESS);
    else
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &one, 0, &comm) == MPI_SUCCESS);
    return comm;
}

/* What arrives from the left and from the right on a ring where every process sends its rank and a
 * number: first to the left, then to the right. In a graph of two processes or one, both edges come
 * from the same process, and the k-th is the k-th. */
static int arrived(const int *got, int graph, int rank, int size, int number)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int crossed = !(graph && size < 3);
    return got[0] == 1000 * left + 10 * number + crossed &&
           got[1] == 1000 * right + 10 * number + !crossed;
}

static void set(int *sent, int rank, int number)
{
    sent[0] = 1000 * rank + 10 * number, sent[1] = sent[0] + 1;
}

/* Rank 0 starts; rank 1 only follows when rank 0 has told it so. */
static void nobody_waits(int graph, int dup, int persistent)
{
    MPI_Comm comm = ring(graph);
    int sent[2], got[2] = { -1, -1 }, token = 0, rank, size;
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
    CHECK(arrived(got, graph, rank, size, 3));
    if (persistent)
        MPI_Request_free(&request);
    MPI_Comm_free(&comm);
}

#if HAS_INIT
static void again_and_again(int graph)
{
    MPI_Comm comm = ring(graph);
    int sent[2], got[2], good = 0;
    MPI_Request request;
    CHECK(MPI_Neighbor_alltoall_init(sent, 1, MPI_INT, got, 1, MPI_INT, comm, MPI_INFO_NULL,
                                     &request) == MPI_SUCCESS);
    for (int i = 0; i < 1000; i++) {
        set(sent, world_rank, i);
        got[0] = got[1] = -1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        good += arrived(got, graph, world_rank, world_size, i);
    }
    CHECK(good == 1000);
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
}
#endif

/* Many at once, blocking ones in between; completed in some order. The communicator and the types
 * may be gone by then; not both, which Open MPI 4.1.4 does not survive. */
static void many_at_once(int graph, int free_first, int any)
{
    enum { MANY = 50 };
    static int sent[MANY][2], got[MANY][2];
    MPI_Comm comm = ring(graph);
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        set(sent[i], world_rank, i);
        got[i][0] = got[i][1] = -1;
        MPI_Datatype type;
        if (free_first)
            type = MPI_INT;
        else {
            MPI_Type_contiguous(1, MPI_INT, &type);
            MPI_Type_commit(&type);
        }
        if (i % 2) {
            static const int ones[2] = { 1, 1 };
            static const MPI_Aint at[2] = { 0, sizeof(int) };
            static MPI_Datatype types[MANY][2];
            types[i][0] = types[i][1] = type;
            CHECK(MPI_Ineighbor_alltoallw(sent[i], ones, at, types[i], got[i], ones, at, types[i],
                                          comm, &requests[i]) == MPI_SUCCESS);
        } else
            CHECK(MPI_Ineighbor_alltoall(sent[i], 1, type, got[i], 1, type, comm, &requests[i]) ==
                  MPI_SUCCESS);
        if (!free_first)
            MPI_Type_free(&type);
        if (i % 10 == 5) {
            int now[2], got_now[2];
            set(now, world_rank, 100 + i);
            MPI_Neighbor_alltoall(now, 1, MPI_INT, got_now, 1, MPI_INT, comm);
            CHECK(arrived(got_now, graph, world_rank, world_size, 100 + i));
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
        CHECK(arrived(got[i], graph, world_rank, world_size, i));
    if (!free_first)
        MPI_Comm_free(&comm);
}

static int raised, raised_code;
static MPI_Comm raised_on;

static void note(MPI_Comm *comm, int *code, ...)
{
    raised++, raised_code = *code, raised_on = *comm;
}

/* The error was raised once, on this communicator, and returned. */
static int raised_once(int code, int class, MPI_Comm comm)
{
    int good = raised == 1 && raised_code == code && raised_on == comm && class_of(code) == class;
    if (!good)
        fprintf(stderr, "returned class %d, raised %d times, class %d\n", class_of(code), raised,
                class_of(raised_code));
    raised = 0;
    return good;
}

static void errors(int graph)
{
    MPI_Comm comm = ring(graph), plain;
    MPI_Errhandler handler;
    MPI_Request request;
    int sent[4] = { 0 }, got[4], ones[2] = { 1, 1 }, at[2] = { 0, 1 };
    MPI_Aint bytes[2] = { 0, sizeof(int) };
    MPI_Datatype types[2] = { MPI_INT, MPI_INT };
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
    /* More comes than there is room for, which Open MPI says of messages to others only. */
    if (world_size > 1)
        RAISES(MPI_ERR_TRUNCATE, comm,
               MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 1, MPI_INT, comm));
    /* No communicator to raise it on: it is MPI_COMM_SELF's. */
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
    for (int graph = 0; graph < 2; graph++) {
        for (int dup = 0; dup < 2; dup++)
            for (int persistent = 0; persistent <= HAS_INIT; persistent++)
                nobody_waits(graph, dup, persistent);
#if HAS_INIT
        again_and_again(graph);
#endif
        for (int how = 0; how < 4; how++)
            many_at_once(graph, how % 2, how / 2);
        errors(graph);
    }
    return finish();
}
