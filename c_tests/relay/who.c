/* Prints which ranks share memory, and ends in several ways: a program under a relay must behave like one whose
 * launcher assigned these ranks. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 256

static int rank, size;

/* The ranks that share memory with this rank, according to the MPI and to a shared window. */
static void shared(int *theirs, int *count)
{
    MPI_Comm node;
    MPI_Win window;
    int *own, *first, mine, unit, i;
    MPI_Aint bytes;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, count);
    MPI_Comm_rank(node, &mine);
    MPI_Allgather(&rank, 1, MPI_INT, theirs, 1, MPI_INT, node);
    MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, node, &own, &window);
    MPI_Win_fence(0, window);
    *own = rank;
    MPI_Win_fence(0, window);
    for (i = 0; i < *count; i++) {
        MPI_Win_shared_query(window, i, &bytes, &unit, &first);
        if (*first != theirs[i])
            printf("rank %d: the window of %d has %d\n", rank, theirs[i], *first);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
}

/* Each rank sends a number to each rank. */
static void messages(void)
{
    int i, got;

    for (i = 0; i < size; i++) {
        int to = (rank + i) % size, from = (rank - i + size) % size;
        MPI_Sendrecv(&rank, 1, MPI_INT, to, i, &got, 1, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (got != from)
            printf("rank %d: a message of %d instead of %d\n", rank, got, from);
    }
}

static void print_nodes(void)
{
    static int all[MOST][MOST], counts[MOST];
    int theirs[MOST] = {0}, count, i, j;

    shared(theirs, &count);
    MPI_Gather(theirs, MOST, MPI_INT, all, MOST, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (i = 0; rank == 0 && i < size; i++) {
        if (all[i][0] != i)
            continue;
        for (j = 0; j < counts[i]; j++)
            printf("%d%c", all[i][j], j + 1 < counts[i] ? ' ' : '\n');
    }
    fflush(stdout);
}

static void spawn(char *program)
{
    char *arguments[] = {"child", NULL};
    MPI_Comm children, all;
    int sum, one = 1;

    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(children, 0, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    if (rank == 0)
        printf("%d with children\n", sum);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
}

static void be_child(void)
{
    MPI_Comm parent, all;
    int sum, one = 1;

    MPI_Comm_get_parent(&parent);
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    char line[64] = "nothing\n";

    if (strcmp(what, "early") == 0)
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "child") == 0) {
        be_child();
        MPI_Finalize();
        return 0;
    }
    if (strcmp(what, "init") == 0) {
        MPI_Finalize();
        return 0;
    }
    messages();
    print_nodes();
    if (strcmp(what, "spawn") == 0)
        spawn(argv[0]);
    if (strcmp(what, "abort") == 0 && rank == 2)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(what, "die") == 0 && rank == 1)
        raise(SIGKILL);
    if (strcmp(what, "input") == 0 && rank == 0)
        printf("%s", fgets(line, sizeof line, stdin) ? line : "no input\n");
    fflush(stdout);
    if (strcmp(what, "wait") == 0 || strcmp(what, "abort") == 0 || strcmp(what, "die") == 0) {
        for (;;)
            MPI_Barrier(MPI_COMM_WORLD), sleep(1);
    }
    MPI_Finalize();
    return strcmp(what, "code") == 0 && rank == 1 ? 3 : 0;
}
