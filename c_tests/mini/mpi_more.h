/* Functions that mini declares but does not define; a part of mpi.h. */
#ifndef MINI_MPI_MORE_H
#define MINI_MPI_MORE_H

#include "mpi_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- The topology chapter ---- */

MINI_DECLARE(int, Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]));
MINI_DECLARE(int, Cart_create, (MPI_Comm comm, int ndims, const int dims[], const int periods[],
             int reorder, MPI_Comm *comm_cart));
MINI_DECLARE(int, Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]));
MINI_DECLARE(int, Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[],
             int *newrank));
MINI_DECLARE(int, Cart_rank, (MPI_Comm comm, const int coords[], int *rank));
MINI_DECLARE(int, Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source,
             int *rank_dest));
MINI_DECLARE(int, Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm));
MINI_DECLARE(int, Cartdim_get, (MPI_Comm comm, int *ndims));
MINI_DECLARE(int, Dims_create, (int nnodes, int ndims, int dims[]));
MINI_DECLARE(int, Dist_graph_create, (MPI_Comm comm, int n, const int sources[],
             const int degrees[], const int destinations[], const int *weights, MPI_Info info,
             int reorder, MPI_Comm *comm_dist_graph));
MINI_DECLARE(int, Dist_graph_create_adjacent, (MPI_Comm comm, int indegree, const int sources[],
             const int *sourceweights, int outdegree, const int destinations[],
             const int *destweights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph));
MINI_DECLARE(int, Dist_graph_neighbors, (MPI_Comm comm, int maxindegree, int sources[],
             int *sourceweights, int maxoutdegree, int destinations[], int *destweights));
MINI_DECLARE(int, Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree,
             int *weighted));
MINI_DECLARE(int, Graph_create, (MPI_Comm comm, int nnodes, const int indx[], const int edges[],
             int reorder, MPI_Comm *comm_graph));
MINI_DECLARE(int, Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]));
MINI_DECLARE(int, Graph_map, (MPI_Comm comm, int nnodes, const int indx[], const int edges[],
             int *newrank));
MINI_DECLARE(int, Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]));
MINI_DECLARE(int, Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors));
MINI_DECLARE(int, Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges));
MINI_DECLARE(int, Ineighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
             MPI_Request *request));
MINI_DECLARE(int, Ineighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Ineighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Ineighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Ineighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
             MPI_Request *request));
MINI_DECLARE(int, Ineighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Ineighbor_alltoallv, (const void *sendbuf, const int sendcounts[],
             const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Ineighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[],
             const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Ineighbor_alltoallw, (const void *sendbuf, const int sendcounts[],
             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
             const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Ineighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[],
             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Neighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
MINI_DECLARE(int, Neighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             MPI_Comm comm));
MINI_DECLARE(int, Neighbor_allgather_init, (const void *sendbuf, int sendcount,
             MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Info info, MPI_Request *request));
MINI_DECLARE(int, Neighbor_allgather_init_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Info info, MPI_Request *request));
MINI_DECLARE(int, Neighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
             MPI_Comm comm));
MINI_DECLARE(int, Neighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm));
MINI_DECLARE(int, Neighbor_allgatherv_init, (const void *sendbuf, int sendcount,
             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
             MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MINI_DECLARE(int, Neighbor_allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request *request));
MINI_DECLARE(int, Neighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
MINI_DECLARE(int, Neighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             MPI_Comm comm));
MINI_DECLARE(int, Neighbor_alltoall_init, (const void *sendbuf, int sendcount,
             MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Info info, MPI_Request *request));
MINI_DECLARE(int, Neighbor_alltoall_init_c, (const void *sendbuf, MPI_Count sendcount,
             MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Info info, MPI_Request *request));
MINI_DECLARE(int, Neighbor_alltoallv, (const void *sendbuf, const int sendcounts[],
             const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm));
MINI_DECLARE(int, Neighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[],
             const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
             MPI_Comm comm));
MINI_DECLARE(int, Neighbor_alltoallv_init, (const void *sendbuf, const int sendcounts[],
             const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request *request));
MINI_DECLARE(int, Neighbor_alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[],
             const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Info info, MPI_Request *request));
MINI_DECLARE(int, Neighbor_alltoallw, (const void *sendbuf, const int sendcounts[],
             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
             const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
             MPI_Comm comm));
