/* Nonblocking and persistent neighborhood collectives of the host: on which communicators the host knows the
 * neighbors, and that all collectives deliver even if it does not.
 *
 * The first argument names the expected communicators: "graph", all communicators of several processes;
 * "repeated", those with repeated neighbors; "alltoall", none; "differ", none, since rank 1 has another setting. */
#define _GNU_SOURCE
#include "neighbor_calls.h"
#include "neighbor_told.h"

enum { MOST_COMMUNICATORS = 4096, MOST_PROCESSES = 128 };

static const char *way = "alltoall";

/* Returns whether the host knows the neighbors of a communicator as the argument expects. */
static int as_told(MPI_Comm comm, int repeated)
{
    int size, known = host_knows(comm);
    MPI_Comm_size(comm, &size);
    if (!strcmp(way, "graph"))
        return known == (size > 1);
    return known == (!strcmp(way, "repeated") && size > 1 && repeated);
}

/* Runs each operation with a request, several at once; each block holds its sender and number. Blocks match by
 * edges: the k-th edge between two processes is the k-th at both ends. */
static int delivers(MPI_Comm comm, int degree, const int sources[], const int numbers[])
{
    int sent[MODES][MAX_DEGREE], got[MODES][MAX_DEGREE], rank, good = 1;
    MPI_Request requests[MODES];
    struct side sides[MODES][2];
    MPI_Comm_rank(comm, &rank);
    for (enum operation operation = ALLTOALL; operation <= ALLTOALLW; operation++) {
        for (enum mode mode = NONBLOCKING; mode <= PERSISTENT; mode++) {
            struct side *send = &sides[mode][0], *receive = &sides[mode][1];
            *send = (struct side){ .buffer = sent[mode], .count = 1, .type = MPI_INT };
            *receive = (struct side){ .buffer = got[mode], .count = 1, .type = MPI_INT };
            for (int i = 0; i < degree; i++) {
                sent[mode][i] = 1000 * rank + 100 * mode + i, got[mode][i] = -1;
                send->counts[i] = receive->counts[i] = 1;
                send->displs[i] = receive->displs[i] = i;
                send->distances[i] = receive->distances[i] = i * sizeof(int);
                send->types[i] = receive->types[i] = MPI_INT;
            }
            good &= call(operation, mode, send, receive, comm, &requests[mode]) == MPI_SUCCESS;
        }
        MPI_Start(&requests[PERSISTENT]);
        MPI_Waitall(2, &requests[NONBLOCKING], MPI_STATUSES_IGNORE);
        MPI_Request_free(&requests[PERSISTENT]);
        for (enum mode mode = NONBLOCKING; mode <= PERSISTENT; mode++)
            for (int i = 0; i < degree; i++)
                good &= got[mode][i] == (sources[i] < 0 ? -1 : 1000 * sources[i] + 100 * (int)mode + numbers[i]);
    }
    return good;
}

static MPI_Comm grid(int ndims, const int dims[], int periodic)
{
    const int periods[3] = { periodic, periodic, periodic };
    MPI_Comm comm;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm) == MPI_SUCCESS);
    return comm;
}

/* A row of all processes: a block sent to the left arrives from the right. */
static int row_delivers(MPI_Comm comm, int periodic)
{
    static const int numbers[2] = { 1, 0 };
    int rank, size;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    const int sources[2] = { rank || periodic ? (rank + size - 1) % size : -1,
                             rank + 1 < size || periodic ? (rank + 1) % size : -1 };
    return delivers(comm, 2, sources, numbers);
}

/* A grid of one column: if it is periodic, a process is its own neighbor twice in the second dimension. Meanwhile
 * the program receives from any source on the same communicator. */
static int column_delivers(MPI_Comm comm, int periodic)
{
    static const int numbers[4] = { 1, 0, 3, 2 };
    int rank, size, any = -1;
    MPI_Request waiting;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    const int sources[4] = { rank || periodic ? (rank + size - 1) % size : -1,
                             rank + 1 < size || periodic ? (rank + 1) % size : -1,
                             periodic ? rank : -1, periodic ? rank : -1 };
    /* Persistent collectives of the bare host fail with one process (docs/design/neighborhood.md). */
    if (size > 1)
        MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &waiting);
    int good = delivers(comm, 4, sources, numbers) && any == -1;
    if (size > 1) {
        MPI_Barrier(comm);
        MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 7, comm);
        MPI_Wait(&waiting, MPI_STATUS_IGNORE);
        good &= any == (rank + size - 1) % size;
    }
    return good;
}

