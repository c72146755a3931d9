/* A profiling tool that counts messages, and prints their number in MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>

static long calls;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    calls++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    calls++;
    return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

/* A tool may send with a different function than the program. */
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    MPI_Request request;
    calls++;
    PMPI_Issend(buf, count, datatype, dest, tag, comm, &request);
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Finalize(void)
{
    printf("tool: %ld\n", calls);
    fflush(stdout);
    return PMPI_Finalize();
}
