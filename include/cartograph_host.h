/* The parts of a host's mpi.h that Cartograph needs beyond prototypes, under one name and one type on every
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
    /* No code of any host: the host does not have the function. */
    CG_ABSENT = -0x7fffffff - 1,
    CG_CART = MPI_CART,
    CG_GRAPH = MPI_GRAPH,
    CG_DIST_GRAPH = MPI_DIST_GRAPH,
    CG_UNDEFINED = MPI_UNDEFINED,
    CG_PROC_NULL = MPI_PROC_NULL,
    CG_KEYVAL_INVALID = MPI_KEYVAL_INVALID,
    /* The communicator for errors that belong to none: MPI_COMM_SELF since MPI-4. */
    CG_ERRORS_ON_SELF = MPI_VERSION >= 4,
    /* Returns whether PMPI_ functions call error handlers for what goes wrong in them; SMPI's MPI_ names do. */
#if defined(SMPI_H)
    CG_PMPI_CALLS_HANDLERS = 0,
#else
    CG_PMPI_CALLS_HANDLERS = 1,
#endif
    /* Returns whether a communicator has the same number in C and in Fortran. */
#if !defined(MPI_ABI) && (defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION))
    CG_COMM_IS_FORTRAN = 1,
#else
    CG_COMM_IS_FORTRAN = 0,
#endif
    /* Returns whether Fortran's .TRUE. is 1 for certain; the standard ABI is used with more than one compiler. */
#if defined(MPI_ABI)
    CG_FORTRAN_TRUE_IS_1 = 0,
#else
    CG_FORTRAN_TRUE_IS_1 = 1,
#endif
    /* The number of edges from and to MPI_PROC_NULL before a process' own in the distributed graphs that the host is
     * told. Open MPI 5 never lets go of the datatypes of a collective that has derived ones for its first
     * edges only. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    CG_PROC_NULL_EDGES = 2,
#else
    CG_PROC_NULL_EDGES = 0,
#endif
    /* Returns whether the host looks at the datatypes of a collective until its request is done. */
#if defined(OMPI_MAJOR_VERSION)
    CG_KEEPS_ARRAYS = 1,
#else
    CG_KEEPS_ARRAYS = 0,
#endif
    CG_MAX_LIBRARY_VERSION_STRING = MPI_MAX_LIBRARY_VERSION_STRING,
    /* For the check that mpi-sys was made for this very host. */
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
/* Returns whether the MPI that answers has the standard's binary interface. */
int cg_has_standard_abi(void);
/* Writes what the MPI that answers calls itself. Returns whether it says that. */
int cg_library_version(char version[MPI_MAX_LIBRARY_VERSION_STRING]);

/* In some headers these are casts or variables, of which bindgen makes nothing. */
extern const MPI_Comm cg_comm_null;
extern const MPI_Datatype cg_byte;
extern const MPI_Datatype cg_int;
extern const MPI_Datatype cg_packed;
extern const MPI_Datatype cg_int64;
extern const MPI_Errhandler cg_errors_return;
extern const MPI_Info cg_info_null;
extern const MPI_Request cg_request_null;
extern const MPI_Op cg_min;
extern const MPI_Op cg_sum;
/* SMPI answers these differently from rank to rank. */
MPI_Comm cg_comm_self(void);
MPI_Comm cg_comm_world(void);
void *cg_status_ignore(void);
void *cg_statuses_ignore(void);
const void *cg_in_place(void);
const void *cg_bottom(void);
const int *cg_unweighted(void);
const int *cg_weights_empty(void);
/* Writes the addresses of those that there are; the rest is left null. */
enum { CG_WEIGHTS_SENTINELS = 2, CG_FORTRAN_WEIGHTS_SENTINELS = 8 };
void cg_weights_sentinels(const void *found[CG_WEIGHTS_SENTINELS]);
void cg_fortran_weights_sentinels(const void *found[CG_FORTRAN_WEIGHTS_SENTINELS]);

/* Fortran's handles, sentinels (compared by address) and .TRUE. */
MPI_Comm cg_comm_from_fortran(int comm);
int cg_comm_to_fortran(MPI_Comm comm);
MPI_Info cg_info_from_fortran(int info);
MPI_Datatype cg_type_from_fortran(int datatype);
int cg_request_to_fortran(MPI_Request request);
/* Weights, or the sentinel of C that stands for the one of Fortran that was passed. */
const int *cg_weights_from_fortran(const int *weights);
int cg_is_fortran_in_place(const void *address);
int cg_is_fortran_bottom(const void *address);
int cg_fortran_true(void);

