/* Runs programs of a folder in one start, each on a duplicate of MPI_COMM_WORLD, or on its first PROCESSES ranks:
 *
 *     driver PROCESSES PROGRAM [ARGUMENT...] [, PROCESSES PROGRAM [ARGUMENT...]]...
 *
 * Rank 0 prints "begins: PROGRAM" before each program, so that a crash or a hang has a name, and "ends: 0" after it. The
 * driver ends after a program that fails, which may leave messages behind. The compiler gets the names of the programs in
 * PROGRAMS. Each program is compiled with driven.h and with another name for `main`, and its static variables are in the
 * section `driven`, which gets its initial content before each program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

MPI_Comm driven_world;

typedef int main_function(int, char **);

#define PROGRAM(name) main_function driven_##name;
PROGRAMS
#undef PROGRAM

static const struct {
    const char *name;
    main_function *run;
} programs[] = {
#define PROGRAM(name) { #name, driven_##name },
    PROGRAMS
};

extern char __start_driven[] __attribute__((weak)), __stop_driven[] __attribute__((weak));

static int run(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(programs[i].name, argv[0]))
            return programs[i].run(argc, argv);
    fprintf(stderr, "driver: there is no program '%s'\n", argv[0]);
    return 1;
}

/* Waits for the outcome of a program on other processes. Sleeps meanwhile, since a receive would keep a processor busy. */
static void sleep_until_end(int *failed)
{
    MPI_Request request;
    int ended = 0;
    MPI_Irecv(failed, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &ended, MPI_STATUS_IGNORE) == MPI_SUCCESS && !ended)
        usleep(2000);
}

int main(int argc, char **argv)
{
    int rank, size, failed = 0;
    size_t bytes = __stop_driven - __start_driven;
    char *initial = malloc(bytes + 1);
    memcpy(initial, __start_driven, bytes);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int first = 1, end; first < argc && !failed; first = end + 1) {
        for (end = first; end < argc && strcmp(argv[end], ","); end++)
            ;
        argv[end] = NULL;
        int processes = atoi(argv[first++]), code = 0;
        if (processes == size)
            MPI_Comm_dup(MPI_COMM_WORLD, &driven_world);
        else
            MPI_Comm_split(MPI_COMM_WORLD, rank < processes ? 0 : MPI_UNDEFINED, 0, &driven_world);
        if (rank == 0) {
            printf("begins: %s\n", argv[first]), fflush(stdout);
            fprintf(stderr, "begins: %s\n", argv[first]);
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        memcpy(__start_driven, initial, bytes);
        if (rank < processes) {
            code = run(end - first, argv + first);
            MPI_Allreduce(&code, &failed, 1, MPI_INT, MPI_MAX, driven_world);
            MPI_Comm_free(&driven_world);
            for (int other = processes; rank == 0 && other < size; other++)
                MPI_Send(&failed, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
        } else
            sleep_until_end(&failed);
        if (rank == 0)
            printf("ends: %d\n", failed), fflush(stdout);
    }
    free(initial);
    MPI_Finalize();
    return failed;
}
