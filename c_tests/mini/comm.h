/* Communicators: the processes in them, and what hangs on them. */
#ifndef MINI_COMM_H
#define MINI_COMM_H

#include "mpi.h"

#include <stdint.h>

/* An error handler that a program made, as long as it or a communicator has it. */
struct MPI_ABI_Errhandler {
    int references;
    MPI_Comm_errhandler_function *function;
};

/* Of a handler that MPI defines both do nothing. */
void mini_errhandler_keep(MPI_Errhandler handler);
void mini_errhandler_release(MPI_Errhandler handler);

struct mini_attr {
    struct mini_attr *next;
    int keyval;
    void *value;
};

struct mini_comm {
    /* The next of all of this process. */
    struct mini_comm *next;
    MPI_Comm handle;
    int references;
    int rank, size;
    /* Messages of the program have this context, those of collectives the next one. */
    int64_t context;
    MPI_Errhandler handler;
    /* The one that hostile.c has put another in the place of, if it has. */
    MPI_Errhandler replaced;
    /* For hostile.c, the number of collective calls of the chapter. */
    int calls;
    /* The library has its errors returned. */
    int is_quiet;
    /* The newest first. */
    struct mini_attr *attrs;
    /* Of each of its processes, which it is among all. */
    int processes[];
};

/* Null if it is none. */
struct mini_comm *mini_comm(MPI_Comm comm);
/* MPI_COMM_WORLD and MPI_COMM_SELF come and go. */
void mini_comm_start(void);
void mini_comm_end(void);
/* A communicator of `size` processes, which the caller fills in, and of this handler. */
struct mini_comm *mini_comm_new(int64_t context, int rank, int size, MPI_Errhandler handler);
/* The newest of all. */
struct mini_comm *mini_comms(void);
void mini_comm_release(struct mini_comm *comm);

#endif
