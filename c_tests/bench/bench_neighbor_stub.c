/* Functions of a host: communicators have the size that bench_neighbor_size.c sets, and nonblocking collectives return
 * at once. A separate library: Cartograph looks up the host's neighborhood collectives in the library that contains
 * PMPI_Waitall. Calls on this process alone, by which Cartograph tests the host, are passed on to the host. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int pretended, starts;

#define NEXT(function) static __typeof__(&function) host; \
    if (!host)                                            \
        host = (__typeof__(host))dlsym(RTLD_NEXT, #function)

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    NEXT(PMPI_Waitall);
    return host(count, requests, statuses);
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    NEXT(PMPI_Comm_size);
    int code = host(comm, size);
    if (code == MPI_SUCCESS && pretended)
        *size = pretended;
    return code;
}

/* The last communicator on which this process is its only neighbor. */
static MPI_Comm alone = MPI_COMM_NULL;

/* For neighbors that do not exist: a communicator without them. */
int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int source_weights[],
                                    int outdegree, const int destinations[], const int destination_weights[],
                                    MPI_Info info, int reorder, MPI_Comm *made)
{
    NEXT(PMPI_Dist_graph_create_adjacent);
    for (int i = 0; i < indegree; i++)
        if (sources[i] > 0) {
            alone = MPI_COMM_NULL;
            return PMPI_Comm_split(comm, 0, 0, made);
        }
    int code = host(comm, indegree, sources, source_weights, outdegree, destinations, destination_weights, info,
                    reorder, made);
    alone = *made;
    return code;
}

int PMPI_Topo_test(MPI_Comm comm, int *kind)
{
    NEXT(PMPI_Topo_test);
    if (comm == alone)
        return host(comm, kind);
    *kind = MPI_DIST_GRAPH;
    return MPI_SUCCESS;
}

static int at_once(MPI_Request *request)
{
    starts++;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                    void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                    MPI_Comm comm, MPI_Request *request)
{
    (void)sendbuf, (void)sendcounts, (void)sdispls, (void)sendtypes, (void)recvbuf, (void)recvcounts;
    (void)rdispls, (void)recvtypes, (void)comm;
    return at_once(request);
}

#if defined(OMPI_MAJOR_VERSION)
#define COUNT int
#define INEIGHBOR_ALLTOALLW PMPI_Ineighbor_alltoallw
#else
#define COUNT MPI_Count
#define INEIGHBOR_ALLTOALLW PMPI_Ineighbor_alltoallw_c
#endif
#define NEXT_OF(function) NEXT(function)

int INEIGHBOR_ALLTOALLW(const void *sendbuf, const COUNT sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const COUNT recvcounts[],
                        const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    NEXT_OF(INEIGHBOR_ALLTOALLW);
    if (comm != alone)
        return at_once(request);
    return host(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
}
