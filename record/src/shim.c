/* The host's functions for the recorder. */
#include "../../include/built_for.h"
#include "../../include/standard_abi.h"
#include "shim.h"

#include <stdlib.h>
#include <string.h>

static void *(*find_next)(const char *name);

int cr_is_active(void)
{
    int initialized = 0, finalized = 0;
    return PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized
        && PMPI_Finalized(&finalized) == MPI_SUCCESS && !finalized;
}

int cr_has_threads(void)
{
    int provided = MPI_THREAD_MULTIPLE;
    return PMPI_Query_thread(&provided) != MPI_SUCCESS || provided == MPI_THREAD_MULTIPLE;
}

int cr_version(char version[CR_VERSION_ROOM])
{
    int length = 0;
    memset(version, 0, CR_VERSION_ROOM);
    PMPI_Get_library_version(version, &length);
    return is_built_for(strstr(version, "Open MPI") != NULL);
}

int cr_start(int *rank, int *size, char name[CR_NAME_ROOM])
{
    MPI_Comm parent = MPI_COMM_NULL;
    int length = 0;
    memset(name, 0, CR_NAME_ROOM);
    if (PMPI_Comm_get_parent(&parent) != MPI_SUCCESS || parent != MPI_COMM_NULL)
        return 0;
    PMPI_Get_processor_name(name, &length);
    return PMPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS
        && PMPI_Comm_size(MPI_COMM_WORLD, size) == MPI_SUCCESS;
}

void cr_find_next_by(void *(*find)(const char *name))
{
    find_next = find;
}

int cr_is_world(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD;
}

int cr_is_null(MPI_Comm comm)
{
    return comm == MPI_COMM_NULL;
}

int cr_is_in_place(const void *buffer)
{
    return buffer == MPI_IN_PLACE;
}

int cr_is_no_op(MPI_Op op)
{
    return op == MPI_NO_OP;
}

long long cr_type_size(MPI_Datatype datatype)
{
    int size = 0;
    MPI_Count large = 0;
    if (PMPI_Type_size(datatype, &size) != MPI_SUCCESS)
        return 0;
    /* Too large for an int. */
    if (size == MPI_UNDEFINED)
        return PMPI_Type_size_x(datatype, &large) == MPI_SUCCESS ? large : 0;
    return size;
}

/* Frees the group. */
static int in_world(MPI_Group group, int count, const int ranks[], int world[])
{
    MPI_Group all = MPI_GROUP_NULL;
    int code = PMPI_Comm_group(MPI_COMM_WORLD, &all);
    if (code == MPI_SUCCESS) {
        code = PMPI_Group_translate_ranks(group, count, ranks, all, world);
        PMPI_Group_free(&all);
    }
    PMPI_Group_free(&group);
    return code == MPI_SUCCESS;
}

static int is_inter(MPI_Comm comm)
{
    int inter = 0;
    return PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

int cr_comm_in_world(MPI_Comm comm, int count, const int ranks[], int world[])
{
    MPI_Group group = MPI_GROUP_NULL;
    int code = is_inter(comm) ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group);
    return code == MPI_SUCCESS && in_world(group, count, ranks, world);
}

int cr_win_in_world(MPI_Win win, int count, const int ranks[], int world[])
{
    MPI_Group group = MPI_GROUP_NULL;
    return PMPI_Win_get_group(win, &group) == MPI_SUCCESS && in_world(group, count, ranks, world);
}

int cr_all(MPI_Comm comm, int *own)
{
    int size = 0;
    *own = -1;
    if (is_inter(comm))
        return PMPI_Comm_remote_size(comm, &size) == MPI_SUCCESS ? size : 0;
    PMPI_Comm_rank(comm, own);
    return PMPI_Comm_size(comm, &size) == MPI_SUCCESS ? size : 0;
}

/* Cartograph may replace the functions of topologies, including their PMPI_ names: the functions after the recorder
 * know the communicators that they get. */
