/* Nonblocking and persistent neighborhood collectives with repeated neighbors: which function of the host each
 * uses, and that all deliver, in any order, with any sizes, and with more room than data.
 *
 * The first argument names the communicators on which the host's neighborhood collectives are used, and not an
 * all-to-all with merged blocks: "repeated", those with repeated neighbors; "graph", all; "alltoall", none. */
#define _GNU_SOURCE
#include "neighbor_calls.h"
#include "neighbor_told.h"

enum { ROUNDS = 60, LARGER = 8193, LARGEST = 65536, DEGREE = 4, UNDER_WAY = 3 };

static const char *way = "alltoall";

/* Counts the host's all-to-alls by intercepting them. */
static int all_to_alls;

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        fprintf(stderr, "the host has no %s\n", name), abort();
    return found;
}

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                    void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                    MPI_Comm comm, MPI_Request *request)
{
    static int (*host)(const void *, const int[], const int[], const MPI_Datatype[], void *, const int[], const int[],
                       const MPI_Datatype[], MPI_Comm, MPI_Request *);
    if (!host)
        *(void **)&host = next("PMPI_Ialltoallw");
    all_to_alls++;
    return host(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
}

#if HAS_INIT
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#define ALLTOALLW_INIT PMPIX_Alltoallw_init
#else
#define ALLTOALLW_INIT PMPI_Alltoallw_init
#endif
#define NAME_OF(function) #function
#define NAME(function) NAME_OF(function)

int ALLTOALLW_INIT(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    static int (*host)(const void *, const int[], const int[], const MPI_Datatype[], void *, const int[], const int[],
                       const MPI_Datatype[], MPI_Comm, MPI_Info, MPI_Request *);
    if (!host)
        *(void **)&host = next(NAME(ALLTOALLW_INIT));
    all_to_alls++;
    return host(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request);
}
#endif

/* The neighbors of this process: its blocks come from `from`, where they have these `numbers`. */
struct neighbors {
    MPI_Comm comm;
    int degree, from[DEGREE], numbers[DEGREE];
};

/* A pending collective. Each byte of a block holds its sender, number and call. */
struct pending {
    char *sent, *got;
    int bytes, salt, persistent;
    enum operation operation;
    MPI_Request request;
};

/* The program spends most of its time on the bytes of large blocks. */
#pragma GCC optimize("O2")
static char mark(int rank, int number, int salt, int byte)
{
    return (char)(31 * rank + 7 * number + salt + byte % 251 + 1);
}

static int sends_one(enum operation operation)
{
    return operation == ALLGATHER || operation == ALLGATHERV;
}

/* Starts a collective with blocks of `bytes` bytes; receive buffers have `room` bytes. */
static int start(struct pending *pending, const struct neighbors *of, int bytes, int room)
{
    struct side send = { .buffer = pending->sent, .count = bytes, .type = MPI_CHAR };
    struct side receive = { .buffer = pending->got, .count = room, .type = MPI_CHAR };
    int rank;
    MPI_Comm_rank(of->comm, &rank);
    memset(pending->got, 0, (size_t)of->degree * room);
    for (int i = 0; i < of->degree; i++) {
        for (int byte = 0; byte < bytes; byte++)
            pending->sent[i * bytes + byte] = mark(rank, i, pending->salt, byte);
        send.counts[i] = bytes, receive.counts[i] = room;
        send.distances[i] = send.displs[i] = i * bytes, receive.distances[i] = receive.displs[i] = i * room;
        send.types[i] = receive.types[i] = MPI_CHAR;
    }
    pending->bytes = bytes;
    enum mode mode = pending->persistent ? PERSISTENT : NONBLOCKING;
    return call(pending->operation, mode, &send, &receive, of->comm, &pending->request) == MPI_SUCCESS
        && (!pending->persistent || MPI_Start(&pending->request) == MPI_SUCCESS);
}

/* Waits for a collective; returns whether all data is at its place, and nothing else was touched. */
static int finished(struct pending *pending, const struct neighbors *of, int room)
{
    int good = MPI_Wait(&pending->request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (pending->persistent)
        MPI_Request_free(&pending->request);
    for (int i = 0; i < of->degree; i++) {
        int number = sends_one(pending->operation) ? 0 : of->numbers[i];
        for (int byte = 0; byte < room; byte++)
            good &= pending->got[i * room + byte]
                == (of->from[i] >= 0 && byte < pending->bytes ? mark(of->from[i], number, pending->salt, byte) : 0);
    }
    return good;
}

static void make_room(struct pending pending[], int count)
{
    for (int i = 0; i < count; i++) {
        pending[i].sent = malloc(DEGREE * LARGEST);
        pending[i].got = malloc(2 * DEGREE * LARGEST);
    }
}

static void give_back(struct pending pending[], int count)
{
    for (int i = 0; i < count; i++)
        free(pending[i].sent), free(pending[i].got);
}

/* All operations, nonblocking and persistent, with blocks of many sizes, and the functions of the host that they
 * use. */
static void all_sizes(const struct neighbors *of, int repeated)
{
    static const int sizes[] = { 0, 4, 512, LARGER, LARGEST };
    struct pending one[1];
    int size;
    MPI_Comm_size(of->comm, &size);
    int knows = size > 1 && (!strcmp(way, "graph") || (!strcmp(way, "repeated") && repeated));
    CHECK(host_knows(of->comm) == knows);
    make_room(one, 1);
    for (enum operation operation = ALLGATHER; operation < OPERATIONS; operation++)
        for (int persistent = 0; persistent <= HAS_INIT; persistent++)
            for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                int before = all_to_alls;
                one->operation = operation, one->persistent = persistent, one->salt = s;
                CHECK(start(one, of, sizes[s], sizes[s]));
                /* On one process an empty message replaces the collective. */
                CHECK(all_to_alls - before == (!knows && (size > 1 || persistent)));
                CHECK(finished(one, of, sizes[s]));
            }
    give_back(one, 1);
}

/* Receive buffers may be larger than blocks; the data does not become contiguous. */
static void more_room(const struct neighbors *of)
{
    static const int sizes[] = { 0, 4, 3000, LARGER };
    struct pending one[1];
    int size;
    MPI_Comm_size(of->comm, &size);
    if (!strcmp(way, "alltoall") || size == 1)
        return;
    make_room(one, 1);
    for (enum operation operation = ALLGATHER; operation < OPERATIONS; operation++)
        for (int persistent = 0; persistent <= HAS_INIT; persistent++)
            for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                one->operation = operation, one->persistent = persistent, one->salt = 3 * s;
                CHECK(start(one, of, sizes[s], 2 * sizes[s] + 1));
                CHECK(finished(one, of, 2 * sizes[s] + 1));
            }
    give_back(one, 1);
}

