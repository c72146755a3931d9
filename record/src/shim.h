/* The host's functions for the recorder, under one name and type on every host. None of them sends anything. */
#ifndef CARTOGRAPH_RECORD_SHIM_H
#define CARTOGRAPH_RECORD_SHIM_H

#include <mpi.h>

enum {
    CR_SUCCESS = MPI_SUCCESS,
    CR_VERSION_ROOM = MPI_MAX_LIBRARY_VERSION_STRING + 1,
    CR_NAME_ROOM = MPI_MAX_PROCESSOR_NAME + 1,
    /* To check that mpi-sys was made for this host. */
    CR_SIZEOF_COMM = sizeof(MPI_Comm),
    CR_PROC_NULL = MPI_PROC_NULL,
    CR_ANY_SOURCE = MPI_ANY_SOURCE,
    CR_ANY_TAG = MPI_ANY_TAG
};

/* True if MPI_Init or MPI_Init_thread has been called and MPI_Finalize has not. */
int cr_is_active(void);
/* True if several threads may call MPI at once. */
int cr_has_threads(void);
/* Writes the name of the loaded MPI. Returns whether it is of the family for which this was built. */
int cr_version(char version[CR_VERSION_ROOM]);
/* The rank of this process in MPI_COMM_WORLD, its size, and the processor's name. Returns whether there are
 * such, and the process was not spawned by another job. */
int cr_start(int *rank, int *size, char name[CR_NAME_ROOM]);
/* From now on, `find` returns the next function of a name. */
void cr_find_next_by(void *(*find)(const char *name));

int cr_is_world(MPI_Comm comm);
int cr_is_null(MPI_Comm comm);
int cr_is_in_place(const void *buffer);
int cr_is_no_op(MPI_Op op);
/* In bytes. */
long long cr_type_size(MPI_Datatype datatype);

/* The ranks in MPI_COMM_WORLD of processes that messages on comm, or accesses to win, can go to; negative for those
 * that have none. Returns whether it succeeded. */
int cr_comm_in_world(MPI_Comm comm, int count, const int ranks[], int world[]);
int cr_win_in_world(MPI_Win win, int count, const int ranks[], int world[]);
/* The number of processes to which an all-to-all on comm sends, and the caller's own rank among them or a negative
 * number. */
int cr_all(MPI_Comm comm, int *own);
/* The number of destinations of a neighborhood collective on comm, and their ranks; 0 where there is no topology. */
int cr_outdegree(MPI_Comm comm);
int cr_destinations(MPI_Comm comm, int count, int ranks[]);
/* The same for sources. Except in a distributed graph, these are the destinations. */
int cr_indegree(MPI_Comm comm);
int cr_sources(MPI_Comm comm, int count, int ranks[]);
/* The number of dimensions of a grid, or a negative number if comm is not a grid; the grid; the caller's rank. */
int cr_dimensions(MPI_Comm comm);
int cr_grid(MPI_Comm comm, int dimensions, int dims[], int periodic[], int *rank);

#endif
