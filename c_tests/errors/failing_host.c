/* Each call of Cartograph into the host fails once: the k-th call of a step, for k = 1, 2, ... until the step has
 * fewer calls. Communication takes place before it fails, like a message that is too long; other calls fail
 * without an effect. With "all" both processes fail. With "one" only the last process fails, and only in
 * constructors and local calls: otherwise the first would wait for a missing message, which MPI permits.
 *
 * A step may still succeed. If it fails, the handler of its communicator is called once, and no other handler.
 * Then everything works again, data is right, and nothing leaks. */
#define _GNU_SOURCE
#include "../check.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <unistd.h>

/* ---- Calls of Cartograph ---- */

static uintptr_t first, last;
static int all_fail, armed, calls, has_failed, of_no_communicator, kills;
static const char *failed_in = "nothing", *last_call = "nothing";

static int find_library(struct dl_phdr_info *info, size_t size, void *inside)
{
    uintptr_t from = UINTPTR_MAX, to = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            from = at < from ? at : from;
            to = at + info->dlpi_phdr[i].p_memsz > to ? at + info->dlpi_phdr[i].p_memsz : to;
        }
    if ((uintptr_t)inside < from || (uintptr_t)inside >= to)
        return 0;
    first = from, last = to;
    return 1;
}

static int is_next(const char *name, int is_local, void *caller)
{
    if (!armed || (!is_local && !all_fail) || (uintptr_t)caller < first || (uintptr_t)caller >= last)
        return 0;
    last_call = name;
    if (++calls != armed)
        return 0;
    if (kills)
        kill(getpid(), SIGKILL);
    has_failed = 1;
    failed_in = name;
    return 1;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Raises an error like the host: without a communicator, on MPI_COMM_WORLD. */
static int raised(MPI_Comm comm)
{
    int was_armed = armed;
    of_no_communicator = comm == MPI_COMM_WORLD;
    armed = 0;
    MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    armed = was_armed;
    return MPI_ERR_NO_MEM;
}

#define HOST(name) static __typeof__(&PMPI_##name) host; if (!host) *(void **)&host = next("PMPI_" #name)
#define IS_NEXT(name, is_local) is_next(#name, is_local, __builtin_return_address(0))

/* A call that fails before it has an effect. */
#define REFUSES(name, parameters, arguments, refuse)                                                                    \
    int PMPI_##name parameters                                                                                          \
    {                                                                                                                   \
        HOST(name);                                                                                                     \
        if (IS_NEXT(name, strcmp(#name, "Isend") && strcmp(#name, "Irecv")))                                                                                              \
            return refuse;                                                                                              \
        return host arguments;                                                                                          \
    }

/* A call that fails at its end. */
#define FAILS(name, parameters, arguments, undo, refuse)                                                                \
    int PMPI_##name parameters                                                                                          \
    {                                                                                                                   \
        HOST(name);                                                                                                     \
        int is_the_one = IS_NEXT(name, 0), code = host arguments;                                                          \
        if (!is_the_one || code != MPI_SUCCESS)                                                                         \
            return code;                                                                                                \
        undo;                                                                                                           \
        return refuse;                                                                                                  \
    }

REFUSES(Comm_create_keyval, (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *keyval, void *state),
        (copy, delete, keyval, state), raised(MPI_COMM_WORLD))
REFUSES(Comm_set_attr, (MPI_Comm comm, int keyval, void *value), (comm, keyval, value), raised(comm))
REFUSES(Comm_create_errhandler, (MPI_Comm_errhandler_function *function, MPI_Errhandler *handler), (function, handler),
        raised(MPI_COMM_WORLD))
REFUSES(Type_commit, (MPI_Datatype *type), (type), raised(MPI_COMM_WORLD))
REFUSES(Type_contiguous, (int count, MPI_Datatype type, MPI_Datatype *made), (count, type, made), raised(MPI_COMM_WORLD))
REFUSES(Type_create_struct, (int count, const int lengths[], const MPI_Aint displs[], const MPI_Datatype types[],
                             MPI_Datatype *made), (count, lengths, displs, types, made), raised(MPI_COMM_WORLD))
REFUSES(Type_create_keyval, (MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *delete, int *keyval,
                             void *state), (copy, delete, keyval, state), raised(MPI_COMM_WORLD))
REFUSES(Type_set_attr, (MPI_Datatype type, int keyval, void *value), (type, keyval, value), raised(MPI_COMM_WORLD))
REFUSES(Isend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, to, tag, comm, request), raised(comm))
REFUSES(Irecv, (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, from, tag, comm, request), raised(comm))
REFUSES(Recv_init, (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, from, tag, comm, request), raised(comm))
REFUSES(Add_error_code, (int class, int *code), (class, code), raised(MPI_COMM_WORLD))
REFUSES(Add_error_string, (int code, const char *text), (code, text), raised(MPI_COMM_WORLD))
FAILS(Ialltoallw, (const void *send, const int scounts[], const int sdispls[], const MPI_Datatype stypes[], void *receive,
                   const int rcounts[], const int rdispls[], const MPI_Datatype rtypes[], MPI_Comm comm, MPI_Request *request),
      (send, scounts, sdispls, stypes, receive, rcounts, rdispls, rtypes, comm, request), MPI_Wait(request, MPI_STATUS_IGNORE),
      raised(comm))
FAILS(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made),
      if (*made != MPI_COMM_NULL) MPI_Comm_free(made), raised(comm))
FAILS(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), (comm, type, key, info, made),
      if (*made != MPI_COMM_NULL) MPI_Comm_free(made), raised(comm))
FAILS(Allreduce, (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (send, receive, count, type, op, comm), , raised(comm))
FAILS(Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), (buffer, count, type, root, comm), ,
      raised(comm))
FAILS(Gather, (const void *send, int scount, MPI_Datatype stype, void *receive, int rcount, MPI_Datatype rtype, int root,
               MPI_Comm comm), (send, scount, stype, receive, rcount, rtype, root, comm), , raised(comm))
FAILS(Gatherv, (const void *send, int scount, MPI_Datatype stype, void *receive, const int rcounts[], const int displs[],
                MPI_Datatype rtype, int root, MPI_Comm comm), (send, scount, stype, receive, rcounts, displs, rtype, root, comm),
      , raised(comm))
FAILS(Scatter, (const void *send, int scount, MPI_Datatype stype, void *receive, int rcount, MPI_Datatype rtype, int root,
                MPI_Comm comm), (send, scount, stype, receive, rcount, rtype, root, comm), , raised(comm))
FAILS(Sendrecv, (const void *send, int scount, MPI_Datatype stype, int to, int stag, void *receive, int rcount,
                 MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Status *status),
      (send, scount, stype, to, stag, receive, rcount, rtype, from, rtag, comm, status), , raised(comm))
FAILS(Wait, (MPI_Request *request, MPI_Status *status), (request, status), , MPI_ERR_TRUNCATE)
FAILS(Waitall, (int count, MPI_Request requests[], MPI_Status *statuses), (count, requests, statuses), , MPI_ERR_INTERN)

/* ---- Steps ---- */

enum { BLOCKS = 26, MOST = 2 * BLOCKS };

static MPI_Comm base, grid = MPI_COMM_NULL;
static MPI_Datatype pair;
static int told, told_others;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
        told_others++;
    else
        told++;
}

