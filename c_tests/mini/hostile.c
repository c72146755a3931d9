/* Intercepts the PMPI_ names, which only the library over mini calls: with MINI_FAIL=K the K-th call of each
 * process fails; with MINI_RANK_FAILS=R only in that process, and only local calls count. MINI_FAIL=0 prints the
 * number of calls at the end.
 *
 * Local calls fail before they have an effect; communication fails when it is complete, like a message that is too
 * long; functions that free always free. Calls that only read an object, or set a handler or rank, need no
 * resources and never fail; nor do error texts, which change nothing else. monitor.c checks the outcome of the
 * error. */
#include "hostile.h"

#include "error.h"
#include "live.h"
#include "message.h"
#include "shm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum when { LOCAL, REFUSED, AFTERWARDS, MAKES };

struct call {
    const char *name;
    enum when when;
    /* The argument that is the communicator, or contains it, and its position; -1 for none. */
    int place;
    enum { HANDLE, TO_HANDLE, TO_REQUEST, TO_REQUESTS } as;
};

static long count, fail_at = -1;
static int rank_fails = -1, was_local, of_no_communicator, failed_here, failed_before;
static const char *failed_in = "none";
/* The number of communicating calls in this one, and the position of the failed call: if it differs between
 * processes, messages are left. */
static int met, failed_place;
/* Active calls between the program and the library. */
static const char *function;
static struct mini_comm *watched;
/* The number of the call if it is collective, otherwise 0: the context of its communicator, and its count of
 * collectives. */
static int64_t number;
enum { CALLS = 1 << 24 };
/* The handler of communicators created meanwhile. */
static MPI_Errhandler usual;
/* Calls in callbacks of the program are nested. */
static int is_watching, told, told_others, depth;

static int is_armed(void)
{
    if (fail_at < 0) {
        const char *at = getenv("MINI_FAIL"), *rank = getenv("MINI_RANK_FAILS");
        fail_at = at ? atol(at) : 0;
        rank_fails = rank ? atoi(rank) : -1;
    }
    return fail_at > 0 && (rank_fails < 0 || rank_fails == mini_rank);
}

static __attribute__((format(printf, 1, 2))) _Noreturn void fault(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "mini: process %d: in %s, where call %ld, %s, failed: ", mini_rank, function, fail_at, failed_in);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    mini_exit(78);
}

static struct mini_comm *comm_of(const struct call *call, const long arguments[])
{
    long argument = call->place < 0 ? 0 : arguments[call->place];
    const MPI_Request *request = (MPI_Request *)argument;
    if (call->place < 0)
        return NULL;
    if (call->as == HANDLE)
        return mini_comm((MPI_Comm)argument);
    if (call->as == TO_HANDLE)
        return mini_comm(*(MPI_Comm *)argument);
    int requests = call->as == TO_REQUESTS ? (int)arguments[0] : 1;
    while (requests && *request == MPI_REQUEST_NULL)
        request++, requests--;
    return requests ? (*request)->comm : NULL;
}

static long call(const struct call *call, any_function *host, ANY_PARAMETERS)
{
    const long arguments[] = { ANY_ARGUMENTS };
    met += call->when != LOCAL;
    is_armed();
    if ((rank_fails >= 0 && call->when != LOCAL) || ++count != fail_at || !is_armed())
        return host(ANY_ARGUMENTS);
    failed_here = 1;
    failed_in = call->name;
    for (const char *letter = call->name; *letter; letter++)
        failed_place = 31 * failed_place + *letter;
    failed_place += met;
    was_local = call->when == LOCAL;
    struct mini_comm *comm = comm_of(call, arguments);
    of_no_communicator = !comm || comm->handle == MPI_COMM_WORLD || comm->handle == MPI_COMM_SELF;
    if (comm)
        comm->references++;
    int code = MPI_SUCCESS;
    if (call->when == AFTERWARDS || call->when == MAKES)
        code = (int)host(ANY_ARGUMENTS);
    MPI_Comm *made = (MPI_Comm *)arguments[3];
    if (call->when == MAKES && *made != MPI_COMM_NULL) {
        mini_comm_release(mini_comm(*made));
        *made = MPI_COMM_NULL;
    }
    if (code == MPI_SUCCESS)
        code = mini_raise(comm, MPI_ERR_NO_MEM);
    if (comm)
        mini_comm_release(comm);
    return code;
}

