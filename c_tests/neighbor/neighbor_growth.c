/* No neighborhood collective leaks memory. Bytes in use are counted, not pages.
 *
 * A leak repeats in each call, while a pool of the host grows only sometimes: so the smallest growth of several
 * windows counts, and it may be less than the smallest allocation. Hosts leak by themselves (MPICH 4.0.2 a little
 * with each datatype, Open MPI 5.0.11 with each persistent collective): each case has the calls of the host that
 * it needs, and their leak is subtracted. The argument is the number of calls in a window; with "graph" after it,
 * the host runs all collectives with a request. */
#define _GNU_SOURCE
#include "neighbor_calls.h"
#include "neighbor_told.h"

#include <malloc.h>

enum { WINDOWS = 6, LEAST_ALLOCATION = 16, MOST_PROCESSES = 8 };

static const int ones[4] = { 1, 1, 1, 1 };
/* The size that `changing` sends from. */
static int sent[32], got[16];


/* Each process is its own neighbor in the second dimension. */
static MPI_Comm torus(void)
{
    int dims[2] = { world_size, 1 };
    MPI_Comm comm;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, ones, 0, &comm) == MPI_SUCCESS);
    return comm;
}

static MPI_Datatype strided(void)
{
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void blocking(MPI_Comm comm)
{
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
}

static void nonblocking(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Another layout in each call, so that none is cached. */
static void changing(MPI_Comm comm)
{
    static int round, displs[4] = { 0, 0, 2, 3 };
    MPI_Request request;
    displs[1] = 1 + round++ % 100;
    MPI_Ineighbor_alltoallv(sent, ones, displs, MPI_CHAR, got, ones, ones, MPI_CHAR, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void derived(MPI_Comm comm)
{
    static const MPI_Aint at[4] = { 0, 16, 32, 48 };
    MPI_Datatype type = strided(), types[4] = { type, type, type, type };
    MPI_Request request;
    MPI_Ineighbor_alltoallw(sent, ones, at, types, got, ones, at, types, comm, &request);
    MPI_Type_free(&type);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One neighbor in each direction: the first datatype is the only one. */
static void derived_once(MPI_Comm unused)
{
    static MPI_Comm comm = MPI_COMM_NULL;
    static const MPI_Aint at[1] = { 0 };
    const int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
    MPI_Datatype type = strided();
    MPI_Request request;
    (void)unused;
    if (comm == MPI_COMM_NULL)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &comm);
    MPI_Ineighbor_alltoallw(sent, ones, at, &type, got, ones, at, &type, comm, &request);
    MPI_Type_free(&type);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A datatype of the program, and datatypes derived from it. */
static void types(int count)
{
    static const MPI_Aint at[2] = { 4 * sizeof(int), 0 };
    MPI_Datatype type = strided(), types[2] = { type, type }, made[4];
    for (int i = 0; i < count; i++) {
        MPI_Type_create_struct(2, ones, at, types, &made[i]);
        MPI_Type_commit(&made[i]);
    }
    MPI_Type_free(&type);
    for (int i = 0; i < count; i++)
        MPI_Type_free(&made[i]);
}

/* The datatypes of a call: one for each side, if both neighbors are one process. */
static void three_types(MPI_Comm comm)
{
    (void)comm;
    types(2);
}

#if HAS_INIT
/* The name in Open MPI 4. */
#if !HOST_HAS_INIT && defined(OMPI_MAJOR_VERSION)
int MPIX_Alltoallw_init(const void *, const int[], const int[], const MPI_Datatype[], void *,
                        const int[], const int[], const MPI_Datatype[], MPI_Comm, MPI_Info,
                        MPI_Request *);
#define MPI_Alltoallw_init MPIX_Alltoallw_init
#endif

static void persistent(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Neighbor_alltoall_init(sent, 1, MPI_INT, got, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* Returns a function of the host, whose name Cartograph also defines. */
static void *host_function(const char *name)
{
    Dl_info host;
    void *library = dladdr(dlsym(RTLD_DEFAULT, "PMPI_Waitall"), &host)
        ? dlopen(host.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
        : NULL;
    return library ? dlsym(library, name) : NULL;
}

/* True if the host runs collectives of the torus, which leak a different amount. */
static int all_by_host;

/* The same neighbors by the host, on its own communicator. */
static void persistent_neighbors(void)
{
    static int (*create)(MPI_Comm, int, const int[], const int[], int, const int[], const int[], MPI_Info, int, MPI_Comm *);
    static int (*init)(const void *, const int[], const MPI_Aint[], const MPI_Datatype[], void *, const int[],
                       const MPI_Aint[], const MPI_Datatype[], MPI_Comm, MPI_Info, MPI_Request *);
    static const MPI_Aint at[4] = { 0, 4, 8, 12 };
    const MPI_Datatype types[4] = { MPI_INT, MPI_INT, MPI_INT, MPI_INT };
    static MPI_Comm graph = MPI_COMM_NULL;
    MPI_Request request;
    if (!create) {
        const int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
        const int sources[4] = { left, right, world_rank, world_rank };
        *(void **)&create = host_function("PMPI_Dist_graph_create_adjacent");
        *(void **)&init = host_function("PMPI_Neighbor_alltoallw_init");
        if (!init)
            *(void **)&init = host_function("PMPIX_Neighbor_alltoallw_init");
        if (!CHECK(create && init))
            return;
        create(MPI_COMM_WORLD, 4, sources, MPI_UNWEIGHTED, 4, sources, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    }
    init(sent, ones, at, types, got, ones, at, types, graph, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void persistent_processes(MPI_Comm comm)
{
    int counts[MOST_PROCESSES], displs[MOST_PROCESSES] = { 0 };
    MPI_Datatype types[MOST_PROCESSES];
    MPI_Request request;
    for (int i = 0; i < world_size; i++)
        counts[i] = 1, types[i] = MPI_INT;
    MPI_Alltoallw_init(sent, counts, displs, types, got, counts, displs, types, comm, MPI_INFO_NULL,
                       &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void persistent_all(MPI_Comm comm)
{
    if (all_by_host && world_size > 1)
        persistent_neighbors();
    else
        persistent_processes(comm);
}

/* Requests that need datatypes, with another layout each time. */
static void persistent_changing(MPI_Comm comm)
{
    static char apart[1 << 17];
    static MPI_Aint from[4] = { 0, 0, 64, 128 };
    static const MPI_Aint to[4] = { 0, 16, 32, 48 };
    static int round;
    MPI_Datatype type = strided(), types[4] = { type, type, type, type };
    MPI_Request request;
    from[1] = 256 + round++ % ((int)sizeof apart - 512);
    MPI_Neighbor_alltoallw_init(apart, ones, from, types, got, ones, to, types, comm, MPI_INFO_NULL,
                                &request);
    MPI_Type_free(&type);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* Blocks of a process to itself are also merged. */
static void persistent_types(MPI_Comm comm)
{
    if (host_knows(comm) == 1)
        persistent_neighbors();
    else
        persistent_processes(comm);
    types(4);
}
#endif

/* A communicator that is used by all functions and freed. */
static void communicator(MPI_Comm unused)
{
    MPI_Comm comm = torus();
    (void)unused;
    blocking(comm);
    nonblocking(comm);
    MPI_Comm_free(&comm);
}

static void nothing(MPI_Comm comm)
{
    (void)comm;
}

/* The smallest growth of a window, in bytes per call. */
static double growth(void (*call)(MPI_Comm), int calls)
{
    MPI_Comm comm = torus();
    double least = 1e9;
    for (int window = 0; window < WINDOWS; window++) {
        struct mallinfo2 before = mallinfo2(), after;
        for (int i = 0; i < calls; i++)
            call(comm);
        after = mallinfo2();
        double grown = (double)(after.uordblks + after.hblkhd) - (before.uordblks + before.hblkhd);
        if (grown / calls < least)
            least = grown / calls;
    }
    MPI_Comm_free(&comm);
    return least;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*ours)(MPI_Comm), (*host)(MPI_Comm);
    } cases[] = {
        { "blocking", blocking, nothing },
        { "nonblocking", nonblocking, nothing },
        { "changing layouts", changing, three_types },
        { "derived datatypes", derived, three_types },
        { "derived datatypes, one neighbor", derived_once, three_types },
#if HAS_INIT
        { "persistent", persistent, persistent_all },
        { "persistent, derived datatypes of changing layouts", persistent_changing, persistent_types },
#endif
        { "communicator", communicator, three_types },
    };
    begin(&argc, &argv);
    int calls = argc > 1 ? atoi(argv[1]) : 1000;
    const char *way = getenv("CARTOGRAPH_NEIGHBOR");
    all_by_host = !way || strcmp(way, "alltoall");
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* A live datatype: with one, MPICH 4.0.2 leaks memory for others. */
        MPI_Datatype alive = strided();
        double host = growth(cases[i].host, calls), ours = growth(cases[i].ours, calls);
        if (!CHECK(ours < host + LEAST_ALLOCATION))
            fprintf(stderr, "%s: %.1f bytes a call, the host %.1f\n", cases[i].name, ours, host);
        MPI_Type_free(&alive);
    }
    return finish();
}
