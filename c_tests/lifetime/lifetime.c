/* Creating and freeing communicators leaks neither memory nor communicators, of which hosts have some thousands.
 * The argument is the number of rounds; each round creates, duplicates and frees a communicator with another kind
 * of topology, or fails to create one. */
#include "../check.h"
#include <unistd.h>

/* A CHECK that stops printing after some failures: a fault repeats in each round. */
#define HOLDS(condition) holds_at((condition), #condition, __LINE__)

static void holds_at(int holds, const char *condition, int line)
{
    if (holds || checks_failed < 5)
        check_at(holds, condition, __FILE__, line);
    else
        checks_failed++;
}

/* The memory of this process, in bytes. */
static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        HOLDS(!"/proc/self/statm can be read");
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* The duplicate is freed last: it must keep the topology by itself. */
static void dup_and_free(MPI_Comm *comm, int kind)
{
    MPI_Comm dup;
    int found = -1;
    HOLDS(MPI_Comm_dup(*comm, &dup) == MPI_SUCCESS);
    HOLDS(MPI_Comm_free(comm) == MPI_SUCCESS);
    HOLDS(MPI_Topo_test(dup, &found) == MPI_SUCCESS && found == kind);
    HOLDS(MPI_Comm_free(&dup) == MPI_SUCCESS);
}

static void cart(int round)
{
    int dims[2] = { world_size, 1 }, periods[2] = { round & 1, 0 };
    MPI_Comm comm;
    HOLDS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm) == MPI_SUCCESS);
    dup_and_free(&comm, MPI_CART);
}

static MPI_Comm grid;

static void cart_sub(int round)
{
    int remain[2] = { round & 1, 1 };
    MPI_Comm comm;
    HOLDS(MPI_Cart_sub(grid, remain, &comm) == MPI_SUCCESS);
    dup_and_free(&comm, MPI_CART);
}

static void graph(int round)
{
    /* A ring. */
    int index[64], edges[128];
    MPI_Comm comm;
    (void)round;
    for (int i = 0; i < world_size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + 1) % world_size;
        edges[2 * i + 1] = (i + world_size - 1) % world_size;
    }
    HOLDS(MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &comm) == MPI_SUCCESS);
    dup_and_free(&comm, MPI_GRAPH);
}

static void adjacent(int round)
{
    int from = (world_rank + world_size - 1) % world_size, to = (world_rank + 1) % world_size;
    MPI_Comm comm;
    HOLDS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &round, 1, &to, &round,
                                         MPI_INFO_NULL, 0, &comm)
          == MPI_SUCCESS);
    dup_and_free(&comm, MPI_DIST_GRAPH);
}

static void dist_graph(int round)
{
    int degree = 2, destinations[2] = { 0, round % world_size };
    MPI_Comm comm;
    HOLDS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &degree, destinations,
                                MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm)
          == MPI_SUCCESS);
    dup_and_free(&comm, MPI_DIST_GRAPH);
}

/* A grid that is too large on all ranks. */
static void fault_everywhere(int round)
{
    int dims[2] = { world_size, 2 + round % 5 }, periods[2] = { 0, 0 };
    MPI_Comm comm = MPI_COMM_NULL;
    int code = MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    HOLDS(class_of(code) == MPI_ERR_ARG && comm == MPI_COMM_NULL);
}

/* Only one rank passes a rank out of range. */
static void fault_on_one_rank(int round)
{
    int degree = 1, to = round % world_size == world_rank ? world_size : 0;
    MPI_Comm comm = MPI_COMM_NULL;
    int code = MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &degree, &to, MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &comm);
    HOLDS(class_of(code) == MPI_ERR_ARG && comm == MPI_COMM_NULL);
}

/* An edge leaves rank 0 without a receiver, an error with CARTOGRAPH_CHECK=edges. To name the edge, the
 * constructor creates and frees its own communicator. */
static void edges_that_do_not_match(int round)
{
    int to = round % world_size, outdegree = world_rank == 0;
    MPI_Comm comm = MPI_COMM_NULL;
    int code = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, outdegree,
                                              &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    HOLDS(class_of(code) == MPI_ERR_ARG && comm == MPI_COMM_NULL);
}

/* The same calls of the host as for a communicator with a topology, but without the topology. */
static void host_alone(int round)
{
    MPI_Comm comm, dup;
    (void)round;
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &comm);
    MPI_Comm_dup(comm, &dup);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&dup);
}

/* The growth of memory after a tenth of the rounds, when one-time allocations are over. */
static long growth(const char *name, int rounds, int number, void (*const kinds[])(int))
{
    double start = MPI_Wtime();
    long more = 0;
    for (int round = 0; round < rounds; round++) {
        if (round == rounds / 10)
            more = -resident();
        kinds[round % number](round);
    }
    more += resident();
    say("%s: %d rounds, %ld KiB more, %.1f s\n", name, rounds, more / 1024, MPI_Wtime() - start);
    return more;
}

/* The smallest growth of up to three measurements, repeated until no process exceeds the limit. A leak shows in
 * each; a pool that the host enlarges once (MPICH 5: 256 KiB) does not. */
static long least_growth(const char *name, int rounds, int number, void (*const kinds[])(int), long limit)
{
    long least = growth(name, rounds, number, kinds);
    for (int again = 0; again < 2; again++) {
        int over = least > limit;
        long more;
        MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (!over)
            break;
        more = growth(name, rounds, number, kinds);
        if (more < least)
            least = more;
    }
    return least;
}

int main(int argc, char **argv)
{
    static void (*const nothing[])(int) = { host_alone };
    static void (*const carts[])(int) = { cart };
    static void (*const kinds[])(int) = { cart, graph, adjacent, dist_graph, cart_sub };
    static void (*const faults[])(int) = { fault_everywhere, fault_on_one_rank,
                                           edges_that_do_not_match };
    /* Four thousand leaks of 16 bytes, for which malloc takes 32, exceed this limit. */
    const long noise = 64 * 1024;
    int rounds = argc > 1 ? atoi(argv[1]) : 100000, dims[2], periods[2] = { 0, 0 };
    long own, more[3];

    begin(&argc, &argv);
    dims[0] = world_size, dims[1] = 1;
    HOLDS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid) == MPI_SUCCESS);
    /* The host itself may leak; its leak is not counted. */
    own = growth("the host alone", rounds, 1, nothing);
    if (own < 0)
        own = 0;
    more[0] = least_growth("grids", rounds, 1, carts, own + noise);
    more[1] = least_growth("all kinds", rounds, 5, kinds, own + noise);
    more[2] = least_growth("faults", rounds / 10 * 6, 3, faults, own + noise);
    /* With few rounds, as under valgrind, reusable memory is still being allocated. */
    for (int i = 0; i < 3 && rounds >= 5000; i++)
        HOLDS(more[i] <= own + noise);
    MPI_Comm_free(&grid);
    return finish();
}