#define CALL(name, when, place, as)                                                                                     \
    any_function mini_##name;                                                                                           \
    long hostile_##name(ANY_PARAMETERS) __asm__("PMPI_" #name);                                                         \
    long hostile_##name(ANY_PARAMETERS)                                                                                 \
    {                                                                                                                   \
        static const struct call this = { #name, when, place, as };                                                         \
        return call(&this, mini_##name, ANY_ARGUMENTS);                                                                 \
    }

CALL(Allreduce, AFTERWARDS, 5, HANDLE)
CALL(Bcast, AFTERWARDS, 4, HANDLE)
CALL(Cancel, AFTERWARDS, 0, TO_REQUEST)
CALL(Comm_create_errhandler, LOCAL, -1, HANDLE)
CALL(Comm_create_keyval, LOCAL, -1, HANDLE)
CALL(Comm_delete_attr, AFTERWARDS, 0, HANDLE)
CALL(Comm_free, AFTERWARDS, 0, TO_HANDLE)
CALL(Comm_free_keyval, AFTERWARDS, -1, HANDLE)
CALL(Comm_set_attr, LOCAL, 0, HANDLE)
CALL(Comm_split, MAKES, 0, HANDLE)
CALL(Gather, AFTERWARDS, 7, HANDLE)
CALL(Gatherv, AFTERWARDS, 8, HANDLE)
CALL(Irecv, REFUSED, 5, HANDLE)
CALL(Isend, REFUSED, 5, HANDLE)
CALL(Request_free, AFTERWARDS, 0, TO_REQUEST)
CALL(Scatter, AFTERWARDS, 7, HANDLE)
CALL(Sendrecv, AFTERWARDS, 10, HANDLE)
CALL(Type_commit, LOCAL, -1, HANDLE)
CALL(Type_create_struct, LOCAL, -1, HANDLE)
CALL(Type_free, AFTERWARDS, -1, HANDLE)
CALL(Wait, AFTERWARDS, 0, TO_REQUEST)
CALL(Waitall, AFTERWARDS, 1, TO_REQUESTS)

any_function mini_Comm_set_errhandler;
long hostile_Comm_set_errhandler(ANY_PARAMETERS) __asm__("PMPI_Comm_set_errhandler");
long hostile_Comm_set_errhandler(ANY_PARAMETERS)
{
    struct mini_comm *comm = mini_comm((MPI_Comm)a);
    if (comm)
        comm->is_quiet = (MPI_Errhandler)b == MPI_ERRORS_RETURN;
    return mini_Comm_set_errhandler(ANY_ARGUMENTS);
}

/* ---- The outcome of an error ---- */

static int class_of(int code)
{
    int class;
    PMPI_Error_class(code, &class);
    return class;
}

/* Replaces the handlers of all communicators. */
static void note(MPI_Comm *handle, int *code, ...)
{
    struct mini_comm *comm = mini_comm(*handle);
    if (failed_before && class_of(*code) == MPI_ERR_COMM)
        /* Leftovers of an earlier call would harm this one. */
        mini_exit(77);
    if (!failed_here || failed_before) {
        /* An error that the program expects. */
        MPI_Errhandler mine = comm->handler;
        comm->handler = comm->replaced ? comm->replaced : usual;
        mini_raise(comm, *code);
        comm->handler = mine;
    } else if (comm != watched && (*handle == MPI_COMM_WORLD || *handle == MPI_COMM_SELF))
        told_others++;
    else
        /* The new communicator has the handler of the old one. */
        told++;
}

static struct MPI_ABI_Errhandler noting = { 1 << 30, note };

void mini_hostile_begin(const char *name, void *handle, int collective)
{
    if (depth++)
        return;
    /* The program itself, in calls outside the chapter. */
    if (mini_take_refusal())
        mini_exit(77);
    is_watching = is_armed();
    failed_before = failed_here;
    met = 0;
    function = name;
    watched = mini_comm(handle);
    if (watched)
        watched->references++;
    number = 0;
    if (collective && watched) {
        number = watched->context * CALLS + ++watched->calls;
        atomic_store(&mini_shared->places[mini_rank].inside, number);
    }
    if (!is_watching)
        return;
    usual = watched ? watched->handler : MPI_ERRORS_RETURN;
    told = told_others = 0;
    for (struct mini_comm *comm = mini_comms(); comm; comm = comm->next)
        if (!comm->is_quiet) {
            comm->replaced = comm->handler;
            comm->handler = &noting;
        }
}

static void put_back(void)
{
    for (struct mini_comm *comm = mini_comms(); comm; comm = comm->next)
        if (comm->handler == &noting) {
            if (!comm->replaced)
                mini_errhandler_keep(comm->replaced = usual);
            comm->handler = comm->replaced;
            comm->replaced = 0;
        }
    for (struct mini_comm *comm = mini_comms(); comm; comm = comm->next)
        if (comm->replaced) {
            mini_errhandler_release(comm->replaced);
            comm->replaced = 0;
        }
}

/* The place where a process records that it left a call. */
static _Atomic int64_t *left_by(struct mini_place *place)
{
    return &place->left[number / CALLS / 2 % MINI_LEFT];
}

/* Returns whether a process has left the call. */
static int has_left(struct mini_place *place)
{
    int64_t left = atomic_load(left_by(place));
    return !atomic_load(&place->active) || (left / CALLS == number / CALLS && left >= number);
}

/* Returns whether something may run out. */
static int has_limits(void)
{
    return getenv("MINI_CONTEXTS") || getenv("MINI_KEYVALS") || getenv("MINI_MEMORY");
}

/* Waits until all other processes have left this call or got the error; returns whether all got it, at one
 * position. */
static int all_are_told(void)
{
    int all;
    for (int rounds = 0; rounds < (was_local ? 50000 : 500); rounds++) {
        int here = 1;
        all = 1;
        for (int i = 0; i < watched->size; i++) {
            struct mini_place *place = &mini_shared->places[watched->processes[i]];
            int is_told = atomic_load(&place->told) == number;
            all &= is_told && atomic_load(&place->told_at) == failed_place;
            here &= is_told || has_left(place);
        }
        if (here)
            return all;
        mini_progress();
        usleep(100);
    }
    for (int i = 0; was_local && i < watched->size; i++) {
        struct mini_place *place = &mini_shared->places[watched->processes[i]];
        if (atomic_load(&place->inside) == number && atomic_load(&place->told) != number)
            fault("process %d hangs", watched->processes[i]);
    }
    return 0;
}

int mini_hostile_end(int code)
{
    int class = class_of(code), again = 0;
    if (--depth) {
        again = failed_here && !failed_before && class == MPI_ERR_NO_MEM;
        failed_before |= again;
        told = told_others = 0;
        return again;
    }
    if (is_watching)
        put_back();
    if (has_limits() && (class == MPI_ERR_NO_MEM || class == MPI_ERR_UNSUPPORTED_OPERATION))
        mini_exit(77);
    mini_take_refusal();
    if (failed_before && class == MPI_ERR_NO_MEM)
        fault("it fails again");
    if (failed_here && !failed_before) {
        again = code != MPI_SUCCESS;
        if (again && class != MPI_ERR_NO_MEM && class != MPI_ERR_UNSUPPORTED_OPERATION)
            fault("the class is %d", class);
        /* The host may raise an error without a communicator in addition to one that the program expects. */
        if (told > 1 || told_others > of_no_communicator || (again && told + told_others == 0) || (!again && told))
            fault("the code is %d, the handler is called %d times, others %d times", code, told, told_others);
    }
    struct mini_place *place = number ? &mini_shared->places[mini_rank] : NULL;
    if (number && again) {
        atomic_store(&place->told_at, failed_place);
        atomic_store(&place->told, number);
        if (!all_are_told() || class != MPI_ERR_NO_MEM)
            mini_exit(77);
        watched->calls--;
    } else if (number) {
        atomic_store(left_by(place), number);
        atomic_store(&place->inside, 0);
    }
    if (watched)
        mini_comm_release(watched);
    return again;
}

void mini_hostile_finalized(void)
{
    function = "MPI_Finalize";
    if (fail_at == 0 && getenv("MINI_FAIL"))
        fprintf(stderr, "mini: %ld calls\n", count);
    /* The library has few keys, and that on MPI_COMM_SELF cannot be freed: its attribute is deleted in
     * MPI_Finalize. */
    if (mini_alive(CONTEXTS) || mini_alive(KEYVALS) > 4 || mini_alive(MEMORY))
        fault("%ld communicators, %ld keys and %ld bytes are left", mini_alive(CONTEXTS), mini_alive(KEYVALS),
              mini_alive(MEMORY));
}
