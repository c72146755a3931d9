/* Shared by the test programs. Rank 0 prints the output of all ranks in the order of ranks, so that two runs can
 * be compared. Checks are counted. */
#ifndef CARTOGRAPH_CHECK_H
#define CARTOGRAPH_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CARTOGRAPH_DRIVEN_H
/* MPI_COMM_WORLD itself; driven.h defines this function for programs of a driver. */
static inline MPI_Comm true_world(void)
{
    return MPI_COMM_WORLD;
}
#endif

static int world_rank, world_size;
static int checks_passed, checks_failed;
static char *said;
static size_t said_length, said_room;

/* Initializes MPI. Errors return codes, also on derived communicators. */
static inline void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Returns whether constructors may reorder ranks although reorder is 0. */
static inline int ranks_may_move(void)
{
    const char *reorder = getenv("CARTOGRAPH_REORDER");
    return reorder && strcmp(reorder, "always") == 0;
}

/* Appends to the output of this rank. A line is a label, a colon and values. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
    va_list list;
    int length;
    va_start(list, format);
    length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    while (said_length + length + 1 > said_room) {
        said_room = said_room ? 2 * said_room : 4096;
        said = realloc(said, said_room);
    }
    va_start(list, format);
    vsnprintf(said + said_length, length + 1, format, list);
    va_end(list);
    said_length += length;
}

static inline void say_ints(const char *label, const int *values, int count)
{
    say("%s:", label);
    for (int i = 0; i < count; i++)
        say(" %d", values[i]);
    say("\n");
}

/* Counts a check; prints its line if it fails. */
#define CHECK(condition) check_at((condition), #condition, __FILE__, __LINE__)

static inline int check_at(int holds, const char *condition, const char *file, int line)
{
    if (holds)
        checks_passed++;
    else {
        checks_failed++;
        fprintf(stderr, "rank %d: %s:%d: failed: %s\n", world_rank, file, line, condition);
    }
    return holds;
}

/* Duplicates by MPI_Comm_idup and waits. SMPI aborts in MPI_Comm_idup, so MPI_Comm_dup replaces it there. */
static inline int duplicate_later(MPI_Comm comm, MPI_Comm *copy)
{
#if defined(SMPI_H)
    return MPI_Comm_dup(comm, copy);
#else
    MPI_Request request;
    int code = MPI_Comm_idup(comm, copy, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
#endif
}

/* Returns the class of a return code. */
static inline int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* Returns the name of a class. Its number differs between hosts. */
static inline const char *class_name(int class)
{
#define NAMED(name) \
    if (class == name) \
        return #name;
    NAMED(MPI_ERR_COMM)
    NAMED(MPI_ERR_RANK)
    NAMED(MPI_ERR_TOPOLOGY)
    NAMED(MPI_ERR_DIMS)
    NAMED(MPI_ERR_ARG)
    NAMED(MPI_ERR_OTHER)
    NAMED(MPI_ERR_INTERN)
    NAMED(MPI_ERR_UNKNOWN)
    NAMED(MPI_ERR_BUFFER)
    NAMED(MPI_ERR_COUNT)
    NAMED(MPI_ERR_TYPE)
    NAMED(MPI_ERR_TAG)
    NAMED(MPI_ERR_ROOT)
    NAMED(MPI_ERR_GROUP)
    NAMED(MPI_ERR_OP)
    NAMED(MPI_ERR_TRUNCATE)
    NAMED(MPI_ERR_IN_STATUS)
    NAMED(MPI_ERR_PENDING)
    NAMED(MPI_ERR_REQUEST)
    NAMED(MPI_ERR_NO_MEM)
#undef NAMED
    static char other[32];
    snprintf(other, sizeof other, "error class %d", class);
    return class == MPI_SUCCESS ? "success" : other;
}

static inline void print_lines(int rank, const char *text)
{
    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        if (!end) {
            printf("rank %d %s\n", rank, text);
            return;
        }
        printf("rank %d %.*s\n", rank, (int)(end - text), text);
    }
}

/* Prints the output of all ranks and the numbers of passed and failed checks, ends MPI, and returns the exit code of main. */
static inline int finish(void)
{
    int counts[2] = { checks_passed, checks_failed }, sums[2];
    MPI_Allreduce(counts, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0) {
        print_lines(0, said ? said : "");
        for (int rank = 1; rank < world_size; rank++) {
            int length;
            MPI_Recv(&length, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            char *text = calloc(length + 1, 1);
            MPI_Recv(text, length, MPI_CHAR, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            print_lines(rank, text);
            free(text);
        }
        printf("%d passed, %d failed\n", sums[0], sums[1]);
        fflush(stdout);
    } else {
        int length = (int)said_length;
        MPI_Send(&length, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Send(said ? said : "", length, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    }
    free(said);
    MPI_Finalize();
    return sums[1] != 0;
}

#endif
