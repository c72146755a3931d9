/* Different topologies at once on the ranks of one program, with a message to another rank between any two calls.
 * If all ranks are coroutines of one process (SMPI), each message switches the rank: a static or thread-local
 * variable of the library would then belong to another rank.
 *
 * For the same reason this program has no static variables and no check.h: it also works if ranks share them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 6, MOST_NDIMS = 3, MOST_DEGREE = 2 * MOST_NDIMS };

/* A process, and its part of the world. */
struct self {
    int world_rank, world_size, passed, failed, turns;
    int kind, rank, size; /* of the part */
};

/* The expected topology of a part. */
struct shape {
    int topology, ndims, dims[MOST_NDIMS], periods[MOST_NDIMS];
    int indegree, outdegree, from[MOST_DEGREE], to[MOST_DEGREE];
};

#define CHECK(condition) check(self, (condition), #condition, __LINE__)

static int check(struct self *self, int holds, const char *condition, int line)
{
    if (holds)
        self->passed++;
    else {
        self->failed++;
        fprintf(stderr, "rank %d (kind %d, %d of %d), turn %d: coroutines.c:%d: failed: %s\n",
                self->world_rank, self->kind, self->rank, self->size, self->turns, line, condition);
    }
    return holds;
}

/* Passes a message along a ring of all ranks: this rank continues after the others ran. */
static void turn(struct self *self)
{
    int step = 1 + self->turns % 5, sent = self->world_rank + 1000 * self->turns, received = -1;
    int next = (self->world_rank + step) % self->world_size;
    int previous = (self->world_rank + self->world_size - step % self->world_size) % self->world_size;
    MPI_Sendrecv(&sent, 1, MPI_INT, next, 1, &received, 1, MPI_INT, previous, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(received == previous + 1000 * self->turns);
    self->turns++;
}

/* A call, then a turn of the other ranks. */
#define CALL(call)                                                                                 \
    do {                                                                                           \
        int code_of_call = (call);                                                                 \
        CHECK(code_of_call == MPI_SUCCESS);                                                        \
        turn(self);                                                                                \
    } while (0)

static void add(int *list, int *length, int neighbor)
{
    list[(*length)++] = neighbor;
}

/* Grids of 1 to 3 dimensions, rings as graphs and as distributed graphs, each of a different size. */
static struct shape shape_of(const struct self *self)
{
    struct shape shape = { .topology = MPI_CART };
    int next = (self->rank + 1) % self->size, before = (self->rank + self->size - 1) % self->size;
    switch (self->kind) {
    case 0:
    case 1:
    case 2:
        shape.ndims = self->kind + 1;
        /* Other dimensions have two cells if possible, and the first has the rest. */
        for (int d = shape.ndims - 1, left = self->size; d >= 0; d--) {
            shape.dims[d] = d == 0 ? left : left % 2 ? 1 : 2;
            left /= shape.dims[d];
            shape.periods[d] = (d + self->kind) % 2 == 0;
        }
        for (int d = 0, stride = self->size; d < shape.ndims; d++) {
            stride /= shape.dims[d];
            int at = self->rank / stride % shape.dims[d];
            for (int step = -1; step <= 1; step += 2) {
                int there = at + step, neighbor = MPI_PROC_NULL;
                if (shape.periods[d])
                    there = (there + shape.dims[d]) % shape.dims[d];
                if (there >= 0 && there < shape.dims[d])
                    neighbor = self->rank + (there - at) * stride;
                add(shape.from, &shape.indegree, neighbor);
                add(shape.to, &shape.outdegree, neighbor);
            }
        }
        break;
    case 3:
        shape.topology = MPI_GRAPH;
        add(shape.from, &shape.indegree, before);
        add(shape.from, &shape.indegree, next);
        add(shape.to, &shape.outdegree, before);
        add(shape.to, &shape.outdegree, next);
        break;
    default:
        shape.topology = MPI_DIST_GRAPH;
        add(shape.from, &shape.indegree, self->kind == 4 ? before : next);
        add(shape.to, &shape.outdegree, self->kind == 4 ? next : before);
    }
    return shape;
}

static MPI_Comm create(struct self *self, const struct shape *shape, MPI_Comm part)
{
    MPI_Comm made = MPI_COMM_NULL;
    int *index, *edges, one = 1, weight = 10 + self->kind;
    switch (shape->topology) {
    case MPI_CART:
        CALL(MPI_Cart_create(part, shape->ndims, shape->dims, shape->periods, 0, &made));
        break;
    case MPI_GRAPH:
        index = malloc(self->size * sizeof *index);
        edges = malloc(2 * self->size * sizeof *edges);
        for (int rank = 0; rank < self->size; rank++) {
            index[rank] = 2 * rank + 2;
            edges[2 * rank] = (rank + self->size - 1) % self->size;
            edges[2 * rank + 1] = (rank + 1) % self->size;
        }
        CALL(MPI_Graph_create(part, self->size, index, edges, 0, &made));
        free(index);
        free(edges);
        break;
    default:
        if (self->kind == 4)
            CALL(MPI_Dist_graph_create_adjacent(part, 1, shape->from, &weight, 1, shape->to, &weight,
                                                MPI_INFO_NULL, 0, &made));
        else
            CALL(MPI_Dist_graph_create(part, 1, &self->rank, &one, shape->to, &weight, MPI_INFO_NULL,
                                       0, &made));
    }
    return made;
}

static void ask_cart(struct self *self, const struct shape *shape, MPI_Comm comm)
{
    int ndims, dims[MOST_NDIMS], periods[MOST_NDIMS], coords[MOST_NDIMS], rank;
    CALL(MPI_Cartdim_get(comm, &ndims));
    CHECK(ndims == shape->ndims);
    /* The coordinates belong to the calling rank, whichever rank called before. */
    CALL(MPI_Cart_get(comm, MOST_NDIMS, dims, periods, coords));
    for (int d = 0; d < shape->ndims; d++)
        CHECK(dims[d] == shape->dims[d] && !periods[d] == !shape->periods[d]);
    CALL(MPI_Cart_rank(comm, coords, &rank));
    CHECK(rank == self->rank);
    for (int d = 0; d < shape->ndims; d++) {
        int source, dest;
        CALL(MPI_Cart_shift(comm, d, 1, &source, &dest));
        CHECK(source == shape->from[2 * d] && dest == shape->to[2 * d + 1]);
    }
}

static void ask_graph(struct self *self, const struct shape *shape, MPI_Comm comm)
{
    int nodes, edges, count, neighbors[MOST_DEGREE];
    CALL(MPI_Graphdims_get(comm, &nodes, &edges));
    CHECK(nodes == self->size && edges == 2 * self->size);
    CALL(MPI_Graph_neighbors_count(comm, self->rank, &count));
    CHECK(count == shape->outdegree);
    CALL(MPI_Graph_neighbors(comm, self->rank, MOST_DEGREE, neighbors));
    CHECK(!memcmp(neighbors, shape->to, count * sizeof(int)));
}

static void ask_dist_graph(struct self *self, const struct shape *shape, MPI_Comm comm)
{
    int indegree, outdegree, weighted, from, to, weights[2];
    CALL(MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted));
    CHECK(indegree == 1 && outdegree == 1 && weighted);
    CALL(MPI_Dist_graph_neighbors(comm, 1, &from, weights, 1, &to, weights + 1));
    CHECK(from == shape->from[0] && to == shape->to[0]);
    CHECK(weights[0] == 10 + self->kind && weights[1] == 10 + self->kind);
}