/* Blocks of a datatype that the program frees during the collective, before it creates others. */
static void freed_types(const struct neighbors *of)
{
    int sent[4 * DEGREE], got[4 * DEGREE], rank;
    MPI_Comm_rank(of->comm, &rank);
    for (int round = 0; round < 20 * (1 + HAS_INIT); round++) {
        const int persistent = round >= 20, each = round % 2;
        MPI_Datatype type, other;
        MPI_Request request;
        MPI_Type_vector(2, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        const enum mode mode = persistent ? PERSISTENT : NONBLOCKING;
        struct side send = { .buffer = sent, .count = 1, .type = type };
        struct side receive = { .buffer = got, .count = 1, .type = type };
        for (int i = 0; i < 4 * DEGREE; i++)
            sent[i] = 1000 * rank + 100 * (round % 5) + i, got[i] = -1;
        CHECK(call(each ? ALLTOALL : ALLGATHER, mode, &send, &receive, of->comm, &request) == MPI_SUCCESS);
        MPI_Type_free(&type);
        MPI_Type_vector(3, 1, 5, MPI_CHAR, &other);
        if (persistent)
            MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (persistent)
            MPI_Request_free(&request);
        MPI_Type_free(&other);
        /* The extent is three ints. */
        for (int i = 0; i < of->degree; i++) {
            const int first = 1000 * of->from[i] + 100 * (round % 5) + (each ? 3 * of->numbers[i] : 0);
            const int *block = &got[3 * i];
            CHECK(of->from[i] < 0 ? block[0] == -1 && block[2] == -1 : block[0] == first && block[2] == first + 2);
            CHECK(block[1] == -1);
        }
    }
}

static unsigned next_random(unsigned *state)
{
    *state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
    return *state;
}

/* Calls of all kinds, several pending at a time. All processes of a `part` use one order, and each part another;
 * collectives of all processes run in between. Blocks that are small in one part are large in another. */
static void in_one_order(const struct neighbors *of, int part)
{
    unsigned own = 2463534242u + 7919 * part, common = 88172645u;
    struct pending pending[UNDER_WAY];
    int rank, size;
    MPI_Comm_rank(of->comm, &rank), MPI_Comm_size(of->comm, &size);
    int *everybody = malloc(size * sizeof(int));
    make_room(pending, UNDER_WAY);
    for (int round = 0; round < ROUNDS; round++) {
        int bytes[UNDER_WAY], sent = 1000 * round + rank;
        MPI_Request gathered;
        for (int i = 0; i < UNDER_WAY; i++) {
            pending[i].operation = next_random(&common) % OPERATIONS;
            pending[i].persistent = HAS_INIT && next_random(&common) % 3 == 0;
            pending[i].salt = round + i;
            bytes[i] = next_random(&own) % 2 ? 1 + next_random(&own) % 64 : LARGER + next_random(&own) % 100;
            CHECK(start(&pending[i], of, bytes[i], bytes[i]));
            if (i == round % UNDER_WAY)
                CHECK(MPI_Iallgather(&sent, 1, MPI_INT, everybody, 1, MPI_INT, of->comm, &gathered) == MPI_SUCCESS);
        }
        CHECK(MPI_Wait(&gathered, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        for (int i = 0; i < size; i++)
            CHECK(everybody[i] == 1000 * round + i);
        for (int i = UNDER_WAY - 1; i >= 0; i--)
            CHECK(finished(&pending[i], of, bytes[i]));
    }
    give_back(pending, UNDER_WAY);
    free(everybody);
}

static struct neighbors grid(int ndims, const int dims[], int periodic)
{
    const int periods[2] = { periodic, periodic };
    struct neighbors made = { .degree = 2 * ndims };
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &made.comm) == MPI_SUCCESS);
    for (int i = 0; i < made.degree; i++) {
        int less, more;
        MPI_Cart_shift(made.comm, i / 2, 1, &less, &more);
        made.from[i] = i % 2 ? more : less, made.numbers[i] = i ^ 1;
    }
    return made;
}

/* Edges in both directions; `to` is the end of the k-th edge, which is the k-th there too. */
static struct neighbors adjacent(int degree, const int to[])
{
    struct neighbors made = { .degree = degree };
    for (int i = 0; i < degree; i++)
        made.from[i] = to[i], made.numbers[i] = i;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, to, MPI_UNWEIGHTED, degree, to, MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &made.comm)
          == MPI_SUCCESS);
    return made;
}

