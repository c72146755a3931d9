/* The C side of c_tests/fortran/bench/bench.f90: the addresses of the Fortran procedures of both sides, and communicators
 * from the constructors of both sides.
 *
 * Cartograph is not preloaded here: Fortran procedures of the host call its C functions by name, and would call
 * Cartograph's. The variable CARTOGRAPH_LIBRARY holds its path. */
#include "bench.h"

#include <valgrind/callgrind.h>

static void *library_of(int of)
{
    static void *libraries[SIDES];
    if (!libraries[HOST]) {
        /* A procedure in the Fortran library of the host. */
        libraries[HOST] = bench_library_of(dlsym(RTLD_DEFAULT, "mpi_comm_rank_"));
        libraries[OURS] = dlopen(getenv("CARTOGRAPH_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
        if (!libraries[HOST] || !libraries[OURS]) {
            fprintf(stderr, "bench: CARTOGRAPH_LIBRARY must name it: %s\n", dlerror());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    return libraries[of];
}

/* The procedure of one side, by the name that the compiler gives it. */
void *bench_procedure(const char *name, int of)
{
    return dlsym(library_of(of), name);
}

void bench_communicators(int of, int *grid, int *graph, int *dist_graph)
{
    int ones[3] = { 1, 1, 1 }, index[1] = { 6 }, zeros[6] = { 0 };
    MPI_Comm made;
    sides[of] = bench_chapter(library_of(of));
    sides[of].cart_create(MPI_COMM_SELF, 3, ones, ones, 0, &made);
    *grid = MPI_Comm_c2f(made);
    sides[of].graph_create(MPI_COMM_SELF, 1, index, zeros, 0, &made);
    *graph = MPI_Comm_c2f(made);
    sides[of].adjacent(MPI_COMM_SELF, 6, zeros, zeros, 6, zeros, zeros, MPI_INFO_NULL, 0, &made);
    *dist_graph = MPI_Comm_c2f(made);
}

static double started;

void bench_start(void)
{
    CALLGRIND_ZERO_STATS;
    started = bench_now();
}

/* Nanoseconds per call since bench_start; a dump under callgrind. */
double bench_stop(const char *name, int of, int calls)
{
    const double took = 1e9 * (bench_now() - started) / calls;
    char label[128];
    snprintf(label, sizeof label, "%s\t%s\t%d", name, of == HOST ? "host" : "ours", calls);
    CALLGRIND_DUMP_STATS_AT(label);
    return took;
}

void bench_report(const char *name, double host, double ours)
{
    bench_size = 1;
    bench_line("fortran", name, 0, "ns", host, ours);
}
