/* A preloaded tracing library, like Darshan and eztrace. With BY_NEXT it calls the next function of each name,
 * which dlsym finds, and needs no MPI itself; otherwise it calls the PMPI_ name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef BY_NEXT
#define REAL(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "MPI_" #name))
#else
#define REAL(name) PMPI_##name
#endif

static int begun, isends, grids, collectives;

int MPI_Init(int *argc, char ***argv)
{
    begun++;
    return REAL(Init)(argc, argv);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    isends++;
    return REAL(Isend)(data, count, type, dest, tag, comm, request);
}

int MPI_Cart_create(MPI_Comm old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *made)
{
    grids++;
    return REAL(Cart_create)(old, ndims, dims, periods, reorder, made);
}

int MPI_Neighbor_alltoall(const void *out, int outs, MPI_Datatype outtype, void *in, int ins, MPI_Datatype intype, MPI_Comm comm)
{
    collectives++;
    return REAL(Neighbor_alltoall)(out, outs, outtype, in, ins, intype, comm);
}

int MPI_Finalize(void)
{
    /* In one write, so that lines of two processes do not mix. */
    char text[80];
    int length = sprintf(text, "tool: %d begun, %d grids, %d collectives, %d isends\n", begun, grids, collectives, isends);
    fwrite(text, 1, length, stderr);
    return REAL(Finalize)();
}
