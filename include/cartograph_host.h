/* The parts of a host's mpi.h that Cartograph needs in addition to prototypes, under one name and one type on every
 * host. Private: the C files of src/host define it, build.rs binds it, only src/host uses it. */
#ifndef CARTOGRAPH_HOST_H
#define CARTOGRAPH_HOST_H

#include <mpi.h>

/* mpi-sys gives these constants different types from host to host. */
enum {
    CG_SUCCESS = MPI_SUCCESS,
    CG_ERR_COMM = MPI_ERR_COMM,
    CG_ERR_RANK = MPI_ERR_RANK,
    CG_ERR_TOPOLOGY = MPI_ERR_TOPOLOGY,
    CG_ERR_DIMS = MPI_ERR_DIMS,
    CG_ERR_ARG = MPI_ERR_ARG,
    CG_ERR_IN_STATUS = MPI_ERR_IN_STATUS,
    CG_ERR_PENDING = MPI_ERR_PENDING,
    CG_ERR_TRUNCATE = MPI_ERR_TRUNCATE,
    CG_ERR_UNSUPPORTED_OPERATION = MPI_ERR_UNSUPPORTED_OPERATION,
    /* A code that no host has: the host lacks the function. */
    CG_ABSENT = -0x7fffffff - 1,
    CG_CART = MPI_CART,
    CG_GRAPH = MPI_GRAPH,
    CG_DIST_GRAPH = MPI_DIST_GRAPH,
    CG_UNDEFINED = MPI_UNDEFINED,
    CG_PROC_NULL = MPI_PROC_NULL,
    CG_KEYVAL_INVALID = MPI_KEYVAL_INVALID,
    /* The communicator for errors that belong to none: MPI_COMM_SELF since MPI-4. */
    CG_ERRORS_ON_SELF = MPI_VERSION >= 4,
    /* True if PMPI_ functions call error handlers for their errors; only SMPI's MPI_ names do. */
#if defined(SMPI_H)
    CG_PMPI_CALLS_HANDLERS = 0,
#else
    CG_PMPI_CALLS_HANDLERS = 1,
#endif
    /* True if a communicator has the same number in C and in Fortran. */
#if !defined(MPI_ABI) && (defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION))
    CG_COMM_IS_FORTRAN = 1,
#else
    CG_COMM_IS_FORTRAN = 0,
#endif
    /* True if Fortran's .TRUE. is certainly 1; the standard ABI is used with more than one compiler. */
#if defined(MPI_ABI)
    CG_FORTRAN_TRUE_IS_1 = 0,
#else
    CG_FORTRAN_TRUE_IS_1 = 1,
#endif
    /* The number of edges from and to MPI_PROC_NULL that precede a process's own in the distributed graphs that are
     * declared to the host. Open MPI 5 never releases the datatypes of a collective that has derived ones only for its
     * first edges. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    CG_PROC_NULL_EDGES = 2,
#else
    CG_PROC_NULL_EDGES = 0,
#endif
    /* True if the host reads the datatypes of a collective until its request is complete. */
#if defined(OMPI_MAJOR_VERSION)
    CG_KEEPS_ARRAYS = 1,
#else
    CG_KEEPS_ARRAYS = 0,
#endif
    CG_MAX_LIBRARY_VERSION_STRING = MPI_MAX_LIBRARY_VERSION_STRING,
    /* To check that mpi-sys was built for this host. */
    CG_SIZEOF_COMM = sizeof(MPI_Comm)
};

/* The families of hosts that differ in their binary interface. */
enum cg_family {
    CG_FAMILY_UNKNOWN,
    CG_FAMILY_MPICH,
    CG_FAMILY_OPEN_MPI,
    CG_FAMILY_ABI,
    CG_FAMILY_SMPI
};

/* The family whose mpi.h this library was built with. */
extern const enum cg_family cg_family_built;
/* True if the loaded MPI has the standard's binary interface. */
int cg_has_standard_abi(void);
/* Writes the name that the loaded MPI reports. Returns whether it reports one. */
int cg_library_version(char version[MPI_MAX_LIBRARY_VERSION_STRING]);

/* In some headers these are casts or variables, which bindgen ignores. */
extern const MPI_Comm cg_comm_null;
extern const MPI_Datatype cg_byte;
extern const MPI_Datatype cg_int;
extern const MPI_Datatype cg_int64;
extern const MPI_Errhandler cg_errors_return;
extern const MPI_Info cg_info_null;
extern const MPI_Request cg_request_null;
extern const MPI_Op cg_min;
extern const MPI_Op cg_sum;
/* SMPI returns different values on each rank. */
MPI_Comm cg_comm_self(void);
MPI_Comm cg_comm_world(void);
void *cg_status_ignore(void);
void *cg_statuses_ignore(void);
const void *cg_in_place(void);
const void *cg_bottom(void);
const int *cg_unweighted(void);
const int *cg_weights_empty(void);
/* Writes the addresses of those that exist; the rest stays null. */
enum { CG_WEIGHTS_SENTINELS = 2, CG_FORTRAN_WEIGHTS_SENTINELS = 8 };
void cg_weights_sentinels(const void *found[CG_WEIGHTS_SENTINELS]);
void cg_fortran_weights_sentinels(const void *found[CG_FORTRAN_WEIGHTS_SENTINELS]);

