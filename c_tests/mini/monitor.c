/* Preloaded between a program and the library: reports each call of the chapter to mini, and repeats it if a call
 * of the host failed in it. */
#define _GNU_SOURCE
#include "hostile.h"

#include <dlfcn.h>
#include <stddef.h>

#define API(name, comm, is_collective)                                                                                  \
    long monitor_##name(ANY_PARAMETERS) __asm__("MPI_" #name);                                                          \
    long monitor_##name(ANY_PARAMETERS)                                                                                 \
    {                                                                                                                   \
        static any_function *next;                                                                                      \
        int code;                                                                                                       \
        if (!next)                                                                                                      \
            *(void **)&next = dlsym(RTLD_NEXT, "MPI_" #name);                                                           \
        do {                                                                                                            \
            mini_hostile_begin("MPI_" #name, (void *)(comm), is_collective);                                            \
            code = (int)next(ANY_ARGUMENTS);                                                                            \
        } while (mini_hostile_end(code));                                                                               \
        return code;                                                                                                    \
    }

API(Cart_coords, a, 0)
API(Cart_create, a, 1)
API(Cart_get, a, 0)
API(Cart_map, a, 0)
API(Cart_rank, a, 0)
API(Cart_shift, a, 0)
API(Cart_sub, a, 1)
API(Cartdim_get, a, 0)
API(Comm_dup, a, 1)
API(Comm_free, *(long *)a, 1)
API(Dims_create, NULL, 0)
API(Dist_graph_create, a, 1)
API(Dist_graph_create_adjacent, a, 1)
API(Dist_graph_neighbors, a, 0)
API(Dist_graph_neighbors_count, a, 0)
API(Graph_create, a, 1)
API(Graph_get, a, 0)
API(Graph_map, a, 0)
API(Graph_neighbors, a, 0)
API(Graph_neighbors_count, a, 0)
API(Graphdims_get, a, 0)
API(Topo_test, a, 0)

#define NEIGHBOR(name, comm)                                                                                            \
    API(Neighbor_##name, comm, 1)                                                                                       \
    API(Neighbor_##name##_c, comm, 1)                                                                                   \
    API(Ineighbor_##name, comm, 1)                                                                                      \
    API(Ineighbor_##name##_c, comm, 1)                                                                                  \
    API(Neighbor_##name##_init, comm, 1)                                                                                \
    API(Neighbor_##name##_init_c, comm, 1)

NEIGHBOR(allgather, g)
NEIGHBOR(allgatherv, h)
NEIGHBOR(alltoall, g)
NEIGHBOR(alltoallv, i)
NEIGHBOR(alltoallw, i)

int PMPI_Finalize(void);
int MPI_Finalize(void);
int MPI_Finalize(void)
{
    mini_hostile_begin("MPI_Finalize", NULL, 0);
    int code = PMPI_Finalize();
    mini_hostile_end(code);
    mini_hostile_finalized();
    return code;
}
