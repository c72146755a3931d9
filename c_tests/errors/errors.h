/* The driver of the wrong calls: the communicator of a call, its expected error, and the printed result.
 *
 *     WRONG(PLAIN, MPI_ERR_ARG, "Cart_create, dims {-1}", "dims[0] is -1")
 *         code = MPI_Cart_create(comm, 1, (int[]){ -1 }, no, 0, &made);
 *
 * A case is named by its call, which begins with the name of the function. Calls write to `result` and `made`, which
 * must stay untouched. */
#ifndef CARTOGRAPH_ERRORS_H
#define CARTOGRAPH_ERRORS_H

#include "../check.h"

#include <signal.h>
#include <unistd.h>

/* The communicator of a call. */
enum where {
    NOWHERE, /* the function takes no communicator */
    NOTHING, /* MPI_COMM_NULL */
    PLAIN, /* without a topology */
    GRID, /* world_size x 1 x 1, periodic in the second dimension */
    POINT, /* a grid without dimensions */
    GRAPH, /* a ring; each node has one edge to the next */
    DIST_GRAPH, /* the same ring, with weights */
    INTER, /* an inter-communicator of two processes or more */
    PLACES
};

enum { ROOM = 16, FILL = 0x5a5a5a, SECONDS = 60 };

/* The data of a case. */
static MPI_Comm comm, made;
static int code, result[ROOM], is_last;
static const int no[ROOM], one[1] = { 1 };
/* The ring for MPI_Graph_create and MPI_Dist_graph_create, with room for faults. */
static int ring_index[ROOM], ring_edges[ROOM], next[1], previous[1], self[1];
/* Variables, since the compiler warns if constants that are plain addresses are passed. */
static const int *unweighted, *weights_empty;

/* The current case; `only` is the requested case. */
static const char *name, *only, *words[8];
static int class_wanted, before[ROOM], listing;
static MPI_Comm places[PLACES], raised_on;
static int calls, stray_calls, code_seen, class_seen;

/* A formatted text, valid for the next 63 calls. */
__attribute__((format(printf, 1, 2))) static inline const char *text(const char *format, ...)
{
    static char texts[64][400];
    static int turn;
    char *place = texts[turn++ % 64];
    va_list list;
    va_start(list, format);
    vsnprintf(place, sizeof texts[0], format, list);
    va_end(list);
    return place;
}

static const char *on_last(void)
{
    static char words[32];
    snprintf(words, sizeof words, "on rank %d: ", world_size - 1);
    return words;
}

/* Returns whether CARTOGRAPH_CHECK contains a word. */
static int is_checked(const char *rule)
{
    const char *words = getenv("CARTOGRAPH_CHECK");
    return words && (strstr(words, rule) || strstr(words, "all"));
}

/* The error handler of all communicators. */
static void note(MPI_Comm *raiser, int *error, ...)
{
    if (*raiser == raised_on)
        calls++;
    else
        stray_calls++;
    code_seen = *error;
    class_seen = class_of(*error);
}

static void set_handler(MPI_Comm on)
{
    static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (only) {
        /* MPICH 5 returns success after a handler of the program. */
        MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
        return;
    }
    if (handler == MPI_ERRHANDLER_NULL)
        MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(on, handler);
}

/* Prints hangs and crashes in the same words for all hosts. Installed after MPI_Init, in which some hosts install
 * their own handlers. */
static void on_signal(int number)
{
    const char *what = number == SIGFPE ? "crash (SIGFPE)\n"
        : number == SIGSEGV             ? "crash (SIGSEGV)\n"
        : number == SIGBUS              ? "crash (SIGBUS)\n"
        : number == SIGABRT             ? "crash (SIGABRT)\n"
                                        : "hang\n";
    int to = only ? 1 : 2;
    if (!only && (write(to, name, strlen(name)) < 0 || write(to, ": ", 2) < 0))
        _exit(2);
    _exit(write(to, what, strlen(what)) < 0 ? 2 : 1);
}

