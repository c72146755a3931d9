/* Intercepts PMPI_Isend and PMPI_Sendrecv of a library over the MPI: each message is passed to count(), which the
 * including file defines, and then to the MPI. That file also defines _GNU_SOURCE. */
#ifndef CARTOGRAPH_COUNT_SENDS_H
#define CARTOGRAPH_COUNT_SENDS_H

#include <mpi.h>

#include <dlfcn.h>

static inline void count(MPI_Comm comm, int to);

int PMPI_Isend(const void *buffer, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    static int (*host)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    if (!host)
        host = (int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))dlsym(RTLD_NEXT, "PMPI_Isend");
    count(comm, to);
    return host(buffer, number, type, to, tag, comm, request);
}

int PMPI_Sendrecv(const void *sent, int number, MPI_Datatype type, int to, int tag, void *got, int room,
                  MPI_Datatype got_type, int from, int got_tag, MPI_Comm comm, MPI_Status *status)
{
    typedef int function(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                         MPI_Status *);
    static function *host;
    if (!host)
        host = (function *)dlsym(RTLD_NEXT, "PMPI_Sendrecv");
    count(comm, to);
    return host(sent, number, type, to, tag, got, room, got_type, from, got_tag, comm, status);
}

#endif