static void rows(void)
{
    static const int keep_first[2] = { 1, 0 }, keep_both[2] = { 1, 1 };
    const int dims[2] = { world_size, 1 };
    for (int periodic = 0; periodic < 2; periodic++) {
        MPI_Comm comm = grid(1, dims, periodic), copy, narrow = grid(2, dims, periodic), part;
        const int few = periodic && world_size < 3;
        CHECK(as_told(comm, few) && as_told(narrow, periodic));
        CHECK(row_delivers(comm, periodic) && column_delivers(narrow, periodic));
        CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS && as_told(copy, few));
        MPI_Comm_free(&comm);
        CHECK(row_delivers(copy, periodic));
        CHECK(MPI_Cart_sub(narrow, keep_first, &part) == MPI_SUCCESS && as_told(part, few));
        CHECK(row_delivers(part, periodic));
        MPI_Comm_free(&part);
        CHECK(MPI_Cart_sub(narrow, keep_both, &part) == MPI_SUCCESS && as_told(part, periodic));
        CHECK(column_delivers(part, periodic));
        MPI_Comm_free(&part), MPI_Comm_free(&copy), MPI_Comm_free(&narrow);
    }
}

/* Three edges to the next process; a star, whose degrees differ; a ring. */
static void graphs(void)
{
    const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
    const int to[3] = { right, right, right }, from[3] = { left, left, left }, numbers[3] = { 0, 1, 2 };
    const int star = world_rank == 0;
    int others[MOST_PROCESSES], rooted[1] = { 0 }, degrees[1] = { 3 };
    MPI_Comm comm;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, MPI_UNWEIGHTED, 3, to, MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &comm) == MPI_SUCCESS);
    CHECK(as_told(comm, 1) && delivers(comm, 3, from, numbers));
    MPI_Comm_free(&comm);
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm)
          == MPI_SUCCESS);
    CHECK(as_told(comm, 1) && delivers(comm, 3, from, numbers));
    MPI_Comm_free(&comm);
    /* From rank 0 to all others, and to itself. */
    for (int leads_back = 0; leads_back < 2; leads_back++) {
        int degree = 0, got = -1;
        for (int i = !leads_back; i < world_size; i++)
            others[degree++] = i;
        int indegree = !star || leads_back, outdegree = star ? degree : 0;
        CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, indegree, rooted, MPI_UNWEIGHTED, outdegree, others,
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm) == MPI_SUCCESS);
        CHECK(as_told(comm, 0));
        int sent = 7 + leads_back;
        MPI_Request request;
        CHECK(MPI_Ineighbor_allgather(&sent, 1, MPI_INT, &got, 1, MPI_INT, comm, &request) == MPI_SUCCESS);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(got == (indegree ? 7 + leads_back : -1));
        MPI_Comm_free(&comm);
    }
    /* A ring in both directions, passed by all ranks. */
    int index[MOST_PROCESSES], edges[2 * MOST_PROCESSES];
    for (int i = 0; i < world_size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + world_size - 1) % world_size, edges[2 * i + 1] = (i + 1) % world_size;
    }
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &comm) == MPI_SUCCESS);
    const int both[2] = { left, right }, crossed[2] = { world_size > 2, world_size < 3 };
    CHECK(as_told(comm, world_size < 3) && delivers(comm, 2, both, crossed));
    MPI_Comm_free(&comm);
}

