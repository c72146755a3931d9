/* All neighborhood collectives behind one function: five operations in three modes, with counts of type int or
 * MPI_Count, even if the host does not declare them. */
#ifndef CARTOGRAPH_NEIGHBOR_CALLS_H
#define CARTOGRAPH_NEIGHBOR_CALLS_H

#include "../check.h"
#include "neighbor_declared.h"

/* True if persistent collectives exist: SMPI has no persistent requests that Cartograph could use. */
#if defined(SMPI_H)
#define HAS_INIT 0
#else
#define HAS_INIT 1
#endif

enum { MAX_DEGREE = 26 };

enum operation { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, OPERATIONS };
enum mode { BLOCKING, NONBLOCKING, PERSISTENT, MODES };

static const char *const operation_names[] = { "allgather", "allgatherv", "alltoall", "alltoallv",
                                               "alltoallw" };
static const char *const mode_names[] = { "blocking", "nonblocking", "persistent" };

/* One side of a call. */
struct side {
    void *buffer;
    int count, counts[MAX_DEGREE], displs[MAX_DEGREE];
    MPI_Aint distances[MAX_DEGREE];
    MPI_Datatype type, types[MAX_DEGREE];
};

/* The five calls of one mode. */
#define FIVE_CALLS(PREFIX, SUFFIX, ...)                                                           \
    switch (operation) {                                                                          \
    case ALLGATHER:                                                                               \
        return PREFIX##allgather##SUFFIX(s->buffer, s->count, s->type, r->buffer, r->count,       \
                                         r->type, __VA_ARGS__);                                   \
    case ALLGATHERV:                                                                              \
        return PREFIX##allgatherv##SUFFIX(s->buffer, s->count, s->type, r->buffer, rcounts,       \
                                          rdispls, r->type, __VA_ARGS__);                         \
    case ALLTOALL:                                                                                \
        return PREFIX##alltoall##SUFFIX(s->buffer, s->count, s->type, r->buffer, r->count,        \
                                        r->type, __VA_ARGS__);                                    \
    case ALLTOALLV:                                                                               \
        return PREFIX##alltoallv##SUFFIX(s->buffer, scounts, sdispls, s->type, r->buffer,         \
                                         rcounts, rdispls, r->type, __VA_ARGS__);                 \
    default:                                                                                      \
        return PREFIX##alltoallw##SUFFIX(s->buffer, scounts, s->distances, s->types, r->buffer,   \
                                         rcounts, r->distances, r->types, __VA_ARGS__);           \
    }

/* Calls an operation; returns a request unless it is blocking. */
static inline int call(enum operation operation, enum mode mode, const struct side *s,
                       const struct side *r, MPI_Comm comm, MPI_Request *request)
{
    const int *scounts = s->counts, *sdispls = s->displs;
    const int *rcounts = r->counts, *rdispls = r->displs;
    if (mode == BLOCKING)
        FIVE_CALLS(MPI_Neighbor_, , comm)
    if (mode == NONBLOCKING)
        FIVE_CALLS(MPI_Ineighbor_, , comm, request)
#if HAS_INIT
    FIVE_CALLS(MPI_Neighbor_, _init, comm, MPI_INFO_NULL, request)
#endif
    return MPI_ERR_OTHER;
}

/* Likewise with large counts. The arrays must live until the request completes, so each thread has its own. */
static inline int call_large(enum operation operation, enum mode mode, const struct side *s,
                             const struct side *r, MPI_Comm comm, MPI_Request *request)
{
    static _Thread_local MPI_Count scounts[MAX_DEGREE], rcounts[MAX_DEGREE];
    static _Thread_local MPI_Aint sdispls[MAX_DEGREE], rdispls[MAX_DEGREE];
    for (int i = 0; i < MAX_DEGREE; i++) {
        scounts[i] = s->counts[i], sdispls[i] = s->displs[i];
        rcounts[i] = r->counts[i], rdispls[i] = r->displs[i];
    }
    if (mode == BLOCKING)
        FIVE_CALLS(MPI_Neighbor_, _c, comm)
    if (mode == NONBLOCKING)
        FIVE_CALLS(MPI_Ineighbor_, _c, comm, request)
#if HAS_INIT
    FIVE_CALLS(MPI_Neighbor_, _init_c, comm, MPI_INFO_NULL, request)
#endif
    return MPI_ERR_OTHER;
}

#endif