static void *next(const char *name, void *first)
{
    void *found = find_next(name);
    return found ? found : first;
}

#define NEXT(function) ((__typeof__(&(function)))next(#function, (void *)(function)))

static int kind_of(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED;
    if (is_inter(comm) || NEXT(PMPI_Topo_test)(comm, &kind) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    return kind;
}

/* The number of neighbors to send to, or to receive from. */
static int degree(MPI_Comm comm, int in)
{
    int count = 0, sources = 0, weighted = 0, rank = 0, code;
    switch (kind_of(comm)) {
    case MPI_CART:
        return NEXT(PMPI_Cartdim_get)(comm, &count) == MPI_SUCCESS ? 2 * count : 0;
    case MPI_GRAPH:
        PMPI_Comm_rank(comm, &rank);
        return NEXT(PMPI_Graph_neighbors_count)(comm, rank, &count) == MPI_SUCCESS ? count : 0;
    case MPI_DIST_GRAPH:
        code = NEXT(PMPI_Dist_graph_neighbors_count)(comm, &sources, &count, &weighted);
        return code == MPI_SUCCESS ? (in ? sources : count) : 0;
    default:
        return 0;
    }
}

int cr_outdegree(MPI_Comm comm)
{
    return degree(comm, 0);
}

int cr_indegree(MPI_Comm comm)
{
    return degree(comm, 1);
}

static int neighbors(MPI_Comm comm, int in, int count, int ranks[])
{
    int sources = 0, destinations = 0, weighted = 0, rank = 0, code;
    int *others;
    switch (kind_of(comm)) {
    case MPI_CART:
        code = MPI_SUCCESS;
        for (int i = 0; i + 1 < count && code == MPI_SUCCESS; i += 2)
            code = NEXT(PMPI_Cart_shift)(comm, i / 2, 1, &ranks[i], &ranks[i + 1]);
        return code == MPI_SUCCESS;
    case MPI_GRAPH:
        PMPI_Comm_rank(comm, &rank);
        return NEXT(PMPI_Graph_neighbors)(comm, rank, count, ranks) == MPI_SUCCESS;
    case MPI_DIST_GRAPH:
        code = NEXT(PMPI_Dist_graph_neighbors_count)(comm, &sources, &destinations, &weighted);
        /* Unneeded results need a place as well. */
        others = code == MPI_SUCCESS
                     ? malloc((2 * (size_t)sources + 2 * (size_t)destinations + 1) * sizeof *others)
                     : NULL;
        if (!others)
            return 0;
        code = in ? NEXT(PMPI_Dist_graph_neighbors)(comm, count, ranks, others, destinations, others + sources,
                                                    others + sources + destinations)
                  : NEXT(PMPI_Dist_graph_neighbors)(comm, sources, others, others + sources, count, ranks,
                                                    others + 2 * (size_t)sources);
        free(others);
        return code == MPI_SUCCESS;
    default:
        return 0;
    }
}

int cr_destinations(MPI_Comm comm, int count, int ranks[])
{
    return neighbors(comm, 0, count, ranks);
}

int cr_sources(MPI_Comm comm, int count, int ranks[])
{
    return neighbors(comm, 1, count, ranks);
}

int cr_dimensions(MPI_Comm comm)
{
    int count = 0;
    if (kind_of(comm) != MPI_CART || NEXT(PMPI_Cartdim_get)(comm, &count) != MPI_SUCCESS)
        return -1;
    return count;
}

int cr_grid(MPI_Comm comm, int dimensions, int dims[], int periodic[], int *rank)
{
    int *coords = malloc(((size_t)dimensions + 1) * sizeof *coords);
    int code = coords ? NEXT(PMPI_Cart_get)(comm, dimensions, dims, periodic, coords) : MPI_SUCCESS + 1;
    free(coords);
    return code == MPI_SUCCESS && PMPI_Comm_rank(comm, rank) == MPI_SUCCESS;
}