/* Fortran's handles, sentinels (compared by address) and .TRUE. */
MPI_Comm cg_comm_from_fortran(int comm);
int cg_comm_to_fortran(MPI_Comm comm);
MPI_Info cg_info_from_fortran(int info);
MPI_Datatype cg_type_from_fortran(int datatype);
int cg_request_to_fortran(MPI_Request request);
/* The weights, or C's sentinel for the Fortran sentinel that was passed. */
const int *cg_weights_from_fortran(const int *weights);
int cg_is_fortran_in_place(const void *address);
int cg_is_fortran_bottom(const void *address);
int cg_fortran_true(void);

/* Calls the handler of a communicator. */
void cg_call_errhandler(MPI_Comm comm, int code);
/* True if errors on a communicator are fatal and its host cannot end the program for them, so that we must. */
int cg_errors_end_program(MPI_Comm comm);
/* Like MPI_Comm_split; the new communicator has the error handler of the old one. */
int cg_comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made);

/* True if a process that creates a communicator waits only for the processes of that: not if all creations of a process
 * are serialized, as on Open MPI. */
int cg_makes_communicators_at_once(void);
/* A communicator of the same processes in the same order, whose errors are returned as codes; on failure no error
 * handler is called, unless another thread may need it. Collective. */
int cg_comm_split_quietly(MPI_Comm comm, MPI_Comm *made);
/* True if the error with which a communicator was not created is the same on all its processes: the host has no room for
 * another one. False if it is known to be this process's own, such as a lack of memory. */
int cg_all_lack_room(int code);

/* Optional functions of the host: each comment gives the behavior without them. */

/* True if MPI is between its initialization and its finalization; without the host's function: true. */
int cg_is_active(void);
/* True if MPI_Init was called; without the host's function: true. A program that uses only sessions never calls it. */
int cg_world_is_initialized(void);
#if defined(MPI_SESSION_NULL)
/* Like MPI_Group_from_session_pset and MPI_Session_finalize; an error on a host that declares but lacks them. */
int cg_group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup);
int cg_session_finalize(MPI_Session *session);
#endif
/* True if two threads may be in MPI at a time; without the host's function: true. */
int cg_threads_may_meet(void);
/* True if this is an inter-communicator; a host without the function has none. */
int cg_is_inter(MPI_Comm comm);
/* The processes of a communicator, on a host that copies attributes to communicators of other groups; null elsewhere.
 * Freed with cg_group_free. */
void *cg_group_of(MPI_Comm comm);
/* True if a communicator has the processes of a group of the same size in the same order; always true on a host that
 * copies attributes only to duplicates. Local. */
int cg_is_group_of(void *group, MPI_Comm comm, int size);
void cg_group_free(void *group);
/* A new error code of this class; a host without such functions returns the class itself. */
int cg_new_code(int error_class);
/* Gives a code from cg_new_code a new text. Returns the code to use: the same one or, if the host has trouble with it,
 * another that has the right class, with the text or without. */
int cg_code_with_text(int code, int error_class, const char *function, const char *text);

/* A key whose attributes still exist while the host deletes others of their communicator. */
int cg_comm_create_lasting_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *deleted, int *keyval);
/* For a dispensable attribute: no error handler is called if there is no room for it. */
int cg_comm_set_attr_quietly(MPI_Comm comm, int keyval, void *value);
/* Like the host's functions of the same names; CG_ABSENT on a host without them. */
int cg_type_create_struct(int count, const int lengths[], const MPI_Aint displs[],
                          const MPI_Datatype types[], MPI_Datatype *made);
int cg_type_free(MPI_Datatype *datatype);
/* The size in bytes; negative if it is more than an int can count. */
int cg_type_size(MPI_Datatype datatype, long long *size);
/* True if a type may be derived. */
int cg_type_is_derived(MPI_Datatype datatype);
/* A key for values cached on datatypes; deleted is called when one is freed. CG_ABSENT as a code. */
int cg_type_create_keyval(int (*deleted)(MPI_Datatype, int, void *, void *), int *keyval);
void cg_type_free_keyval(int *keyval);
/* Replaces a type by a copy without attributes: MPI_Type_dup would call the program's callbacks. CG_ABSENT on a host
 * that cannot. */
int cg_type_copy(MPI_Datatype *datatype);
int cg_type_set_attr(MPI_Datatype datatype, int keyval, void *value);
/* Ends a receive: a matched message is received, and nothing is written to the buffer later. Waits only for messages
 * that are in flight. Without the host's function, the request is left alone. */
void cg_give_up_receive(MPI_Request *request);
/* Leaves a send to the host; without its function, the request is left alone. */
void cg_give_up_send(MPI_Request *request);
/* True if requests of the host's collectives hold the datatypes that they need, and read no array once they are made.
 * MPICH and its derivatives do so. */