MINI_DECLARE(int, Neighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[],
             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
             MPI_Comm comm));
MINI_DECLARE(int, Neighbor_alltoallw_init, (const void *sendbuf, const int sendcounts[],
             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
             const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
             MPI_Comm comm, MPI_Info info, MPI_Request *request));
MINI_DECLARE(int, Neighbor_alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[],
             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
             MPI_Comm comm, MPI_Info info, MPI_Request *request));
MINI_DECLARE(int, Topo_test, (MPI_Comm comm, int *status));

/* ---- Functions that Cartograph and its bindings use if they exist ---- */

MINI_DECLARE(int, Abi_get_fortran_booleans, (int logical_size, void *logical_true,
             void *logical_false, int *is_set));
MINI_DECLARE(int, Comm_test_inter, (MPI_Comm comm, int *flag));
MINI_DECLARE(int, Get_library_version, (char *version, int *resultlen));
MINI_DECLARE(int, Ialltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[],
             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
             const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
             MPI_Request *request));
MINI_DECLARE(int, Alltoallw_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
             const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
             MPI_Request *request));
MINI_DECLARE(int, Query_thread, (int *provided));
MINI_DECLARE(int, Recv_init, (void *buf, int count, MPI_Datatype datatype, int source, int tag,
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info,
             MPI_Comm *newcomm));
MINI_DECLARE(int, Get_processor_name, (char *name, int *resultlen));
MINI_DECLARE(int, Comm_group, (MPI_Comm comm, MPI_Group *group));
MINI_DECLARE(int, Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[],
             MPI_Group group2, int ranks2[]));
MINI_DECLARE(int, Group_free, (MPI_Group *group));
MINI_DECLARE(int, Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value,
             int *flag));
MINI_DECLARE(int, Type_create_keyval, (MPI_Type_copy_attr_function *type_copy_attr_fn,
             MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
             void *extra_state));
MINI_DECLARE(int, Type_free_keyval, (int *type_keyval));
MINI_DECLARE(int, Pack, (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
    int *position, MPI_Comm comm));
MINI_DECLARE(int, Unpack, (const void *inbuf, int insize, int *position, void *outbuf, int outcount,
    MPI_Datatype datatype, MPI_Comm comm));
MINI_DECLARE(int, Type_size, (MPI_Datatype datatype, int *size));
MINI_DECLARE(int, Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype));
MINI_DECLARE(int, Type_set_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val));
MINI_DECLARE(int, Type_get_envelope, (MPI_Datatype datatype, int *num_integers, int *num_addresses,
             int *num_datatypes, int *combiner));
MINI_DECLARE(double, Wtick, (void));
MINI_DECLARE(MPI_Comm, Comm_fromint, (int comm));
MINI_DECLARE(int, Comm_toint, (MPI_Comm comm));
MINI_DECLARE(MPI_Errhandler, Errhandler_fromint, (int errhandler));
MINI_DECLARE(int, Errhandler_toint, (MPI_Errhandler errhandler));
MINI_DECLARE(MPI_File, File_fromint, (int file));
MINI_DECLARE(int, File_toint, (MPI_File file));
MINI_DECLARE(MPI_Group, Group_fromint, (int group));
MINI_DECLARE(int, Group_toint, (MPI_Group group));
MINI_DECLARE(MPI_Info, Info_fromint, (int info));
MINI_DECLARE(int, Info_toint, (MPI_Info info));
MINI_DECLARE(MPI_Message, Message_fromint, (int message));
MINI_DECLARE(int, Message_toint, (MPI_Message message));
MINI_DECLARE(MPI_Op, Op_fromint, (int op));
MINI_DECLARE(int, Op_toint, (MPI_Op op));
MINI_DECLARE(MPI_Request, Request_fromint, (int request));
MINI_DECLARE(int, Request_toint, (MPI_Request request));
MINI_DECLARE(MPI_Datatype, Type_fromint, (int datatype));
MINI_DECLARE(int, Type_toint, (MPI_Datatype datatype));
MINI_DECLARE(MPI_Win, Win_fromint, (int win));
MINI_DECLARE(int, Win_toint, (MPI_Win win));

/* ---- Functions that programs of c_tests name but do not need ---- */

MINI_DECLARE(int, Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request));

#if defined(__cplusplus)
}
#endif

#endif
