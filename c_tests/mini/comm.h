/* Communicators: their processes, attributes and error handlers. */
#ifndef MINI_COMM_H
#define MINI_COMM_H

#include "mpi.h"

#include <stdint.h>

/* An error handler of the program, kept as long as the program or a communicator uses it. */
struct MPI_ABI_Errhandler {
    int references;
    MPI_Comm_errhandler_function *function;
};

/* Both ignore predefined handlers. */
void mini_errhandler_keep(MPI_Errhandler handler);
void mini_errhandler_release(MPI_Errhandler handler);

struct mini_attr {
    struct mini_attr *next;
    int keyval;
    void *value;
};

struct mini_comm {
    /* The next communicator of this process. */
    struct mini_comm *next;
    MPI_Comm handle;
    int references;
    int rank, size;
    /* Messages of the program have this context, those of collectives the next one. */
    int64_t context;
    MPI_Errhandler handler;
    /* The handler that hostile.c replaced, if any. */
    MPI_Errhandler replaced;
    /* The number of collective calls of the chapter, for hostile.c. */
    int calls;
    /* The library gets its errors as return codes. */
    int is_quiet;
    /* The newest first. */
    struct mini_attr *attrs;
    /* The world rank of each process. */
    int processes[];
};

/* Null if the handle is invalid. */
struct mini_comm *mini_comm(MPI_Comm comm);
/* Create and free MPI_COMM_WORLD and MPI_COMM_SELF. */
void mini_comm_start(void);
void mini_comm_end(void);
/* Returns a communicator of `size` processes, which the caller fills in, with this handler. */
struct mini_comm *mini_comm_new(int64_t context, int rank, int size, MPI_Errhandler handler);
/* The newest communicator. */
struct mini_comm *mini_comms(void);
void mini_comm_release(struct mini_comm *comm);

#endif
