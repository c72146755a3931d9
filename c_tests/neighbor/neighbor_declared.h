/* Declares functions of the standard that the host's mpi.h lacks. They are weak: a program that checks for them
 * first, like mpi4py, also starts on the bare host. */
#ifndef CARTOGRAPH_NEIGHBOR_DECLARED_H
#define CARTOGRAPH_NEIGHBOR_DECLARED_H

#include <mpi.h>

/* Functions that the host has. Open MPI 5 reports MPI 3.1, but has persistent collectives. */
#if MPI_VERSION >= 4
#define HOST_HAS_LARGE 1
#else
#define HOST_HAS_LARGE 0
#endif
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HOST_HAS_INIT 1
#else
#define HOST_HAS_INIT 0
#endif

/* The five operations: C is the type of counts, D that of displacements; the last parameters follow. */
#define DECLARE_FIVE(PREFIX, SUFFIX, C, D, ...)                                                          \
    int PREFIX##allgather##SUFFIX(const void *, C, MPI_Datatype, void *, C, MPI_Datatype, __VA_ARGS__)   \
        __attribute__((weak));                                                                           \
    int PREFIX##allgatherv##SUFFIX(const void *, C, MPI_Datatype, void *, const C[], const D[],          \
                                   MPI_Datatype, __VA_ARGS__) __attribute__((weak));                     \
    int PREFIX##alltoall##SUFFIX(const void *, C, MPI_Datatype, void *, C, MPI_Datatype, __VA_ARGS__)    \
        __attribute__((weak));                                                                           \
    int PREFIX##alltoallv##SUFFIX(const void *, const C[], const D[], MPI_Datatype, void *, const C[],   \
                                  const D[], MPI_Datatype, __VA_ARGS__) __attribute__((weak));           \
    int PREFIX##alltoallw##SUFFIX(const void *, const C[], const MPI_Aint[], const MPI_Datatype[],       \
                                  void *, const C[], const MPI_Aint[], const MPI_Datatype[],             \
                                  __VA_ARGS__) __attribute__((weak));

#if !HOST_HAS_INIT
DECLARE_FIVE(MPI_Neighbor_, _init, int, int, MPI_Comm, MPI_Info, MPI_Request *)
#endif
#if !HOST_HAS_LARGE
DECLARE_FIVE(MPI_Neighbor_, _c, MPI_Count, MPI_Aint, MPI_Comm)
DECLARE_FIVE(MPI_Ineighbor_, _c, MPI_Count, MPI_Aint, MPI_Comm, MPI_Request *)
DECLARE_FIVE(MPI_Neighbor_, _init_c, MPI_Count, MPI_Aint, MPI_Comm, MPI_Info, MPI_Request *)
#endif

#endif