/* True with two processes, where each is a neighbor twice. */
static int is_ring;

static int make_grid(MPI_Comm *made)
{
    int dims[2] = { world_size, 1 }, periods[2] = { is_ring, 1 };
    return MPI_Cart_create(base, 2, dims, periods, 1, made);
}

static int make_graph(MPI_Comm *made)
{
    int index[8], edges[16], count = 0;
    for (int i = 0; i < world_size; i++) {
        if (i > 0)
            edges[count++] = i - 1;
        if (i < world_size - 1)
            edges[count++] = i + 1;
        index[i] = count;
    }
    return MPI_Graph_create(base, world_size, index, edges, 1, made);
}

static int make_adjacent(MPI_Comm *made)
{
    int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
    return MPI_Dist_graph_create_adjacent(base, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, made);
}

static int make_general(MPI_Comm *made)
{
    int right = (world_rank + 1) % world_size, degree = 1;
    return MPI_Dist_graph_create(base, 1, &world_rank, &degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, made);
}

static int make_part(MPI_Comm *made)
{
    int remain[2] = { 1, 0 };
    return MPI_Cart_sub(grid, remain, made);
}

static int make_duplicate(MPI_Comm *made)
{
    return MPI_Comm_dup(grid, made);
}

typedef int maker(MPI_Comm *made);
static const struct {
    const char *name;
    maker *make;
} makers[] = { { "Cart_create", make_grid }, { "Graph_create", make_graph }, { "Dist_graph_create_adjacent", make_adjacent },
               { "Dist_graph_create", make_general }, { "Cart_sub", make_part }, { "Comm_dup", make_duplicate } };

/* Runs each kind of collective on the grid: a block from the left was sent to the right, and in the second
 * dimension each process is its own neighbor. */