/* Each block holds its sender, its receiver, and the turn of its part. */
static int block(const struct self *self, int from, int to, int round)
{
    return ((self->kind * 8 + round) * 2048 + from) * 2048 + to;
}

static void exchange(struct self *self, const struct shape *shape, MPI_Comm comm, int round)
{
    int sent[MOST_DEGREE], received[MOST_DEGREE];
    MPI_Request request;
    for (int i = 0; i < MOST_DEGREE; i++)
        received[i] = -1;
    for (int i = 0; i < shape->outdegree; i++)
        sent[i] = block(self, self->rank, shape->to[i], round);
    /* The host sends O(ranks) messages from each rank. */
    if (round == 0 && self->world_size <= 128) {
        CALL(MPI_Ineighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm, &request));
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else
        CALL(MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm));
    for (int i = 0; i < shape->indegree; i++) {
        int from = shape->from[i];
        CHECK(received[i] == (from == MPI_PROC_NULL ? -1 : block(self, from, self->rank, round)));
    }
}

/* Wrong calls with an error class of the part, between those of other parts. */
static void be_wrong(struct self *self, const struct shape *shape, MPI_Comm comm, MPI_Comm part)
{
    int out[MOST_NDIMS + 1], wanted, code, class;
    turn(self);
    if (shape->topology == MPI_CART) {
        wanted = MPI_ERR_RANK;
        code = MPI_Cart_coords(comm, self->size + self->kind, MOST_NDIMS, out);
    } else if (shape->topology == MPI_GRAPH) {
        wanted = MPI_ERR_TOPOLOGY;
        code = MPI_Graphdims_get(part, out, out + 1);
    } else {
        wanted = MPI_ERR_ARG;
        code = MPI_Dist_graph_neighbors_count(comm, NULL, out, out + 1);
    }
    turn(self);
    MPI_Error_class(code, &class);
    CHECK(class == wanted);
    turn(self);
}