/* Calls the handler of a communicator. */
void cg_call_errhandler(MPI_Comm comm, int code);
/* Returns whether errors on a communicator are fatal and its host cannot end the program for them: we do. */
int cg_errors_end_program(MPI_Comm comm);
/* As MPI_Comm_split; what it makes has the error handler of the old one. */
int cg_comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made);

/* Returns whether a process that makes a communicator waits for no others than those of it: not where all that a process makes
 * are made in turn, as on Open MPI. */
int cg_makes_communicators_at_once(void);
/* A communicator of the same processes in the same order, whose errors come back as codes; where that fails no error
 * handler is called unless another thread may need it. Collective. */
int cg_comm_split_quietly(MPI_Comm comm, MPI_Comm *made);

/* Optional functions of the host: what to do without them is said at each. */

/* Returns whether MPI is between its initialization and its finalization; without the host's help: yes. */
int cg_is_active(void);
/* Returns whether MPI_Init was called; without the host's help: yes. A program of sessions alone never does. */
int cg_world_is_initialized(void);
#if defined(MPI_SESSION_NULL)
/* As MPI_Group_from_session_pset and MPI_Session_finalize; a host that declares them and has none: an error. */
int cg_group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup);
int cg_session_finalize(MPI_Session *session);
#endif
/* Returns whether two threads may be in MPI at a time; without the host's help: yes. */
int cg_threads_may_meet(void);
/* Returns whether this is an inter-communicator; a host that cannot tell has none. */
int cg_is_inter(MPI_Comm comm);
/* The processes of a communicator, on a host that copies attributes to communicators of other groups;
 * null elsewhere. Given back with cg_group_free. */
void *cg_group_of(MPI_Comm comm);
/* Returns whether a communicator has the processes of a group of the same size in the same order; so on a host
 * that copies attributes to duplicates only. Local. */
int cg_is_group_of(void *group, MPI_Comm comm, int size);
void cg_group_free(void *group);
/* A fresh error code of this class; a host without such functions gives the class itself. */
int cg_new_code(int error_class);
/* Gives a code from cg_new_code a new text. The answer is the code to use: the same one or, where
 * the host has trouble with it, another that has the right class and the text or the class alone. */
int cg_code_with_text(int code, int error_class, const char *function, const char *text);

/* A key whose attributes are there while the host deletes others of their communicator. */
int cg_comm_create_lasting_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *deleted, int *keyval);
/* Of an attribute that can be done without: no handler is told if there is no room for it. */
int cg_comm_set_attr_quietly(MPI_Comm comm, int keyval, void *value);
/* As the host's functions of the same names; CG_ABSENT from a host without them. */
int cg_type_create_struct(int count, const int lengths[], const MPI_Aint displs[],
                          const MPI_Datatype types[], MPI_Datatype *made);
int cg_type_free(MPI_Datatype *datatype);
/* Returns whether a type may be other than a named one. */
int cg_type_is_derived(MPI_Datatype datatype);
/* A key for values cached on datatypes; deleted is called when one is gone. CG_ABSENT as a code. */
int cg_type_create_keyval(int (*deleted)(MPI_Datatype, int, void *, void *), int *keyval);
void cg_type_free_keyval(int *keyval);
/* Replaces a type by a copy of its own, without attributes: MPI_Type_dup would call the program's callbacks. CG_ABSENT
 * from a host that cannot. */
int cg_type_copy(MPI_Datatype *datatype);
int cg_type_set_attr(MPI_Datatype datatype, int keyval, void *value);
/* Returns whether the host can pack blocks, and packs what a type's size says and nothing else. */
int cg_can_pack(void);
/* As the host's functions of the same names, where it can pack; of buffers the bytes from the first on. */
int cg_type_size(MPI_Datatype datatype, long long *size);
int cg_pack(const void *block, int count, MPI_Datatype datatype, void *packed, int size, MPI_Comm comm);
int cg_unpack(const void *packed, int size, void *block, int count, MPI_Datatype datatype, MPI_Comm comm);
/* Ends a receive: what has matched is received, and nothing is written to its buffer later. Waits for no message that is
 * not under way. Without the host's help the request is left alone. */
void cg_give_up_receive(MPI_Request *request);
/* Leaves a send to the host; without its help the request is left alone. */
void cg_give_up_send(MPI_Request *request);
/* Returns whether requests of the host's collectives hold the datatypes that they need, and look at no array
 * once they are made. This is what MPICH and its kin do. */
int cg_requests_keep_datatypes(void);
/* A request on a communicator, never started, that does nothing but keep it in memory; CG_ABSENT as a code. */
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

/* A function of the host's library, where Cartograph's has the same name; null if it has none, or on SMPI. */
void *cg_host_function(const char *name);

