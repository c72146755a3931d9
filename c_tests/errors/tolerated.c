/* Calls that the standard forbids but every host accepts, because no process communicates along the odd parts:
 * each process gets its own arguments back, and such programs continue. */
#include "../topology/differential.h"

/* The edges of one process in one direction, at most ROOM. */
enum { ROOM = 4 };
struct ends {
    int degree, ranks[ROOM], weights[ROOM];
};

/* A variable, since the compiler warns if MPI_UNWEIGHTED is a plain address. */
static const int *unweighted;

static void add(struct ends *ends, int rank, int weight)
{
    ends->ranks[ends->degree] = (rank + world_size) % world_size;
    ends->weights[ends->degree++] = weight;
}

static int same(const struct ends *ends, const int *ranks, const int *weights, int weighted)
{
    size_t bytes = ends->degree * sizeof(int);
    return !memcmp(ends->ranks, ranks, bytes) && (!weighted || !memcmp(ends->weights, weights, bytes));
}

/* Creates an adjacent graph from the arguments of all ranks. Queries must return the edges of the own vertex,
 * which the process with that rank in MPI_COMM_WORLD passed. Returns the communicator. */
static MPI_Comm adjacent(const char *name, const struct ends *into, const struct ends *away,
                         int weighted, int reorder)
{
    struct { struct ends into, away; int weighted; } own = { *into, *away, weighted }, vertex, all[64];
    int rank, counts[3], ranks[2][ROOM], weights[2][ROOM];
    MPI_Comm made = MPI_COMM_NULL;
    CHECK(MPI_Dist_graph_create_adjacent(
              MPI_COMM_WORLD, into->degree, into->ranks, weighted ? into->weights : MPI_UNWEIGHTED,
              away->degree, away->ranks, weighted ? away->weights : MPI_UNWEIGHTED, MPI_INFO_NULL,
              reorder, &made)
          == MPI_SUCCESS);
    if (!CHECK(made != MPI_COMM_NULL))
        return made;
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Comm_rank(made, &rank);
    vertex = all[rank];
    CHECK(MPI_Dist_graph_neighbors_count(made, &counts[0], &counts[1], &counts[2]) == MPI_SUCCESS);
    CHECK(counts[0] == vertex.into.degree && counts[1] == vertex.away.degree);
    CHECK(!counts[2] == !vertex.weighted);
    CHECK(MPI_Dist_graph_neighbors(made, counts[0], ranks[0], weights[0], counts[1], ranks[1],
                                   weights[1])
          == MPI_SUCCESS);
    CHECK(same(&vertex.into, ranks[0], weights[0], vertex.weighted));
    CHECK(same(&vertex.away, ranks[1], weights[1], vertex.weighted));
    if (!reorder) {
        say_dist_graph(name, made, 0);
        say_duplicates(name, made, 0);
    }
    return made;
}

/* Blocks along edges that both ends have must arrive; there are no other edges. */
static void exchange(const char *name, MPI_Comm comm, const struct ends *into)
{
    int rank, got[ROOM] = { 0 };
    MPI_Comm_rank(comm, &rank);
    CHECK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm) == MPI_SUCCESS);
    for (int i = 0; i < into->degree; i++)
        CHECK(got[i] == into->ranks[i]);
    say_ints(name, got, into->degree);
}

