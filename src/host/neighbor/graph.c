/* Neighborhood collectives of the host itself. Cartograph replaces the functions that create their communicators under
 * the same names, including PMPI_, so the host's are looked up in the library that has the host's other functions. */
#include "cartograph_host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#pragma weak PMPI_Comm_get_errhandler
#pragma weak PMPI_Comm_group
#pragma weak PMPI_Errhandler_free
#pragma weak PMPI_Group_free
#pragma weak PMPI_Request_free
#pragma weak PMPI_Type_size

#if defined(SMPI_H)

void *cg_host_function(const char *name)
{
    (void)name;
    return NULL;
}

/* SMPI has no distributed graphs. */
int cg_find_graph_functions(struct cg_graph_functions *host)
{
    (void)host;
    return 0;
}

#else

void *cg_host_function(const char *name)
{
    Dl_info known, theirs, ours;
    if (!dladdr((void *)PMPI_Waitall, &known) || !known.dli_fname)
        return NULL;
    void *library = dlopen(known.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return NULL;
    void *found = dlsym(library, name);
    /* The library stays loaded, since it also has the function that was found first. */
    dlclose(library);
    int is_theirs = found && dladdr(found, &theirs) && dladdr((void *)cg_host_function, &ours)
        && theirs.dli_fbase != ours.dli_fbase;
    return is_theirs ? found : NULL;
}

/* True if the lifetime of the host's arguments is known. */
static int is_known(void)
{
#if defined(OMPI_MAJOR_VERSION)
    return 1;
#else
    return cg_requests_keep_datatypes();
#endif
}

int cg_find_graph_functions(struct cg_graph_functions *host)
{
    memset(host, 0, sizeof *host);
    if (!is_known() || !PMPI_Comm_get_errhandler || !PMPI_Comm_group || !PMPI_Errhandler_free
        || !PMPI_Group_free || !PMPI_Request_free || !PMPI_Type_size)
        return 0;
    host->create = cg_host_function("PMPI_Dist_graph_create_adjacent");
    host->topo_test = cg_host_function("PMPI_Topo_test");
#if defined(OMPI_MAJOR_VERSION)
    host->start = cg_host_function("PMPI_Ineighbor_alltoallw");
    host->init = cg_host_function("PMPI_Neighbor_alltoallw_init");
    /* The name in Open MPI 4, from before MPI 4. */
    if (!host->init)
        host->init = cg_host_function("PMPIX_Neighbor_alltoallw_init");
#else
    host->start = cg_host_function("PMPI_Ineighbor_alltoallw_c");
    host->init = cg_host_function("PMPI_Neighbor_alltoallw_init_c");
#endif
    host->start_persistent = cg_host_function("PMPI_Start");
    return host->create && host->topo_test && host->start && host->init && host->start_persistent;
}

#endif

typedef int create_function(MPI_Comm, int, const int[], const int[], int, const int[], const int[], MPI_Info, int,
                            MPI_Comm *);
typedef int test_function(MPI_Comm, int *);
typedef int create_group_function(MPI_Comm, MPI_Group, int, MPI_Comm *);
typedef int create_from_group_function(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *);
typedef int start_persistent_function(MPI_Request *);
typedef int start_function(const void *, const cg_graph_count[], const MPI_Aint[], const MPI_Datatype[], void *,
                           const cg_graph_count[], const MPI_Aint[], const MPI_Datatype[], MPI_Comm, MPI_Request *);
typedef int init_function(const void *, const cg_graph_count[], const MPI_Aint[], const MPI_Datatype[], void *,
                          const cg_graph_count[], const MPI_Aint[], const MPI_Datatype[], MPI_Comm, MPI_Info,
                          MPI_Request *);

static int create(const struct cg_graph_functions *host, MPI_Comm comm, int indegree, const int sources[],
                  int outdegree, const int destinations[], MPI_Comm *made)
{
    return ((create_function *)host->create)(comm, indegree, sources, MPI_UNWEIGHTED, outdegree, destinations,
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
}

int cg_has_graph(const struct cg_graph_functions *host, MPI_Comm comm)
{
    int kind = MPI_UNDEFINED;
    return ((test_function *)host->topo_test)(comm, &kind) == MPI_SUCCESS && kind == MPI_DIST_GRAPH;
}

int cg_ineighbor_alltoallw(const struct cg_graph_functions *host, const void *sendbuf,
                           const cg_graph_count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                           void *recvbuf, const cg_graph_count recvcounts[], const MPI_Aint rdispls[],
                           const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    return ((start_function *)host->start)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                           recvtypes, comm, request);
}

int cg_neighbor_alltoallw_init(const struct cg_graph_functions *host, const void *sendbuf,
                               const cg_graph_count sendcounts[], const MPI_Aint sdispls[],
                               const MPI_Datatype sendtypes[], void *recvbuf, const cg_graph_count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                               MPI_Info info, MPI_Request *request)
{
    return ((init_function *)host->init)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                         recvtypes, comm, info, request);
}

