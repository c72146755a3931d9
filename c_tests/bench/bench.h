/* Shared by the benchmarks: functions of the host and of Cartograph in one process, timed alternately.
 *
 * Cartograph is preloaded or linked, so a program calls its functions; the host's come from the
 * library that contains PMPI_Comm_rank. Lines on stdout are
 *
 *     part case degree processes unit host cartograph
 *
 * separated by tabs; the program `bench` makes tables and pictures of them. For neighborhood collectives the
 * degree is the bytes of a block. */
#ifndef BENCH_H
#define BENCH_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOST, OURS, SIDES };

/* One implementation of the chapter, by its PMPI_ names. */
struct chapter {
    int (*cart_create)(MPI_Comm, int, const int[], const int[], int, MPI_Comm *);
    int (*cart_sub)(MPI_Comm, const int[], MPI_Comm *);
    int (*cart_rank)(MPI_Comm, const int[], int *);
    int (*cart_coords)(MPI_Comm, int, int, int[]);
    int (*cart_shift)(MPI_Comm, int, int, int *, int *);
    int (*cart_get)(MPI_Comm, int, int[], int[], int[]);
    int (*cartdim_get)(MPI_Comm, int *);
    int (*topo_test)(MPI_Comm, int *);
    int (*dims_create)(int, int, int[]);
    int (*graph_create)(MPI_Comm, int, const int[], const int[], int, MPI_Comm *);
    int (*graphdims_get)(MPI_Comm, int *, int *);
    int (*graph_get)(MPI_Comm, int, int, int[], int[]);
    int (*graph_neighbors_count)(MPI_Comm, int, int *);
    int (*graph_neighbors)(MPI_Comm, int, int, int[]);
    int (*adjacent)(MPI_Comm, int, const int[], const int[], int, const int[], const int[], MPI_Info,
                    int, MPI_Comm *);
    int (*dist_graph_create)(MPI_Comm, int, const int[], const int[], const int[], const int[],
                             MPI_Info, int, MPI_Comm *);
    int (*dist_graph_neighbors_count)(MPI_Comm, int *, int *, int *);
    int (*dist_graph_neighbors)(MPI_Comm, int, int[], int[], int, int[], int[]);
    int (*neighbor_alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*ineighbor_alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                              MPI_Request *);
    int (*ineighbor_allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                               MPI_Request *);
    /* Null if the host has none; Open MPI 4 names it as before MPI 4. */
    int (*neighbor_alltoall_init)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                                  MPI_Info, MPI_Request *);
};

static inline void *bench_library_of(void *function)
{
    Dl_info where;
    return dladdr(function, &where) ? dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

static inline struct chapter bench_chapter(void *library)
{
    struct chapter c;
    *(void **)&c.cart_create = dlsym(library, "PMPI_Cart_create");
    *(void **)&c.cart_sub = dlsym(library, "PMPI_Cart_sub");
    *(void **)&c.cart_rank = dlsym(library, "PMPI_Cart_rank");
    *(void **)&c.cart_coords = dlsym(library, "PMPI_Cart_coords");
    *(void **)&c.cart_shift = dlsym(library, "PMPI_Cart_shift");
    *(void **)&c.cart_get = dlsym(library, "PMPI_Cart_get");
    *(void **)&c.cartdim_get = dlsym(library, "PMPI_Cartdim_get");
    *(void **)&c.topo_test = dlsym(library, "PMPI_Topo_test");
    *(void **)&c.dims_create = dlsym(library, "PMPI_Dims_create");
    *(void **)&c.graph_create = dlsym(library, "PMPI_Graph_create");
    *(void **)&c.graphdims_get = dlsym(library, "PMPI_Graphdims_get");
    *(void **)&c.graph_get = dlsym(library, "PMPI_Graph_get");
    *(void **)&c.graph_neighbors_count = dlsym(library, "PMPI_Graph_neighbors_count");
    *(void **)&c.graph_neighbors = dlsym(library, "PMPI_Graph_neighbors");
    *(void **)&c.adjacent = dlsym(library, "PMPI_Dist_graph_create_adjacent");
    *(void **)&c.dist_graph_create = dlsym(library, "PMPI_Dist_graph_create");
    *(void **)&c.dist_graph_neighbors_count = dlsym(library, "PMPI_Dist_graph_neighbors_count");
    *(void **)&c.dist_graph_neighbors = dlsym(library, "PMPI_Dist_graph_neighbors");
    *(void **)&c.neighbor_alltoall = dlsym(library, "PMPI_Neighbor_alltoall");
    *(void **)&c.ineighbor_alltoall = dlsym(library, "PMPI_Ineighbor_alltoall");
    *(void **)&c.ineighbor_allgather = dlsym(library, "PMPI_Ineighbor_allgather");
    *(void **)&c.neighbor_alltoall_init = dlsym(library, "PMPI_Neighbor_alltoall_init");
    if (!c.neighbor_alltoall_init)
        *(void **)&c.neighbor_alltoall_init = dlsym(library, "PMPIX_Neighbor_alltoall_init");
    return c;
}

static struct chapter sides[SIDES];
static int bench_rank, bench_size;

static inline void bench_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench_size);
    sides[HOST] = bench_chapter(bench_library_of((void *)PMPI_Comm_rank));
    sides[OURS] = bench_chapter(RTLD_DEFAULT);
    if (!sides[HOST].cart_create || sides[HOST].cart_create == sides[OURS].cart_create) {
        fprintf(stderr, "bench: preload Cartograph; there is nothing to compare\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static inline double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static int bench_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_median(double *values, int count)
{
    qsort(values, count, sizeof *values, bench_ascending);
    return values[count / 2];
}

static inline void bench_line(const char *part, const char *name, int degree, const char *unit,
                              double host, double ours)
{
    if (bench_rank == 0) {
        printf("%s\t%s\t%d\t%d\t%s\t%.9g\t%.9g\n", part, name, degree, bench_size, unit, host, ours);
        fflush(stdout);
    }
}

#endif