static void ends_cases(void)
{
    MPI_Comm made;
    for (int reorder = 0; reorder <= 1; reorder++) {
        struct ends none = { 0 }, next = { 0 }, previous = { 0 }, more = { 0 }, heavy = { 0 };
        add(&next, world_rank + 1, 2);
        add(&previous, world_rank - 1, 2);
        add(&heavy, world_rank - 1, 7 + world_rank);
        add(&more, world_rank - 1, 2);
        add(&more, 0, 5);

        made = adjacent("out-edges only", &none, &next, 1, reorder);
        MPI_Comm_free(&made);
        made = adjacent("in-edges only", &previous, &none, 0, reorder);
        MPI_Comm_free(&made);
        made = adjacent("shifted", &next, &next, 0, reorder);
        MPI_Comm_free(&made);
        made = adjacent("one more in", &more, &next, 1, reorder);
        MPI_Comm_free(&made);
        made = adjacent("a loop of rank 0", world_rank ? &none : &more, &none, 1, reorder);
        MPI_Comm_free(&made);

        /* Each edge carries a block; only the weights are odd. */
        made = adjacent("other weights", &heavy, &next, 1, reorder);
        if (!reorder)
            exchange("other weights, allgather", made, &heavy);
        MPI_Comm_free(&made);
        made = adjacent("weights on odd ranks", &previous, &next, world_rank % 2, reorder);
        if (!reorder)
            exchange("weights on odd ranks, allgather", made, &previous);
        MPI_Comm_free(&made);
    }
    /* Only some ranks ask for reordering. */
    struct ends next = { 0 }, previous = { 0 };
    int rank;
    add(&next, world_rank + 1, 2);
    add(&previous, world_rank - 1, 2);
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, previous.ranks, unweighted, 1,
                                         next.ranks, unweighted, MPI_INFO_NULL,
                                         world_rank % 2, &made)
          == MPI_SUCCESS);
    MPI_Comm_rank(made, &rank);
    if (world_size > 1)
        CHECK(rank == world_rank);
    exchange("reorder on odd ranks, allgather", made, &previous);
    MPI_Comm_free(&made);
}

static void grids(void)
{
    /* Processes disagree on the ends of a row. */
    for (int reorder = 0; reorder <= 1; reorder++) {
        int dims[1] = { world_size }, periods[1] = { world_rank % 2 }, got[1], coords[1], rank;
        MPI_Comm made = MPI_COMM_NULL;
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, reorder, &made) == MPI_SUCCESS);
        if (!CHECK(made != MPI_COMM_NULL))
            return;
        MPI_Comm_rank(made, &rank);
        CHECK(MPI_Cart_get(made, 1, dims, got, coords) == MPI_SUCCESS);
        CHECK(dims[0] == world_size && coords[0] == rank);
        if (world_size > 1)
            CHECK(rank == world_rank && got[0] == world_rank % 2);
        if (!reorder) {
            say_cart("periods on odd ranks", made);
            say_duplicates("periods on odd ranks", made, 0);
        }
        MPI_Comm_free(&made);
    }
}

/* Each process passes only its own neighbors in a ring. */
static void graphs(void)
{
    int n = world_size;
    for (int reorder = 0; reorder <= 1; reorder++) {
        int index[64], edges[128] = { 0 }, got[2], sum[2] = { -1, -1 }, rank;
        MPI_Comm made = MPI_COMM_NULL;
        for (int i = 0; i < n; i++)
            index[i] = 2 * (i + 1);
        edges[2 * world_rank] = (world_rank + n - 1) % n;
        edges[2 * world_rank + 1] = (world_rank + 1) % n;
        CHECK(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, reorder, &made) == MPI_SUCCESS);
        if (!CHECK(made != MPI_COMM_NULL))
            return;
        MPI_Comm_rank(made, &rank);
        CHECK(MPI_Graph_neighbors(made, rank, 2, got) == MPI_SUCCESS);
        CHECK(got[0] == (rank + n - 1) % n && got[1] == (rank + 1) % n);
        CHECK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, sum, 1, MPI_INT, made) == MPI_SUCCESS);
        CHECK(sum[0] == got[0] && sum[1] == got[1]);
        if (!reorder)
            say_graph("own neighbors only", made);
        MPI_Comm_free(&made);
    }
}

int main(int argc, char **argv)
{
    begin_ours(&argc, &argv);
    unweighted = MPI_UNWEIGHTED;
    ends_cases();
    grids();
    graphs();
    return finish();
}