static MPI_Comm make_place(enum where where)
{
    MPI_Comm place = MPI_COMM_NULL, part;
    int dims[3] = { world_size, 1, 1 }, periods[3] = { 0, 1, 0 }, unit[1] = { 1 };
    switch (where) {
    case PLAIN:
        MPI_Comm_dup(MPI_COMM_WORLD, &place);
        break;
    case GRID:
        MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &place);
        break;
    case POINT:
        MPI_Cart_create(MPI_COMM_SELF, 0, dims, periods, 0, &place);
        break;
    case GRAPH:
        MPI_Graph_create(MPI_COMM_WORLD, world_size, ring_index, ring_edges, 0, &place);
        break;
    case DIST_GRAPH:
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, previous, unit, 1, next, unit,
                                       MPI_INFO_NULL, 0, &place);
        break;
    case INTER:
        MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &part);
        MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 7, &place);
        MPI_Comm_free(&part);
        break;
    default:
        return MPI_COMM_NULL;
    }
    if (place != MPI_COMM_NULL)
        set_handler(place);
    return place;
}

/* SMPI has only its own error texts, and aborts in MPI_Intercomm_create. */
#if defined(SMPI_H)
enum { HAS_TEXTS = 0, HAS_INTER = 0 };
#else
enum { HAS_TEXTS = 1, HAS_INTER = 1 };
#endif

/* Returns whether an error text names the function and has the words of the case. */
static int says_it(const char *message)
{
    if (!HAS_TEXTS)
        return 1;
    int good = strstr(message, text("MPI_%.*s", (int)strcspn(name, "(, "), name)) != NULL;
    for (int i = 0; words[i]; i++)
        good = good && strstr(message, words[i]);
    return good;
}

/* Checks the current case. */
#define HOLDS(condition) holds((condition), #condition)

static int holds(int value, const char *condition)
{
    if (value || only) {
        checks_passed++;
        return value;
    }
    return check_at(0, text("%s: %s", name, condition), "case", 0);
}

/* The communicator must still work after the wrong call. */
static void check_still_usable(MPI_Comm used)
{
    MPI_Comm again = MPI_COMM_NULL;
    int size, is_inter, ndims = 0, failed = calls;
    HOLDS(MPI_Barrier(used) == MPI_SUCCESS);
    MPI_Comm_test_inter(used, &is_inter);
    if (is_inter)
        return;
    MPI_Comm_size(used, &size);
    HOLDS(MPI_Cart_create(used, 1, &size, no, 0, &again) == MPI_SUCCESS);
    if (HOLDS(again != MPI_COMM_NULL)) {
        HOLDS(MPI_Cartdim_get(again, &ndims) == MPI_SUCCESS && ndims == 1);
        MPI_Comm_free(&again);
    }
    HOLDS(calls == failed && stray_calls == 0);
}

/* A check is slow with more processes than cores, so only some cases are followed by one. The next check also
 * finds a broken communicator. */
static int check_is_due(void)
{
    static int collective_calls;
    int is_collective = strstr(name, "_create") ? strncmp(name, "Dims", 4) != 0
                                                : strncmp(name, "Cart_sub", 8) == 0;
    return is_collective && (collective_calls++ % 8 == 0 || world_size <= 2);
}

/* Prepares a case; returns whether it runs. The last arguments are the words of the error text, and a null
 * pointer. */
