/* Sends messages with each function that the recorder counts, and prints the expected recording: the lines of each
 * rank's part, with the rank in front. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, TAG = 7 };

static int rank, size;
static long long messages[2][MOST], bytes[2][MOST];
static double out[64], in[64 * MOST];

/* Counts a sent or fetched message of this many bytes. */
static void expect(int got, int world, long long count)
{
    messages[got][world]++;
    bytes[got][world] += count;
}

static void expect_sent(int world, long long count)
{
    expect(0, world, count);
}

static void print(void)
{
    const char *names[2][2] = { { "sent", "to" }, { "got", "from" } };
    char text[8192];
    int used = 0;
    for (int got = 0; got < 2; got++)
        for (int i = 0; i < size; i++)
            if (messages[got][i])
                used += snprintf(text + used, sizeof text - used,
                                 "%d {\"%s\":{\"%s\":%d,\"messages\":%lld,\"bytes\":%lld}}\n", rank,
                                 names[got][0], names[got][1], i, messages[got][i], bytes[got][i]);
    fputs(text, stdout);
}

static MPI_Request expected_messages[4];

static void receive(MPI_Comm comm, int from, int n)
{
    for (int i = 0; i < n; i++)
        MPI_Irecv(in, 512, MPI_BYTE, from, TAG, comm, &expected_messages[i]);
}

static void received(int n)
{
    MPI_Waitall(n, expected_messages, MPI_STATUSES_IGNORE);
}

/* Sends to rank `to` of comm, whose rank in the world is `world`, and receives from the rank `from`. */
static void messages_on(MPI_Comm comm, int to, int from, int world)
{
    static char room[1 << 16];
    void *detached;
    int room_size;
    MPI_Request request[4];
    MPI_Buffer_attach(room, sizeof room);

    receive(comm, from, 4);
    MPI_Barrier(comm);
    MPI_Send(out, 1, MPI_DOUBLE, to, TAG, comm), expect_sent(world, 8);
    MPI_Bsend(out, 2, MPI_DOUBLE, to, TAG, comm), expect_sent(world, 16);
    MPI_Rsend(out, 3, MPI_INT, to, TAG, comm), expect_sent(world, 12);
    MPI_Ssend(out, 0, MPI_DOUBLE, to, TAG, comm), expect_sent(world, 0);
    received(4);

    receive(comm, from, 4);
    MPI_Barrier(comm);
    MPI_Isend(out, 4, MPI_CHAR, to, TAG, comm, &request[0]), expect_sent(world, 4);
    MPI_Ibsend(out, 5, MPI_CHAR, to, TAG, comm, &request[1]), expect_sent(world, 5);
    MPI_Issend(out, 6, MPI_CHAR, to, TAG, comm, &request[2]), expect_sent(world, 6);
    MPI_Irsend(out, 7, MPI_CHAR, to, TAG, comm, &request[3]), expect_sent(world, 7);
    received(4);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&detached, &room_size);

    /* A type counts without its gaps. */
    MPI_Datatype pair;
    MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Sendrecv(out, 3, pair, to, TAG, in, 512, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
    expect_sent(world, 24);
    MPI_Type_free(&pair);
    MPI_Sendrecv_replace(out, 9, MPI_CHAR, to, TAG, from, TAG, comm, MPI_STATUS_IGNORE);
    expect_sent(world, 9);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, TAG, comm);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, TAG, in, 1, MPI_INT, MPI_PROC_NULL, TAG, comm,
                 MPI_STATUS_IGNORE);
}

static void persistent_on(MPI_Comm comm, int to, int from, int world)
{
    MPI_Request request[4];
    MPI_Send_init(out, 1, MPI_INT, to, TAG, comm, &request[0]);
    MPI_Recv_init(in, 512, MPI_BYTE, from, TAG, comm, &request[1]);
    MPI_Ssend_init(out, 3, MPI_INT, to, TAG, comm, &request[2]);
    MPI_Recv_init(in + 64, 512, MPI_BYTE, from, TAG, comm, &request[3]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(4, request), expect_sent(world, 4), expect_sent(world, 12);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&request[1]);
    MPI_Start(&request[0]), expect_sent(world, 4);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&request[i]);
    /* Receives may reuse the handles of the sends before. */
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(in, 512, MPI_BYTE, from, TAG, comm, &request[i]);
    MPI_Startall(4, request);
    for (int i = 0; i < 4; i++)
        MPI_Send(out, 2, MPI_CHAR, to, TAG, comm), expect_sent(world, 2);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&request[i]);
}

