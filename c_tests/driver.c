/* Runs programs of a folder in one start, each on a duplicate of MPI_COMM_WORLD:
 *
 *     driver PROGRAM [ARGUMENT...] [, PROGRAM [ARGUMENT...]]...
 *
 * Rank 0 prints "begins: PROGRAM" before each program, so that a crash or a hang has a name, and "ends: 0" after it. The
 * driver ends after a program that fails, which may leave messages behind. The compiler gets the names of the programs in
 * PROGRAMS, and each program is compiled with another name for `main` and with DRIVEN (check.h). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

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

static int run(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(programs[i].name, argv[0]))
            return programs[i].run(argc, argv);
    fprintf(stderr, "driver: there is no program '%s'\n", argv[0]);
    return 1;
}

int main(int argc, char **argv)
{
    int rank, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int first = 1, end; first < argc && !failed; first = end + 1) {
        for (end = first; end < argc && strcmp(argv[end], ","); end++)
            ;
        argv[end] = NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &driven_world);
        if (rank == 0) {
            printf("begins: %s\n", argv[first]), fflush(stdout);
            fprintf(stderr, "begins: %s\n", argv[first]);
        }
        int code = run(end - first, argv + first);
        MPI_Allreduce(&code, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Comm_free(&driven_world);
        if (rank == 0)
            printf("ends: %d\n", failed), fflush(stdout);
    }
    MPI_Finalize();
    return failed;
}
