/* Included first by each program that driver.c runs: its world is a duplicate, and the driver starts and ends MPI. */
#ifndef CARTOGRAPH_DRIVEN_H
#define CARTOGRAPH_DRIVEN_H

#include <mpi.h>

/* MPI_COMM_WORLD itself, on which hosts raise errors without a communicator. */
static inline MPI_Comm true_world(void)
{
    return MPI_COMM_WORLD;
}

extern MPI_Comm driven_world;
#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD driven_world
#define MPI_Init(argc, argv) ((void)(argc), (void)(argv), MPI_SUCCESS)
#define MPI_Finalize() MPI_SUCCESS

#endif
