/* Open MPI 4's persistent neighborhood collectives, MPIX_Neighbor_*_init of <mpi-ext.h>, by their C names, PMPIX
 * names and Fortran names. On a ring and on a graph with double edges, blocks arrive as with the functions without
 * a request. */
#include "neighbor_calls.h"

#if defined(OMPI_MAJOR_VERSION)
#include <mpi-ext.h>
#endif

enum { EDGES = 2, NAMES = 2 };

/* The other names, also weak. */
DECLARE_FIVE(PMPIX_Neighbor_, _init, int, int, MPI_Comm, MPI_Info, MPI_Request *)

#define DECLARE_FORTRAN(operation, ...) \
    __attribute__((weak)) extern void mpix_neighbor_##operation##_init_(__VA_ARGS__), mpix_neighbor_##operation##_init__(__VA_ARGS__), \
        pmpix_neighbor_##operation##_init_(__VA_ARGS__), pmpix_neighbor_##operation##_init__(__VA_ARGS__);
typedef const int *in;
DECLARE_FORTRAN(alltoall, const void *, in, in, void *, in, in, in, in, int *, int *)
DECLARE_FORTRAN(alltoallw, const void *, in, const MPI_Aint *, in, void *, in, const MPI_Aint *, in, in, in, int *, int *)

static int by_c(enum operation operation, int name, const struct side *s, const struct side *r, MPI_Comm comm,
                MPI_Request *request)
{
    const int *scounts = s->counts, *sdispls = s->displs, *rcounts = r->counts, *rdispls = r->displs;
    if (name == 0)
        FIVE_CALLS(MPIX_Neighbor_, _init, comm, MPI_INFO_NULL, request)
    FIVE_CALLS(PMPIX_Neighbor_, _init, comm, MPI_INFO_NULL, request)
}

static void fill(struct side *side, int *buffer)
{
    *side = (struct side){ .buffer = buffer, .count = 1, .type = MPI_INT };
    for (int i = 0; i < EDGES; i++) {
        side->counts[i] = 1, side->displs[i] = i, side->distances[i] = i * (MPI_Aint)sizeof(int);
        side->types[i] = MPI_INT;
    }
}

/* Starts a request three times with different data, and compares the results with those of a call without a
 * request. */
static void compare(MPI_Comm comm, enum operation operation, MPI_Request *request, int *sent, const int *got)
{
    int expected[EDGES];
    struct side send, receive;
    fill(&send, sent);
    fill(&receive, expected);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < EDGES; i++)
            sent[i] = 100 * round + 10 * world_rank + i;
        CHECK(MPI_Start(request) == MPI_SUCCESS && MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(call(operation, BLOCKING, &send, &receive, comm, NULL) == MPI_SUCCESS);
        CHECK(!memcmp(got, expected, sizeof expected));
    }
    MPI_Request_free(request);
}

static void run(MPI_Comm comm)
{
    int sent[EDGES] = { 0 }, got[EDGES];
    struct side send, receive;
    MPI_Request request;
    fill(&send, sent);
    fill(&receive, got);
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int name = 0; name < NAMES; name++) {
            int code = by_c(operation, name, &send, &receive, comm, &request);
            if (CHECK(code == MPI_SUCCESS))
                compare(comm, operation, &request, sent, got);
        }

    int one = 1, type = MPI_Type_c2f(MPI_INT), handle = MPI_Comm_c2f(comm), info = MPI_Info_c2f(MPI_INFO_NULL), made;
    int types[EDGES] = { type, type }, code;
#define FORTRAN(name, operation, ...) \
    code = -77; \
    name(__VA_ARGS__, &handle, &info, &made, &code); \
    if (CHECK(code == MPI_SUCCESS)) { \
        request = MPI_Request_f2c(made); \
        compare(comm, operation, &request, sent, got); \
    }
#define FORTRAN_ALL(operation, value, ...) \
    FORTRAN(mpix_neighbor_##operation##_init_, value, __VA_ARGS__) \
    FORTRAN(mpix_neighbor_##operation##_init__, value, __VA_ARGS__) \
    FORTRAN(pmpix_neighbor_##operation##_init_, value, __VA_ARGS__) \
    FORTRAN(pmpix_neighbor_##operation##_init__, value, __VA_ARGS__)
    FORTRAN_ALL(alltoall, ALLTOALL, sent, &one, &type, got, &one, &type)
    FORTRAN_ALL(alltoallw, ALLTOALLW, sent, send.counts, send.distances, types, got, receive.counts, receive.distances,
                types)
}

int main(int argc, char **argv)
{
    int periodic = 1, to[EDGES], from[EDGES];
    MPI_Comm comm;
    begin(&argc, &argv);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &comm) == MPI_SUCCESS);
    run(comm);
    MPI_Comm_free(&comm);
    for (int i = 0; i < EDGES; i++)
        to[i] = (world_rank + 1) % world_size, from[i] = (world_rank + world_size - 1) % world_size;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, EDGES, from, MPI_UNWEIGHTED, EDGES, to, MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &comm) == MPI_SUCCESS);
    run(comm);
    MPI_Comm_free(&comm);
    return finish();
}
