/* The Test Anything Protocol for all processes together: a point is "ok" if it holds on each process. Rank 0
 * prints. */
#ifndef KIT_TAP_H
#define KIT_TAP_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Open MPI 5 has the persistent collectives of MPI 4, but not its large counts. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
enum { HAS_PERSISTENT = 1 };
#define PERSISTENT_COLLECTIVES
#else
enum { HAS_PERSISTENT = 0 };
#endif

static int tap_rank, tap_size, tap_points, tap_failed;

static inline void tap_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &tap_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &tap_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Collective. */
__attribute__((format(printf, 2, 3))) static inline int tap(int holds, const char *format, ...)
{
    char text[200];
    int all;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    holds = holds != 0;
    MPI_Allreduce(&holds, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    tap_points++;
    tap_failed += !all;
    if (tap_rank == 0) {
        printf("%sok %d - %s\n", all ? "" : "not ", tap_points, text);
        fflush(stdout);
    }
    return all;
}

static inline int tap_end(void)
{
    if (tap_rank == 0)
        printf("1..%d\n", tap_points);
    MPI_Finalize();
    return tap_failed != 0;
}

#endif
