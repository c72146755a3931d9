/* MPI_Init and MPI_Finalize. */
#include "alias.h"
#include "attr.h"
#include "error.h"
#include "message.h"
#include "shm.h"

#include <stdio.h>
#include <time.h>

static int initialized, finalized, level;

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    if (initialized)
        return mini_raise(NULL, MPI_ERR_OTHER);
    mini_attach();
    mini_comm_start();
    /* The first context is set before any process takes one. */
    PMPI_Barrier(MPI_COMM_WORLD);
    initialized = 1;
    *provided = level = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
    return MPI_SUCCESS;
}

int PMPI_Init(int *argc, char ***argv)
{
    int provided;
    return PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int PMPI_Query_thread(int *provided)
{
    *provided = level;
    return MPI_SUCCESS;
}

int PMPI_Initialized(int *flag)
{
    *flag = initialized;
    return MPI_SUCCESS;
}

int PMPI_Finalized(int *flag)
{
    *flag = finalized;
    return MPI_SUCCESS;
}

int PMPI_Finalize(void)
{
    if (!initialized || finalized)
        return mini_raise(NULL, MPI_ERR_OTHER);
    /* Deletes the attributes of MPI_COMM_SELF while MPI is usable. */
    int error = mini_attrs_delete(mini_comm(MPI_COMM_SELF));
    mini_flush();
    PMPI_Barrier(MPI_COMM_WORLD);
    int failed = mini_attrs_delete(mini_comm(MPI_COMM_WORLD));
    mini_raise(NULL, error ? error : failed);
    /* Replies may still be in transit. */
    mini_flush();
    mini_forget_messages();
    mini_comm_end();
    mini_forget_codes();
    mini_detach();
    finalized = 1;
    return error ? error : failed;
}

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    (void)comm;
    fprintf(stderr, "mini: process %d calls MPI_Abort with %d\n", mini_rank, errorcode);
    mini_exit(errorcode & 0xff);
}

double PMPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

ALIAS(Init);
ALIAS(Init_thread);
ALIAS(Query_thread);
ALIAS(Initialized);
ALIAS(Finalized);
ALIAS(Finalize);
ALIAS(Abort);
ALIAS(Wtime);
