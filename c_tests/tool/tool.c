/* A typical profiling tool: a shared library, or an object to link with, that defines the MPI_ names, counts calls
 * and calls the PMPI_ names. It reports when MPI is finalized, or when the process ends if it does not see
 * MPI_Finalize (a Fortran program of some hosts). Each line is "tool: name count"; each process writes its own. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 64 };

static struct {
    const char *name;
    const long *count;
} counted[MOST];
static int number;
static int reported;

static void report(const char *when)
{
    /* One write for all lines, so that lines of two processes do not mix. */
    static char text[MOST * 64];
    int used = 0;
    if (reported++)
        return;
    for (int i = 0; i < number; i++)
        used += snprintf(text + used, sizeof text - used, "tool: %s %ld\n", counted[i].name,
                         *counted[i].count);
    used += snprintf(text + used, sizeof text - used, "tool: reports at %s\n", when);
    fwrite(text, 1, used, stdout);
    fflush(stdout);
}

static void known(const char *name, const long *count)
{
    counted[number].name = name;
    counted[number++].count = count;
}

/* Counts a function and calls the next one. */
#define COUNT(name, parameters, arguments)                                                         \
    static long count_##name;                                                                      \
    __attribute__((constructor)) static void known_##name(void)                                    \
    {                                                                                              \
        known("MPI_" #name, &count_##name);                                                        \
    }                                                                                              \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        __atomic_fetch_add(&count_##name, 1, __ATOMIC_RELAXED);                                    \
        return PMPI_##name arguments;                                                              \
    }

COUNT(Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]),
      (comm, rank, maxdims, coords))
COUNT(Cart_create,
      (MPI_Comm old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *cart),
      (old, ndims, dims, periods, reorder, cart))
COUNT(Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]),
      (comm, maxdims, dims, periods, coords))
COUNT(Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank),
      (comm, ndims, dims, periods, newrank))
COUNT(Cart_rank, (MPI_Comm comm, const int coords[], int *rank), (comm, coords, rank))
COUNT(Cart_shift, (MPI_Comm comm, int direction, int disp, int *source, int *dest),
      (comm, direction, disp, source, dest))
COUNT(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
COUNT(Cartdim_get, (MPI_Comm comm, int *ndims), (comm, ndims))
COUNT(Dims_create, (int nnodes, int ndims, int dims[]), (nnodes, ndims, dims))
COUNT(Dist_graph_create,
      (MPI_Comm old, int n, const int sources[], const int degrees[], const int destinations[],
       const int weights[], MPI_Info info, int reorder, MPI_Comm *graph),
      (old, n, sources, degrees, destinations, weights, info, reorder, graph))
COUNT(Dist_graph_create_adjacent,
      (MPI_Comm old, int indegree, const int sources[], const int sourceweights[], int outdegree,
       const int destinations[], const int destweights[], MPI_Info info, int reorder,
       MPI_Comm *graph),
      (old, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder,
       graph))
COUNT(Dist_graph_neighbors,
      (MPI_Comm comm, int maxin, int sources[], int sourceweights[], int maxout,
       int destinations[], int destweights[]),
      (comm, maxin, sources, sourceweights, maxout, destinations, destweights))
COUNT(Dist_graph_neighbors_count, (MPI_Comm comm, int *in, int *out, int *weighted),
      (comm, in, out, weighted))
COUNT(Graph_create,
      (MPI_Comm old, int nnodes, const int index[], const int edges[], int reorder,
       MPI_Comm *graph),
      (old, nnodes, index, edges, reorder, graph))
COUNT(Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]),
      (comm, maxindex, maxedges, index, edges))
COUNT(Graph_map,
      (MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank),
      (comm, nnodes, index, edges, newrank))
COUNT(Graph_neighbors, (MPI_Comm comm, int rank, int max, int neighbors[]),
      (comm, rank, max, neighbors))
COUNT(Graph_neighbors_count, (MPI_Comm comm, int rank, int *count), (comm, rank, count))
COUNT(Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges), (comm, nnodes, nedges))
COUNT(Topo_test, (MPI_Comm comm, int *status), (comm, status))

int MPI_Finalize(void)
{
    report("MPI_Finalize");
    return PMPI_Finalize();
}

__attribute__((destructor)) static void at_exit(void)
{
    report("exit");
}