static int exchange(int kind, int number)
{
    int sent[8], got[8], counts[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 2, 4, 6 }, code = MPI_SUCCESS, started;
    MPI_Aint distances[4] = { 0, 8, 16, 24 };
    MPI_Datatype types[4];
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 4; i++)
        types[i] = pair;
    for (int i = 0; i < 8; i++)
        sent[i] = 100 * number + 10 * world_rank + i, got[i] = -1;
    switch (kind) {
    case 0:
        code = MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, grid);
        break;
    case 1:
        code = MPI_Neighbor_alltoallw(sent, counts, distances, types, got, counts, distances, types, grid);
        break;
    default:
        counts[0] = counts[1] = counts[2] = counts[3] = 2;
        code = kind == 2 ? MPI_Ineighbor_alltoall(sent, 1, pair, got, 1, pair, grid, &request)
                         : MPI_Ineighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, grid, &request);
        started = code == MPI_SUCCESS;
        if (started)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (code != MPI_SUCCESS)
        return code;
    int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
    for (int i = 0; i < 2; i++) {
        CHECK(got[i] == (world_rank || is_ring ? 100 * number + 10 * left + 2 + i : -1));
        CHECK(got[2 + i] == (world_rank < world_size - 1 || is_ring ? 100 * number + 10 * right + i : -1));
        CHECK(got[4 + i] == sent[6 + i] && got[6 + i] == sent[4 + i]);
    }
    return MPI_SUCCESS;
}

static const char *step;

static void stuck(int signal)
{
    (void)signal;
    fprintf(stderr, "rank %d hangs in %s, where call %d, %s, failed; the last call was %s\n", world_rank, step, armed, failed_in,
            last_call);
    _exit(1);
}

/* Checks that everything works. */
static void all_is_well(void)
{
    told = told_others = 0;
    for (int kind = 0; kind < 4; kind++)
        CHECK(exchange(kind, kind) == MPI_SUCCESS);
    CHECK(told == 0 && told_others == 0);
}

static void arm(int call)
{
    calls = told = told_others = has_failed = of_no_communicator = 0;
    armed = all_fail || world_rank == world_size - 1 ? call : -1;
    failed_in = "nothing";
    alarm(20);
}

/* Returns whether a call failed on any process. */
static int disarm(int code)
{
    int any = has_failed;
    armed = 0;
    alarm(0);
    CHECK(code == MPI_SUCCESS ? told == 0 : told + told_others == 1);
    CHECK(told_others == 0 || of_no_communicator);
    if (checks_failed)
        fprintf(stderr, "rank %d: in %s, where call %d, %s, failed: code %d, told %d and %d others\n", world_rank, step, calls,
                failed_in, code, told, told_others);
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

int main(int argc, char **argv)
{
    int any;
    MPI_Errhandler counting;
    begin(&argc, &argv);
    kills = argc > 3 && strcmp(argv[1], "killed") == 0;
    all_fail = argc < 2 || strcmp(argv[1], "all") == 0 || kills;
    dl_iterate_phdr(find_library, dlsym(RTLD_DEFAULT, "MPI_Cart_create"));
    signal(SIGALRM, stuck);
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_create_errhandler(handler, &counting);
    MPI_Comm_set_errhandler(base, counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting), MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    MPI_Type_contiguous(2, MPI_INT, &pair), MPI_Type_commit(&pair);
    CHECK(make_grid(&grid) == MPI_SUCCESS);
    all_is_well();
    if (kills) {
        MPI_Comm made;
        if (world_rank == world_size - 1)
            armed = atoi(argv[3]);
        makers[atoi(argv[2])].make(&made);
        armed = 0;
        if (world_rank == world_size - 1)
            printf("there were %d calls\n", calls);
        return finish();
    }
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        any = 1;
        for (int k = 1; any && !checks_failed; k++) {
            MPI_Comm made = MPI_COMM_NULL;
            step = makers[i].name;
            arm(k);
            int code = makers[i].make(&made);
            any = disarm(code);
            if (code == MPI_SUCCESS && made != MPI_COMM_NULL)
                MPI_Comm_free(&made);
            all_is_well();
        }
    }
    for (int kind = 0; kind < 8 && all_fail; kind++) {
        if (kind == 4) {
            is_ring = 1;
            MPI_Comm_free(&grid);
            CHECK(make_grid(&grid) == MPI_SUCCESS);
        }
        any = 1;
        for (int k = 1; any && !checks_failed; k++) {
            step = "a collective";
            arm(k);
            int code = exchange(kind % 4, k);
            any = disarm(code);
            if (code != MPI_SUCCESS) {
                MPI_Comm_free(&grid);
                CHECK(make_grid(&grid) == MPI_SUCCESS);
            }
            all_is_well();
        }
    }
    MPI_Comm_free(&grid), MPI_Comm_free(&base);
    MPI_Errhandler_free(&counting), MPI_Type_free(&pair);
    return finish();
}