int cg_create_graph(const struct cg_graph_functions *host, MPI_Comm comm, int indegree, const int sources[],
                    int outdegree, const int destinations[], MPI_Comm *made)
{
    MPI_Errhandler handler;
    int code = PMPI_Comm_get_errhandler(comm, &handler);
    if (code != MPI_SUCCESS)
        return code;
    /* The host may have no room for two communicators. */
    code = PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = create(host, comm, indegree, sources, outdegree, destinations, made);
    PMPI_Comm_set_errhandler(code == MPI_SUCCESS ? *made : comm, handler);
    PMPI_Errhandler_free(&handler);
    return code;
}

enum { NULL_EDGES = CG_PROC_NULL_EDGES, EDGES = NULL_EDGES + 2 };

/* Two edges from a process to itself: each block must arrive at the edge along which it was sent. Nothing is sent along
 * edges to MPI_PROC_NULL. */
static int pairs_in_order(const struct cg_graph_functions *host, MPI_Comm graph)
{
    static const cg_graph_count ones[EDGES] = { [NULL_EDGES] = 1, 1 };
    static const MPI_Aint from[EDGES] = { [NULL_EDGES] = 2 * sizeof(int), 0 };
    static const MPI_Aint to[EDGES] = { [NULL_EDGES] = sizeof(int), 3 * sizeof(int) };
    MPI_Datatype types[EDGES];
    int sent[3] = { 1, 0, 2 }, received[4] = { 0, 0, 0, 0 }, right;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    for (int i = 0; i < EDGES; i++)
        types[i] = MPI_INT;
    if (!cg_has_graph(host, graph)
        || cg_ineighbor_alltoallw(host, sent, ones, from, types, received, ones, to, types, graph, &request)
            != MPI_SUCCESS
        || PMPI_Waitall(1, &request, &status) != MPI_SUCCESS)
        return 0;
    right = received[1] == 2 && received[3] == 1 && received[0] == 0 && received[2] == 0;
    if (!right
        || cg_neighbor_alltoallw_init(host, sent, ones, from, types, received, ones, to, types, graph,
                                      MPI_INFO_NULL, &request) != MPI_SUCCESS)
        return 0;
    for (int round = 0; round < 2 && right; round++) {
        sent[0] = 5 + round, sent[2] = 7 + round;
        right = ((start_persistent_function *)host->start_persistent)(&request) == MPI_SUCCESS
            && PMPI_Waitall(1, &request, &status) == MPI_SUCCESS && received[1] == sent[2]
            && received[3] == sent[0];
    }
    PMPI_Request_free(&request);
    return right;
}

/* Creates a communicator of the calling process with a function that allows another thread to be in a collective call
 * on MPI_COMM_SELF. Open MPI copies the program's attributes in MPI_Comm_create_group, and has the other function since
 * version 5. */
static int make_beside_threads(int tag, MPI_Comm *made)
{
    create_group_function *create_group = cg_host_function("PMPI_Comm_create_group");
    create_from_group_function *create_from_group = NULL;
    MPI_Group group;
    int code = PMPI_Comm_group(MPI_COMM_SELF, &group);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_ERR_OTHER;
#if defined(OMPI_MAJOR_VERSION)
    create_from_group = cg_host_function("PMPI_Comm_create_from_group");
#endif
    if (create_from_group) {
        char name[32];
        snprintf(name, sizeof name, "cartograph.%d", tag);
        code = create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, made);
    }
    /* Some transports of Open MPI cannot create one without a parent communicator. */
    if (code != MPI_SUCCESS && create_group)
        code = create_group(MPI_COMM_SELF, group, tag, made);
    PMPI_Group_free(&group);
    return code;
}

int cg_make_alone(int tag, MPI_Comm *made)
{
    int code = cg_threads_may_meet() ? make_beside_threads(tag, made) : cg_comm_split(MPI_COMM_SELF, 0, 0, made);
    if (code == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    return code;
}

int cg_graph_functions_are_right(const struct cg_graph_functions *host)
{
    int ends[EDGES] = { 0 };
    MPI_Comm alone = MPI_COMM_NULL, graph = MPI_COMM_NULL;
    int right = 0;

    for (int i = 0; i < NULL_EDGES; i++)
        ends[i] = MPI_PROC_NULL;
    if (cg_make_alone(27183, &alone) == MPI_SUCCESS) {
        if (create(host, alone, EDGES, ends, EDGES, ends, &graph) == MPI_SUCCESS) {
            PMPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
            right = pairs_in_order(host, graph);
            PMPI_Comm_free(&graph);
        }
        PMPI_Comm_free(&alone);
    }
    return right;
}