int cg_requests_keep_datatypes(void);
/* A request on a communicator, never started, that only keeps it in memory; CG_ABSENT as a code. */
int cg_hold(MPI_Comm comm, MPI_Request *request);
void cg_release(MPI_Request *request);
int cg_ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                  MPI_Request *request);
int cg_alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                      const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Info info, MPI_Request *request);

/* A function of the host's library that Cartograph has under the same name; null if the host lacks it, or on SMPI. */
void *cg_host_function(const char *name);

/* Creates a communicator of the calling process alone, whose errors return; no other thread may use the same tag at the
 * same time. Local. Not on SMPI. */
int cg_make_alone(int tag, MPI_Comm *made);

/* Which block from a process is received as the k-th of several. */
enum cg_pairing {
    /* The one that was sent in the opposite direction, as the standard requires on grids. */
    CG_PAIRS_BY_DIRECTION,
    /* The k-th that the process sends. */
    CG_PAIRS_IN_ORDER,
    /* The k-th from the end. */
    CG_PAIRS_REVERSED
};
/* Alltoall, then alltoallv: blocking, nonblocking, persistent. */
enum { CG_PAIRED = 6 };
/* The host's own pairing of blocks in each, tested on the calling process alone; by direction if that cannot be tested.
 * Only one thread may do that at a time. Local. */
void cg_find_pairing(enum cg_pairing found[CG_PAIRED]);

/* Around waits for our requests: errors in them call no error handler of MPI_COMM_WORLD or MPI_COMM_SELF, unless other
 * threads could call MPI meanwhile. `ours` is a private communicator, or null if the requests are on the program's. The
 * second function returns whether a handler would have been called. */
void cg_begin_waits(MPI_Comm ours);
int cg_end_waits(void);
/* True if receives must be calls of cg_recv, since a wait could call another communicator's error handler. */
int cg_receives_are_calls(void);
/* Like MPI_Recv, without the status; reports whether a message was received, even if it was too long. */
int cg_recv(void *buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int *was_received);
/* Like MPI_Wait, without a status. */
int cg_wait(MPI_Request *request);
/* Waits for all requests, even if one fails; returns the first error code. */
int cg_wait_all(int count, MPI_Request requests[]);
/* Frees the error handler that these waits set. */
void cg_free_relay(void);

/* Checks a block as the host does for sends; sends nothing. is_told: the host has called the communicator's error
 * handler on errors, since another thread may use that handler; otherwise it calls none. */
int cg_judge(const void *address, int count, MPI_Datatype datatype, MPI_Comm comm, int returns_errors, int *is_told);

/* The host's own functions for neighborhood collectives on communicators whose neighbors it knows. */
struct cg_graph_functions {
    void *create, *topo_test, *start, *init, *start_persistent;
};

/* The type of element counts there. MPICH's functions with large counts are right, while those with int counts confuse
 * the degrees (4.0; issue 6233); Open MPI has only the latter. */
#if defined(OMPI_MAJOR_VERSION)
typedef int cg_graph_count;
#else
typedef MPI_Count cg_graph_count;
#endif

/* Finds them; 0 if some are missing, or they are not used on this host. Local. */
int cg_find_graph_functions(struct cg_graph_functions *host);
/* True if they behave as the standard requires if one process is a neighbor twice: tested on the calling process alone.
 * Only one thread may do that at a time. Local. */
int cg_graph_functions_are_right(const struct cg_graph_functions *host);
/* Creates a communicator of the same processes, with the same error handler, whose neighbors the host knows; errors on
 * the old one are then returned as codes. On failure no error handler is called. Collective. */
int cg_create_graph(const struct cg_graph_functions *host, MPI_Comm comm, int indegree, const int sources[],
                    int outdegree, const int destinations[], MPI_Comm *made);
/* True if the host has a distributed graph for a communicator. Local. */
int cg_has_graph(const struct cg_graph_functions *host, MPI_Comm comm);
/* Like the host's functions of these names. */
int cg_ineighbor_alltoallw(const struct cg_graph_functions *host, const void *sendbuf,
                           const cg_graph_count sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const cg_graph_count recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                           MPI_Request *request);
int cg_neighbor_alltoallw_init(const struct cg_graph_functions *host, const void *sendbuf,
                               const cg_graph_count sendcounts[], const MPI_Aint sdispls[],
                               const MPI_Datatype sendtypes[], void *recvbuf, const cg_graph_count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                               MPI_Info info, MPI_Request *request);

/* A number shared by exactly the processes of comm on one node. Collective. CG_ABSENT on a host that does not know. */
int cg_node_id(MPI_Comm comm, int rank, long long *id);
/* The rank of this process in MPI_COMM_WORLD, or MPI_UNDEFINED if process 0 of comm is in another world or the host
 * does not know it. Local. */
int cg_rank_in_shared_world(MPI_Comm comm);
/* The ranks in MPI_COMM_WORLD of all processes of comm, or MPI_UNDEFINED, in the first half of an array
 * with room for twice as many. Local. */
int cg_ranks_in_world(MPI_Comm comm, int size, int ranks[]);
/* True if info has the key; then its value is written, truncated to the buffer. */
enum { CG_INFO_ROOM = 256 };
int cg_info_get(MPI_Info info, const char *key, char value[CG_INFO_ROOM]);

#endif