/* Communicators of different processes in different orders, created repeatedly so that handles are reused. */
static void many_communicators(void)
{
    for (int round = 0; round < 50; round++) {
        MPI_Comm comm, copy;
        int own, count, color = (rank / (1 + round % 3)) % 2, world[MOST];
        MPI_Comm_split(MPI_COMM_WORLD, color, round % 2 ? -rank : rank, &comm);
        MPI_Comm_dup(comm, &copy);
        MPI_Comm_rank(comm, &own);
        MPI_Comm_size(comm, &count);
        MPI_Allgather(&rank, 1, MPI_INT, world, 1, MPI_INT, comm);
        MPI_Sendrecv(out, round, MPI_CHAR, (own + 1) % count, TAG, in, 512, MPI_CHAR,
                     (own + count - 1) % count, TAG, round % 5 ? copy : comm, MPI_STATUS_IGNORE);
        expect_sent(world[(own + 1) % count], round);
        MPI_Comm_free(&comm);
        MPI_Comm_free(&copy);
    }
}

/* An intercommunicator between the even and the odd ranks. */
static void inter_communicator(void)
{
    MPI_Comm half, inter;
    int own, theirs;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? (size - 1) & ~1 : (size & ~1) - 1, TAG,
                         &inter);
    MPI_Comm_remote_size(inter, &theirs);
    if (own < theirs) {
        /* Ranks descend: rank 0 of the evens is the largest even one. */
        int world = 2 * (theirs - 1 - own) + (1 - rank % 2);
        MPI_Sendrecv(out, 11, MPI_CHAR, own, TAG, in, 64, MPI_CHAR, own, TAG, inter, MPI_STATUS_IGNORE);
        expect_sent(world, 11);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void all_to_alls(void)
{
    MPI_Comm half;
    int own, count, world[MOST], counts[MOST], places[MOST], room[MOST];
    MPI_Datatype types[MOST];
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Comm_size(half, &count);
    MPI_Allgather(&rank, 1, MPI_INT, world, 1, MPI_INT, half);
    /* Each rank sends i bytes to each, where i is the sum of both ranks; rank 0 gets only the empty block. */
    for (int i = 0; i < count; i++) {
        counts[i] = i && own ? i + own : 0;
        places[i] = 16 * i;
        types[i] = MPI_CHAR;
        room[i] = 16 * i;
    }
    MPI_Alltoall(out, 2, MPI_CHAR, in, 2, MPI_CHAR, half);
    MPI_Ialltoall(out, 1, MPI_CHAR, in, 1, MPI_CHAR, half, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 3, MPI_CHAR, half);
    MPI_Alltoallv(out, counts, places, MPI_CHAR, in, counts, room, MPI_CHAR, half);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, room, MPI_CHAR, half);
    MPI_Alltoallw(out, counts, places, types, in, counts, room, types, half);
    MPI_Ialltoallv(out, counts, places, MPI_CHAR, in, counts, room, MPI_CHAR, half, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        if (i == own)
            continue;
        expect_sent(world[i], 2), expect_sent(world[i], 1), expect_sent(world[i], 3);
        for (int k = 0; k < 4 && counts[i]; k++)
            expect_sent(world[i], counts[i]);
    }
    MPI_Comm_free(&half);
}

static void neighborhoods(void)
{
    MPI_Comm comm;
    int dims[1] = { size }, periodic[1] = { 1 }, left = (rank + size - 1) % size, right = (rank + 1) % size;
    int counts[2] = { 1, 2 }, back[2] = { 2, 1 }, places[2] = { 0, 16 };
    MPI_Aint far[2] = { 0, 16 };
    MPI_Datatype types[2] = { MPI_CHAR, MPI_CHAR };
    MPI_Request request;

    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &comm);
    MPI_Neighbor_alltoall(out, 3, MPI_CHAR, in, 3, MPI_CHAR, comm);
    expect_sent(left, 3), expect_sent(right, 3);
    MPI_Neighbor_allgather(out, 4, MPI_CHAR, in, 4, MPI_CHAR, comm);
    expect_sent(left, 4), expect_sent(right, 4);
    MPI_Ineighbor_alltoall(out, 5, MPI_CHAR, in, 5, MPI_CHAR, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_sent(left, 5), expect_sent(right, 5);
    MPI_Neighbor_alltoallv(out, counts, places, MPI_CHAR, in, back, places, MPI_CHAR, comm);
    expect_sent(left, 1), expect_sent(right, 2);
    MPI_Neighbor_alltoallw(out, counts, far, types, in, back, far, types, comm);
    expect_sent(left, 1), expect_sent(right, 2);
#if defined(PERSISTENT)
    MPI_Neighbor_alltoall_init(out, 6, MPI_CHAR, in, 6, MPI_CHAR, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request), expect_sent(left, 6), expect_sent(right, 6);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
#endif
    MPI_Comm_free(&comm);

    /* Except at the ends of a row. */
    periodic[0] = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &comm);
    MPI_Neighbor_alltoall(out, 7, MPI_CHAR, in, 7, MPI_CHAR, comm);
    if (rank)
        expect_sent(left, 7);
    if (rank < size - 1)
        expect_sent(right, 7);
    MPI_Comm_free(&comm);

    /* Each rank sends to the next. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_allgather(out, 8, MPI_CHAR, in, 8, MPI_CHAR, comm), expect_sent(right, 8);
    MPI_Comm_free(&comm);

    /* Every other rank exchanges messages with rank 0. */
    int index[MOST], edges[2 * MOST], n = 0;
    for (int i = 1; i < size; i++)
        edges[n++] = i;
    index[0] = n;
    for (int i = 1; i < size; i++) {
        edges[n++] = 0;
        index[i] = n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    MPI_Neighbor_alltoall(out, 9, MPI_CHAR, in, 9, MPI_CHAR, comm);
    for (int i = 0; i < size; i++)
        if ((rank == 0) != (i == 0))
            expect_sent(i, 9);
    MPI_Comm_free(&comm);
}