static void ask(struct self *self, const struct shape *shape, MPI_Comm comm)
{
    int topology, rank;
    CALL(MPI_Topo_test(comm, &topology));
    CHECK(topology == shape->topology);
    CALL(MPI_Comm_rank(comm, &rank));
    CHECK(rank == self->rank);
    if (topology == MPI_CART)
        ask_cart(self, shape, comm);
    if (topology == MPI_GRAPH)
        ask_graph(self, shape, comm);
    if (topology == MPI_DIST_GRAPH)
        ask_dist_graph(self, shape, comm);
    /* Parts make different numbers of calls; all ranks switch equally often. */
    while (self->turns % 16)
        turn(self);
}

/* The kind of a part in a round; it changes from round to round. */
static void round_of(struct self *self, int round)
{
    MPI_Comm part, comm, copy;
    int key = round % 2 ? -self->world_rank : self->world_rank;
    self->kind = (self->world_rank + round) % KINDS;
    MPI_Comm_split(MPI_COMM_WORLD, self->kind, key, &part);
    MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
    MPI_Comm_rank(part, &self->rank);
    MPI_Comm_size(part, &self->size);

    struct shape shape = shape_of(self);
    comm = create(self, &shape, part);
    ask(self, &shape, comm);
    exchange(self, &shape, comm, 0);
    ask(self, &shape, comm);
    CALL(MPI_Comm_dup(comm, &copy));
    exchange(self, &shape, comm, 1);
    be_wrong(self, &shape, comm, part);
    CALL(MPI_Comm_free(&comm));
    /* A freed handle may be reused, also for another rank. */
    comm = create(self, &shape, part);
    ask(self, &shape, copy);
    exchange(self, &shape, copy, 2);
    ask(self, &shape, comm);
    CALL(MPI_Comm_free(&copy));
    exchange(self, &shape, comm, 3);
    CALL(MPI_Comm_free(&comm));
    MPI_Comm_free(&part);
    while (self->turns % 16)
        turn(self);
}

int main(int argc, char **argv)
{
    struct self here = { 0 }, *self = &here;
    /* A rank changes its part in each round. */
    int sums[2], rounds = argc > 1 ? atoi(argv[1]) : 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &self->world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self->world_size);
    for (int round = 0; round < rounds; round++)
        round_of(self, round);
    int counts[2] = { self->passed, self->failed };
    MPI_Allreduce(counts, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (self->world_rank == 0)
        printf("%d turns\n%d passed, %d failed\n", self->turns, sums[0], sums[1]);
    MPI_Finalize();
    return sums[1] != 0;
}
