/* Datatypes that the program frees, and whose handles it gets again for other types. */
#include "neighbor_calls.h"

enum { BLOCKS = 2, ROOM = 16 };

/* A ring with two edges from each process to the next. */
static MPI_Comm ring(void)
{
    const int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
    const int from[BLOCKS] = { left, left }, to[BLOCKS] = { right, right };
    MPI_Comm comm;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, BLOCKS, from, MPI_UNWEIGHTED, BLOCKS, to,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm) == MPI_SUCCESS);
    return comm;
}

/* An int and a gap. */
static MPI_Datatype spaced(int extent)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, 0, extent, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Blocks are contiguous if their elements are NARROW bytes apart. */
enum { NARROW = 4, WIDE = 12, TRIES = 20 };

/* Runs a collective on blocks of two elements of a type, 2 * NARROW bytes apart; returns whether the data is
 * right, and nothing else was touched. */
static int exchange(MPI_Comm comm, enum mode mode, MPI_Datatype type, int extent)
{
    const int left = (world_rank + world_size - 1) % world_size;
    int sent[ROOM], got[ROOM], expected[ROOM];
    struct side send = { .buffer = sent }, receive = { .buffer = got };
    MPI_Request request;
    for (int i = 0; i < ROOM; i++)
        sent[i] = 1000 * world_rank + i, got[i] = expected[i] = -1;
    for (int block = 0; block < BLOCKS; block++) {
        send.counts[block] = receive.counts[block] = 2;
        send.types[block] = receive.types[block] = type;
        send.distances[block] = receive.distances[block] = 2 * NARROW * block;
        for (int i = 0; i < 2; i++) {
            int at = (2 * NARROW * block + extent * i) / (int)sizeof(int);
            expected[at] = 1000 * left + at;
        }
    }
    if (!CHECK(call(ALLTOALLW, mode, &send, &receive, comm, &request) == MPI_SUCCESS))
        return 0;
    if (mode == PERSISTENT)
        MPI_Start(&request);
    if (mode != BLOCKING)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (mode == PERSISTENT)
        MPI_Request_free(&request);
    return memcmp(got, expected, sizeof got) == 0;
}

/* Two similar calls with the same counts, distances and handles, but with types of different extents. */
static void handle_again(enum mode mode)
{
    MPI_Comm comm = ring();
    int again = 0;
    for (int i = 0; i < TRIES; i++) {
        MPI_Datatype first = spaced(NARROW), handle = first, second;
        CHECK(exchange(comm, mode, first, NARROW));
        MPI_Type_free(&first);
        second = spaced(WIDE);
        again += second == handle;
        CHECK(exchange(comm, mode, second, WIDE));
        MPI_Type_free(&second);
    }
    /* The library may keep resources of persistent requests, including their handles. */
    CHECK(again > 0 || mode == PERSISTENT);
    MPI_Comm_free(&comm);
}

/* Requests whose types are freed before they start, and replaced by others. */
static void freed_before_start(void)
{
#if HAS_INIT
    enum { MANY = 20 };
    static int sent[MANY][ROOM], got[MANY][ROOM];
    const int left = (world_rank + world_size - 1) % world_size, ones[BLOCKS] = { 1, 1 };
    const MPI_Aint at[BLOCKS] = { 0, sizeof(int) };
    MPI_Comm comm = ring();
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Datatype type, types[BLOCKS], other;
        MPI_Type_vector(2, 1, 2 + i % 3, MPI_INT, &type);
        MPI_Type_commit(&type);
        types[0] = types[1] = type;
        for (int j = 0; j < ROOM; j++)
            sent[i][j] = 1000 * world_rank + 20 * i + j, got[i][j] = -1;
        CHECK(MPI_Neighbor_alltoallw_init(sent[i], ones, at, types, got[i], ones, at, types, comm,
                                          MPI_INFO_NULL, &requests[i]) == MPI_SUCCESS);
        MPI_Type_free(&type);
        other = spaced(WIDE);
        MPI_Type_free(&other);
    }
    CHECK(MPI_Startall(MANY, requests) == MPI_SUCCESS);
    CHECK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        int good = 1, next = 2 + i % 3;
        for (int j = 0; j < ROOM; j++) {
            int arrives = j == 0 || j == 1 || j == next || j == next + 1;
            good &= got[i][j] == (arrives ? 1000 * left + 20 * i + j : -1);
        }
        CHECK(good);
        CHECK(MPI_Request_free(&requests[i]) == MPI_SUCCESS);
    }
    MPI_Comm_free(&comm);
#endif
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (enum mode mode = BLOCKING; mode <= (HAS_INIT ? PERSISTENT : NONBLOCKING); mode++)
        handle_again(mode);
    freed_before_start();
    return finish();
}
