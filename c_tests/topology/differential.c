/* Random topologies, drawn by all ranks from the seed in the first argument. Each rank prints the result of each
 * query. */
#include "differential_edges.h"

enum { TOPOLOGIES = 28 };

static unsigned long long state;

/* A xorshift generator of the numbers 0..n-1. */
static int draw(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)((state >> 33) % (unsigned)n);
}

/* Duplicates by one of three functions; no duplicate for other kinds. */
static void duplicate(int kind, const char *name, MPI_Comm comm, int sorted)
{
    MPI_Comm copy;
    char label[NAME_LENGTH];
    if (kind > 2)
        return;
    if (kind == 0)
        CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
    if (kind == 1)
        CHECK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy) == MPI_SUCCESS);
    if (kind == 2)
        CHECK(duplicate_later(comm, &copy) == MPI_SUCCESS);
    snprintf(label, sizeof label, "%s duplicate", name);
    say_topology(label, copy, sorted);
    MPI_Comm_free(&copy);
}

/* Prints and checks whether the process is left out. */
static int left_out(const char *name, MPI_Comm comm, int vertices)
{
    say("%s: %s\n", name, comm == MPI_COMM_NULL ? "left out" : "in");
    CHECK((comm == MPI_COMM_NULL) == (world_rank >= vertices));
    return comm == MPI_COMM_NULL;
}

/* A random size below the number of processes, often the largest possible or a divisor of it. */
static int draw_size(int room)
{
    int size = 1 + draw(room);
    if (draw(3) == 0)
        size = room;
    while (draw(2) && room % size)
        size--;
    return size;
}

static void random_cart(int number)
{
    int ndims = draw(7), dims[6], periods[6], cells = 1, remain[6], kept = 0;
    char name[NAME_LENGTH];
    MPI_Comm cart, sub;
    for (int d = 0; d < ndims; d++)
        dims[d] = 1, periods[d] = draw(2);
    for (int d = 0, at; d < ndims; d++) {
        at = draw(ndims);
        cells /= dims[at];
        dims[at] = draw_size(world_size / cells);
        cells *= dims[at];
    }
    for (int d = 0; d < ndims; d++)
        kept += remain[d] = draw(2);
    int copy = draw(6), sub_copy = draw(6);
    snprintf(name, sizeof name, "cart %d", number);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart) == MPI_SUCCESS);
    if (left_out(name, cart, cells))
        return;
    say_cart(name, cart);
    duplicate(copy, name, cart, 0);
    /* MPICH 4.0 returns MPI_COMM_NULL to most processes if no dimension is kept; see cart.c. */
    if (kept > 0) {
        CHECK(MPI_Cart_sub(cart, remain, &sub) == MPI_SUCCESS);
        snprintf(name, sizeof name, "sub %d", number);
        say_cart(name, sub);
        duplicate(sub_copy, name, sub, 0);
        MPI_Comm_free(&sub);
    }
    MPI_Comm_free(&cart);
}

static void random_graph(int number)
{
    int nnodes = draw_size(world_size), index[nnodes], edges[nnodes * 6 + 1], count = 0;
    char name[NAME_LENGTH];
    MPI_Comm graph;
    for (int node = 0; node < nnodes; node++) {
        int degree = draw(4) ? draw(6) : 0;
        for (int i = 0; i < degree; i++, count++) {
            edges[count] = draw(nnodes);
            if (i && draw(4) == 0)
                edges[count] = edges[count - 1];
            else if (draw(5) == 0)
                edges[count] = node;
        }
        index[node] = count;
    }
    int copy = draw(6);
    snprintf(name, sizeof name, "graph %d", number);
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, nnodes, index, edges, 0, &graph) == MPI_SUCCESS);
    if (left_out(name, graph, nnodes))
        return;
    say_graph(name, graph);
    duplicate(copy, name, graph, 0);
    MPI_Comm_free(&graph);
}

static struct edges random_edges(void)
{
    struct edges edges = { 0, NULL };
    int most = draw(4) ? 3 * world_size : 2, count = draw(most + 1), givers = draw(3);
    for (int i = 0; i < count; i++) {
        int source = draw(world_size), destination = draw(world_size);
        int giver = givers == 0 ? source : givers == 1 ? draw(world_size) : world_size - 1;
        if (i && draw(3) == 0)
            source = edges.list[i - 1].source;
        if (i && draw(4) == 0)
            destination = edges.list[i - 1].destination;
        add_edge(&edges, source, destination, draw(3) ? draw(5) : draw(2147483647), giver);
    }
    return edges;
}

/* The same edges by both constructors. */
static void random_dist_graph(int number)
{
    struct edges edges = random_edges();
    enum weighting weighting = draw(3);
    char name[NAME_LENGTH];
    MPI_Comm comm;
    snprintf(name, sizeof name, "adjacent %d", number);
    comm = create_adjacent(MPI_COMM_WORLD, &edges, weighting, MPI_INFO_NULL, 0);
    check_edges(comm, &edges, weighting, 0);
    say_dist_graph(name, comm, 0);
    duplicate(draw(6), name, comm, 0);
    MPI_Comm_free(&comm);
    snprintf(name, sizeof name, "by edges %d", number);
    comm = create_by_edges(MPI_COMM_WORLD, &edges, weighting, MPI_INFO_NULL, 0);
    check_edges(comm, &edges, weighting, 1);
    say_dist_graph(name, comm, 1);
    duplicate(draw(6), name, comm, 1);
    MPI_Comm_free(&comm);
    drop_edges(&edges);
}

int main(int argc, char **argv)
{
    void (*const topologies[])(int) = { random_cart, random_cart, random_graph, random_dist_graph };
    begin(&argc, &argv);
    state = 88172645463325252ull ^ (argc > 1 ? strtoull(argv[1], NULL, 10) : 0) * 2654435761u;
    for (int i = 0; i < 20; i++)
        draw(2);
    for (int number = 0; number < TOPOLOGIES; number++)
        topologies[number < 4 ? number : draw(4)](number);
    return finish();
}