static void all_of(struct neighbors of, int repeated)
{
    all_sizes(&of, repeated);
    if (repeated)
        more_room(&of);
    freed_types(&of);
    in_one_order(&of, 0);
    MPI_Comm_free(&of.comm);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (argc > 1)
        way = argv[1];
    const int row[2] = { world_size, 1 }, two[2] = { 2, world_size / 2 };
    all_of(grid(1, row, 1), world_size < 3);
    all_of(grid(2, row, 1), 1);
    all_of(grid(2, row, 0), 0);
    if (world_size % 2 == 0)
        all_of(grid(2, two, 1), 1);
    /* Pairs with two edges between them: separate parts of the communicator. A single process is its own neighbor. */
    int other = (world_rank ^ 1) < world_size ? world_rank ^ 1 : world_rank;
    const int twice[3] = { other, world_rank, other };
    struct neighbors pairs = adjacent(3, twice);
    all_sizes(&pairs, 1);
    more_room(&pairs);
    freed_types(&pairs);
    in_one_order(&pairs, world_rank / 2);
    MPI_Comm_free(&pairs.comm);
    /* Only the first pair has more than one edge, which other processes do not know; a single process has none. */
    const int edges[2] = { other, other };
    struct neighbors odd = adjacent(world_rank < 2 ? 2 : other != world_rank, edges);
    all_sizes(&odd, 1);
    in_one_order(&odd, world_rank / 2);
    MPI_Comm_free(&odd.comm);
    return finish();
}
