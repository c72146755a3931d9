/* The header of mini, a small MPI for tests, by the standard ABI of MPI-5: its types and the values of its
 * constants.
 *
 * It declares more than mini defines. Cartograph exports only functions that the header of its host declares, so
 * the whole topology chapter is declared, and so are functions that Cartograph uses if the linker finds them. The
 * functions of mini come first. */
#ifndef MINI_MPI_H
#define MINI_MPI_H

#include "mpi_more.h"
#include "mpi_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

MINI_DECLARE(int, Init, (int *argc, char ***argv));
MINI_DECLARE(int, Init_thread, (int *argc, char ***argv, int required, int *provided));
MINI_DECLARE(int, Initialized, (int *flag));
MINI_DECLARE(int, Finalize, (void));
MINI_DECLARE(int, Finalized, (int *flag));
MINI_DECLARE(int, Abort, (MPI_Comm comm, int errorcode));
MINI_DECLARE(double, Wtime, (void));
MINI_DECLARE(int, Comm_rank, (MPI_Comm comm, int *rank));
MINI_DECLARE(int, Comm_size, (MPI_Comm comm, int *size));
MINI_DECLARE(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm));
MINI_DECLARE(int, Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm));
MINI_DECLARE(int, Comm_free, (MPI_Comm *comm));
MINI_DECLARE(int, Comm_create_keyval, (MPI_Comm_copy_attr_function *comm_copy_attr_fn,
             MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
             void *extra_state));
MINI_DECLARE(int, Comm_free_keyval, (int *comm_keyval));
MINI_DECLARE(int, Comm_set_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val));
MINI_DECLARE(int, Comm_get_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag));
MINI_DECLARE(int, Comm_delete_attr, (MPI_Comm comm, int comm_keyval));
MINI_DECLARE(int, Comm_create_errhandler, (MPI_Comm_errhandler_function *comm_errhandler_fn,
             MPI_Errhandler *errhandler));
MINI_DECLARE(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler));
MINI_DECLARE(int, Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler));
MINI_DECLARE(int, Comm_call_errhandler, (MPI_Comm comm, int errorcode));
MINI_DECLARE(int, Errhandler_free, (MPI_Errhandler *errhandler));
MINI_DECLARE(int, Add_error_class, (int *errorclass));
MINI_DECLARE(int, Add_error_code, (int errorclass, int *errorcode));
MINI_DECLARE(int, Add_error_string, (int errorcode, const char *string));
MINI_DECLARE(int, Error_class, (int errorcode, int *errorclass));
MINI_DECLARE(int, Error_string, (int errorcode, char *string, int *resultlen));
MINI_DECLARE(int, Send, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm));
MINI_DECLARE(int, Recv, (void *buf, int count, MPI_Datatype datatype, int source, int tag,
             MPI_Comm comm, MPI_Status *status));
MINI_DECLARE(int, Isend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Irecv, (void *buf, int count, MPI_Datatype datatype, int source, int tag,
             MPI_Comm comm, MPI_Request *request));
MINI_DECLARE(int, Sendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
             int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source,
             int recvtag, MPI_Comm comm, MPI_Status *status));
MINI_DECLARE(int, Wait, (MPI_Request *request, MPI_Status *status));
MINI_DECLARE(int, Waitall, (int count, MPI_Request array_of_requests[],
             MPI_Status *array_of_statuses));
MINI_DECLARE(int, Cancel, (MPI_Request *request));
MINI_DECLARE(int, Request_free, (MPI_Request *request));
MINI_DECLARE(int, Barrier, (MPI_Comm comm));
MINI_DECLARE(int, Bcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm));
MINI_DECLARE(int, Allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
             MPI_Op op, MPI_Comm comm));
MINI_DECLARE(int, Gather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
MINI_DECLARE(int, Allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
MINI_DECLARE(int, Gatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
             int root, MPI_Comm comm));
MINI_DECLARE(int, Scatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
             void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
MINI_DECLARE(int, Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent));
MINI_DECLARE(int, Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype));
MINI_DECLARE(int, Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype,
             MPI_Datatype *newtype));
MINI_DECLARE(int, Type_create_struct, (int count, const int array_of_blocklengths[],
             const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
             MPI_Datatype *newtype));
MINI_DECLARE(int, Type_commit, (MPI_Datatype *datatype));
MINI_DECLARE(int, Type_free, (MPI_Datatype *datatype));

#if defined(__cplusplus)
}
#endif

#endif