static int case_begins(enum where where, int class, const char *call, ...)
{
    va_list list;
    if (listing && world_rank == 0)
        printf("%s\n", call);
    if (listing || (only && strcmp(only, call)) || (where == INTER && !HAS_INTER))
        return 0;

    name = call;
    class_wanted = class;
    va_start(list, call);
    for (int i = 0; (words[i] = va_arg(list, const char *)) != NULL; i++)
        if (i == 6)
            abort();
    va_end(list);

    if (places[where] == MPI_COMM_NULL && where >= PLAIN) {
        places[where] = make_place(where);
        /* No rank may start its wrong call while another still creates the communicator. */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    comm = places[where];
    raised_on = comm != MPI_COMM_NULL ? comm : MPI_VERSION >= 4 ? MPI_COMM_SELF : true_world();
    for (int i = 0; i < ROOM; i++)
        result[i] = before[i] = FILL;
    made = MPI_COMM_SELF;
    code = calls = stray_calls = 0;
    code_seen = class_seen = MPI_SUCCESS;
    if (!only)
        alarm(SECONDS);
    return 1;
}

/* Prints the outcome of a single case on all ranks. */
static void print_outcome(void)
{
    int class = class_of(code), *all = calloc(world_size, sizeof *all), good = 0, mixed = 0;
    MPI_Gather(&class, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (world_rank == 0) {
        int shown = MPI_SUCCESS;
        for (int rank = 0; rank < world_size; rank++) {
            good += all[rank] == MPI_SUCCESS;
            mixed += all[rank] != MPI_SUCCESS && shown != MPI_SUCCESS && all[rank] != shown;
            if (all[rank] != MPI_SUCCESS)
                shown = all[rank];
        }
        if (mixed)
            printf("different errors\n");
        else if (good && good < world_size)
            printf("%s on some ranks only\n", class_name(shown));
        else
            printf("%s\n", class_name(shown));
        fflush(stdout);
    }
    free(all);
}

/* Checks the outcome of a case. Returns 0, which ends the loop of the case. */
static int case_ends(void)
{
    char message[MPI_MAX_ERROR_STRING + 1] = "";
    int length, class = class_of(code);
    alarm(0);
    if (only) {
        print_outcome();
        return 0;
    }
    MPI_Error_string(code, message, &length);
    if (!HOLDS(class == class_wanted))
        fprintf(stderr, "%s instead of %s\n", class_name(class), class_name(class_wanted));
    if (class_wanted == MPI_SUCCESS) {
        HOLDS(code == MPI_SUCCESS && calls == 0 && stray_calls == 0);
        if (made != MPI_COMM_SELF && made != MPI_COMM_NULL)
            MPI_Comm_free(&made);
    } else {
        if (!HOLDS(says_it(message)))
            fprintf(stderr, "it says: %s\n", message);
        if (!HOLDS(calls == 1 && stray_calls == 0))
            fprintf(stderr, "%d calls, elsewhere %d\n", calls, stray_calls);
        HOLDS(code_seen == code && class_seen == class_wanted);
        /* Hosts differ in this; failed_handle.c compares. */
        HOLDS(made == MPI_COMM_SELF || made == MPI_COMM_NULL);
        HOLDS(memcmp(result, before, sizeof result) == 0);
        if (check_is_due())
            check_still_usable(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm);
    }
    return 0;
}

/* A case: communicator, error class, call, words of the error text; the call follows. */
#define WRONG(...) for (int runs = case_begins(__VA_ARGS__, NULL); runs; runs = case_ends())
/* A null pointer for weights is an error, except on SMPI, where it is MPI_UNWEIGHTED. */
#define WRONG_WEIGHTS(...)                                                                         \
    if (unweighted)                                                                                \
    WRONG(__VA_ARGS__)
/* A valid call in which some hosts fail. */
#define RIGHT(where, call) WRONG(where, MPI_SUCCESS, call)
/* A call that breaks a rule, but works on every host: an error only if the rule is checked. */
#define CHECKED(rule, where, ...)                                                                  \
    WRONG(where, is_checked(rule) ? MPI_ERR_ARG : MPI_SUCCESS, __VA_ARGS__)

static void prepare(void)
{
    is_last = world_rank == world_size - 1;
    next[0] = (world_rank + 1) % world_size;
    previous[0] = (world_rank + world_size - 1) % world_size;
    self[0] = world_rank;
    unweighted = MPI_UNWEIGHTED;
    weights_empty = MPI_WEIGHTS_EMPTY;
    for (int i = 0; i < ROOM; i++) {
        ring_index[i] = i + 1;
        ring_edges[i] = (i + 1) % world_size;
    }
    for (int i = 0; i < PLACES; i++)
        places[i] = MPI_COMM_NULL;
    set_handler(MPI_COMM_WORLD);
    set_handler(true_world());
    set_handler(MPI_COMM_SELF);
    signal(SIGALRM, on_signal);
    if (only) {
        signal(SIGFPE, on_signal);
        signal(SIGSEGV, on_signal);
        signal(SIGBUS, on_signal);
        signal(SIGABRT, on_signal);
    }
}

/* All communicators must still work after the local calls. */
static void free_places(void)
{
    name = "after all cases";
    calls = stray_calls = 0;
    alarm(SECONDS);
    check_still_usable(MPI_COMM_WORLD);
    for (int i = 0; i < PLACES; i++)
        if (places[i] != MPI_COMM_NULL) {
            check_still_usable(places[i]);
            MPI_Comm_free(&places[i]);
        }
    alarm(0);
}

#endif