static void one_sided(void)
{
    static int memory[64];
    int value = 1, compare = 0, next = (rank + 1) % size;
    MPI_Comm turned;
    MPI_Win win;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, turned, &win);
    /* Ranks of the window descend. */
    int target = size - 1 - next;
    MPI_Win_fence(0, win);
    MPI_Put(out, 3, MPI_INT, target, 0, 3, MPI_INT, win), expect_sent(next, 12);
    MPI_Win_fence(0, win);
    MPI_Get(in, 4, MPI_INT, target, 0, 4, MPI_INT, win), expect(1, next, 16);
    MPI_Win_fence(0, win);
    MPI_Accumulate(memory + 32, 2, MPI_INT, target, 8, 2, MPI_INT, MPI_SUM, win), expect_sent(next, 8);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Get_accumulate(memory + 32, 2, MPI_INT, in, 2, MPI_INT, target, 8, 2, MPI_INT, MPI_SUM, win);
    expect_sent(next, 8), expect(1, next, 8);
    MPI_Get_accumulate(NULL, 0, MPI_INT, in + 8, 2, MPI_INT, target, 8, 2, MPI_INT, MPI_NO_OP, win);
    expect(1, next, 8);
    MPI_Fetch_and_op(&value, in + 16, MPI_INT, target, 16, MPI_SUM, win);
    expect_sent(next, 4), expect(1, next, 4);
    MPI_Compare_and_swap(&value, &compare, in + 24, MPI_INT, target, 17, win);
    expect_sent(next, 4), expect(1, next, 4);
    MPI_Rput(out, 1, MPI_INT, target, 20, 1, MPI_INT, win, &request), expect_sent(next, 4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget(in + 32, 1, MPI_INT, target, 20, 1, MPI_INT, win, &request), expect(1, next, 4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(target, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&turned);
}

/* Functions of MPI-4, if the host has them. */
static void newest(int to, int from)
{
    (void)to, (void)from;
#if defined(PARTITIONED)
    MPI_Request request[2];
    MPI_Psend_init(out, 4, 2, MPI_INT, to, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(in, 4, 2, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, request), expect_sent(to, 32);
        for (int i = 0; i < 4; i++)
            MPI_Pready(i, request[0]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    MPI_Isendrecv(out, 5, MPI_CHAR, to, TAG, in, 5, MPI_CHAR, from, TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE), expect_sent(to, 5);
#endif
#if defined(LARGE_COUNTS)
    MPI_Request sending;
    MPI_Isend_c(out, (MPI_Count)6, MPI_CHAR, to, TAG, MPI_COMM_WORLD, &sending), expect_sent(to, 6);
    MPI_Recv(in, 64, MPI_CHAR, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Sendrecv_c(out, 7, MPI_CHAR, to, TAG, in, 7, MPI_CHAR, from, TAG, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    expect_sent(to, 7);
#endif
}

static void collectives(void)
{
    int value = rank, sum;
    MPI_Request request;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Comm turned;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;

    messages_on(MPI_COMM_WORLD, next, last, next);
    persistent_on(MPI_COMM_WORLD, next, last, next);
    /* The same processes in the opposite order. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    int own = size - 1 - rank, other = (own + 1) % size;
    messages_on(turned, other, (own + size - 1) % size, size - 1 - other);
    persistent_on(turned, other, (own + size - 1) % size, size - 1 - other);
    MPI_Comm_free(&turned);
    many_communicators();
    if (size > 1)
        inter_communicator();
    all_to_alls();
    neighborhoods();
    one_sided();
    newest(next, last);
    collectives();
    print();
    MPI_Finalize();
    return 0;
}
