/* Cartograph replaces functions of the host's mpi.h. This header tells a program, at compile time, which version it was
 * built with, and declares the one function that Cartograph adds: its mapping without MPI. */
#ifndef CARTOGRAPH_H
#define CARTOGRAPH_H

#include <stddef.h>
#include <stdint.h>

#define CARTOGRAPH_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* A grid or graph, and where processes run. Set all members that are not needed to 0. */
typedef struct cartograph_problem {
    size_t size; /* sizeof(cartograph_problem); later versions may append members */

    int ndims;          /* a grid, if above 0: cell v is that of rank v in MPI_Cart_create */
    const int *dims;    /* its cells along each dimension */
    const int *periods; /* whether each dimension is periodic; NULL: none is */

    int vertices;  /* a graph, if ndims is 0 */
    int64_t edges; /* its directed edges: edge i leads from vertex from[i] to vertex to[i] */
    const int *from, *to;

    /* One for each edge, or for the edges along each dimension. NULL: 1 for a graph; unknown for a grid, which is then
     * mapped only if no likely weights make that a loss. */
    const int64_t *weights;

    int processes; /* at least as many as cells or vertices */
    int levels;    /* of the machine: 1 for nodes, one more for each level of groups of nodes */
    /* The node of each process, after its groups of nodes, the outermost level first: processes with the same number in
     * places[level * processes + process] are in the same group. */
    const int64_t *places;
} cartograph_problem;

enum {
    CARTOGRAPH_SUCCESS = 0,
    CARTOGRAPH_ERR_SIZE = 1,    /* size is not that of this version */
    CARTOGRAPH_ERR_NULL = 2,    /* a pointer that is needed is null */
    CARTOGRAPH_ERR_GRID = 3,    /* ndims is negative, or a dimension below 1 */
    CARTOGRAPH_ERR_GRAPH = 4,   /* a negative number, or an edge to a vertex that does not exist */
    CARTOGRAPH_ERR_WEIGHTS = 5, /* a weight is negative, or too large for sums of 64 bits: above 2^47 over the cells of a
                                 * grid, above 2^55 for all edges of a graph */
    CARTOGRAPH_ERR_PLACES = 6,  /* too few processes, no or more than 12 levels, or a group in two groups */
    CARTOGRAPH_ERR_LARGE = 7    /* more than 2^25 processes */
};

/* Finds the process for each cell or vertex, so that few edges lead between nodes: process[v] becomes rank v. If no
 * order is better than that of the processes, process[v] is v. Process 0 keeps rank 0, and the same problem always has
 * the same result. Returns CARTOGRAPH_SUCCESS, or an error, after which process is unchanged.
 *
 * Calls no MPI function, and may be called by several threads at once, before MPI_Init and after MPI_Finalize. A grid of
 * a million cells takes up to half a second. A process that runs out of memory is aborted. */
int cartograph_plan(const cartograph_problem *problem, int *process);

#ifdef __cplusplus
}
#endif

#endif