/* Arguments that the host refuses in a collective on all processes, in Open MPI with other error classes. */
static void errors(void)
{
#if !defined(OMPI_MAJOR_VERSION)
    static int sent[2], got[2], ones[2] = { 1, 1 }, negative[2] = { 1, -1 };
    static const MPI_Aint at[2] = { 0, 4 };
    MPI_Datatype types[2] = { MPI_INT, MPI_INT }, null[2] = { MPI_INT, MPI_DATATYPE_NULL }, unfinished[2];
    MPI_Comm comm = grid(1, &world_size, 1);
    MPI_Request request = MPI_REQUEST_NULL;
    int class;
#define REFUSED(expected, ...) CHECK(MPI_Error_class(__VA_ARGS__, &class) == MPI_SUCCESS && class == expected)
    REFUSED(MPI_ERR_COUNT, MPI_Ineighbor_alltoallw(sent, negative, at, types, got, ones, at, types, comm, &request));
    REFUSED(MPI_ERR_COUNT, MPI_Ineighbor_alltoallw(sent, ones, at, types, got, negative, at, types, comm, &request));
    REFUSED(MPI_ERR_TYPE, MPI_Ineighbor_alltoallw(sent, ones, at, null, got, ones, at, types, comm, &request));
    REFUSED(MPI_ERR_TYPE, MPI_Ineighbor_alltoallw(sent, ones, at, types, got, ones, at, null, comm, &request));
    MPI_Type_contiguous(1, MPI_INT, &unfinished[0]);
    unfinished[1] = unfinished[0];
    REFUSED(MPI_ERR_TYPE,
            MPI_Ineighbor_alltoallw(sent, ones, at, unfinished, got, ones, at, types, comm, &request));
    MPI_Type_free(&unfinished[0]);
    REFUSED(MPI_ERR_COUNT, MPI_Neighbor_alltoallw_init(sent, negative, at, types, got, ones, at, types, comm,
                                                       MPI_INFO_NULL, &request));
    REFUSED(MPI_ERR_BUFFER, MPI_Ineighbor_alltoallw(NULL, ones, at, types, got, ones, at, types, comm, &request));
    REFUSED(MPI_ERR_BUFFER, MPI_Ineighbor_alltoallw(sent, ones, at, types, NULL, ones, at, types, comm, &request));
    REFUSED(MPI_ERR_BUFFER, MPI_Ineighbor_alltoallw(NULL, ones, at, types, NULL, ones, at, types, comm, &request));
    REFUSED(MPI_ERR_BUFFER, MPI_Neighbor_alltoallw(NULL, ones, at, types, got, ones, at, types, comm));
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Comm_free(&comm);
#endif
}

static int copies;

static int copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)copy = value;
    return *flag = 1, MPI_SUCCESS;
}

/* Duplicates copy attributes of the program; topologies do not. */
static void attributes(void)
{
    MPI_Comm base, comm, self = MPI_COMM_SELF;
    int key, found = 1;
    void *value;
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(base, key, &key), MPI_Comm_set_attr(self, key, &key);
    CHECK(MPI_Cart_create(base, 1, &world_size, &world_size, 0, &comm) == MPI_SUCCESS
          && as_told(comm, world_size < 3));
    CHECK(MPI_Comm_get_attr(comm, key, &value, &found) == MPI_SUCCESS && !found && copies == 0);
    MPI_Comm_delete_attr(self, key);
    MPI_Comm_free(&comm), MPI_Comm_free(&base), MPI_Comm_free_keyval(&key);
}

/* As many topologies as the host has communicators, twice: none leaks. */
static void as_many_as_there_are(void)
{
    static MPI_Comm comms[MOST_COMMUNICATORS];
    const int no = 0;
    int made[2];
    for (int round = 0; round < 2; round++) {
        for (made[round] = 0; made[round] < MOST_COMMUNICATORS; made[round]++)
            if (MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &no, 0, &comms[made[round]]) != MPI_SUCCESS)
                break;
        if (made[round])
            CHECK(row_delivers(comms[made[round] - 1], 0));
        for (int i = 0; i < made[round]; i++)
            MPI_Comm_free(&comms[i]);
    }
    CHECK(made[0] >= 2000 && made[0] == made[1]);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (argc > 1)
        way = argv[1];
    if (!strcmp(way, "differ") && world_rank == 1)
        setenv("CARTOGRAPH_NEIGHBOR", "alltoall", 1);
    /* This test comes first, since the library tests the host only once. */
    attributes();
    rows();
    graphs();
    errors();
    if (argc > 2)
        as_many_as_there_are();
    return finish();
}