/* Makes a communicator of the calling process alone, whose errors return; no other thread may use the same tag at once.
 * Local. Not on SMPI. */
int cg_make_alone(int tag, MPI_Comm *made);

/* The block from a process that is received as the k-th of several. */
enum cg_pairing {
    /* That which was sent in the opposite direction, as the standard has it on grids. */
    CG_PAIRS_BY_DIRECTION,
    /* The k-th that it sends. */
    CG_PAIRS_IN_ORDER,
    /* The last but k. */
    CG_PAIRS_REVERSED
};
/* Alltoall, and then alltoallv: blocking, nonblocking, persistent. */
enum { CG_PAIRED = 6 };
/* The host's own pairing of blocks in each, tried on the calling process alone; by direction where that cannot be tried.
 * No two threads may do that at once. Local. */
void cg_find_pairing(enum cg_pairing found[CG_PAIRED]);

/* Around waits for requests of ours: no error handler of MPI_COMM_WORLD or MPI_COMM_SELF is called for what goes wrong in
 * them, unless other threads could call MPI meanwhile. `ours` is a private communicator, or null where the requests are on
 * the program's. The second returns whether a handler would have been called. */
void cg_begin_waits(MPI_Comm ours);
int cg_end_waits(void);
/* Returns whether receives must be calls of cg_recv, since a wait could call another communicator's error handler. */
int cg_receives_are_calls(void);
/* As MPI_Recv, but for the status; says whether a message was received, also where it was too long. */
int cg_recv(void *buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int *was_received);
/* As MPI_Wait, without a status. */
int cg_wait(MPI_Request *request);
/* Waits for all requests, also where one fails; returns the first code of a failure. */
int cg_wait_all(int count, MPI_Request requests[]);
/* Frees the error handler that waits put there. */
void cg_free_relay(void);

/* Finds fault with a block as the host does with what is sent; sends nothing. is_told: the host has called the
 * communicator's error handler, if it found any, for another thread may look at that handler; else it calls none. */
int cg_judge(const void *address, int count, MPI_Datatype datatype, MPI_Comm comm, int returns_errors, int *is_told);

/* The host's own functions for neighborhood collectives on communicators to which it knows the neighbors. */
struct cg_graph_functions {
    void *create, *topo_test, *start, *init, *start_persistent;
};

/* The type of counts of elements there. MPICH's functions with large counts are right where those with int counts
 * take the degrees for each other (4.0; issue 6233); Open MPI has only the latter. */
#if defined(OMPI_MAJOR_VERSION)
typedef int cg_graph_count;
#else
typedef MPI_Count cg_graph_count;
#endif

/* Finds them; 0 where some are missing, or the host is one of which they are not used. Local. */
int cg_find_graph_functions(struct cg_graph_functions *host);
/* Returns whether they do what the standard says where one process is a neighbor twice: tried on the calling process alone.
 * No two threads may do that at once. Local. */
int cg_graph_functions_are_right(const struct cg_graph_functions *host);
/* Makes a communicator of the same processes, with the same error handler, to which the host knows these neighbors; the
 * old one's errors come back as codes then. Where that fails no error handler is called. Collective. */
int cg_create_graph(const struct cg_graph_functions *host, MPI_Comm comm, int indegree, const int sources[],
                    int outdegree, const int destinations[], MPI_Comm *made);
/* Returns whether the host knows a distributed graph to a communicator. Local. */
int cg_has_graph(const struct cg_graph_functions *host, MPI_Comm comm);
/* As the host's functions of these names. */
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

/* A number that the processes of a node share and no others of comm. Collective. CG_ABSENT from a
 * host that cannot tell. */
int cg_node_id(MPI_Comm comm, int rank, long long *id);
/* The rank of this process in MPI_COMM_WORLD, or MPI_UNDEFINED if process 0 of comm is in another one or
 * nobody can tell. Local. */
int cg_rank_in_shared_world(MPI_Comm comm);
/* The ranks in MPI_COMM_WORLD of all processes of comm, or MPI_UNDEFINED, in the first half of an array
 * with room for twice as many. Local. */
int cg_ranks_in_world(MPI_Comm comm, int size, int ranks[]);
/* True if info has the key; then its value is written, cut to what there is room for. */
enum { CG_INFO_ROOM = 256 };
int cg_info_get(MPI_Info info, const char *key, char value[CG_INFO_ROOM]);
/* The same of the hints of a communicator, as far as the host keeps what it does not know. Sends nothing. */
int cg_comm_info_get(MPI_Comm comm, const char *key, char value[CG_INFO_ROOM]);

#endif
