/* The host's functions for neighborhood collectives, as weak references: a missing one must not stop the
 * library from loading. */
#include "cartograph_host.h"

#include <string.h>

#pragma weak PMPI_Type_create_struct
#pragma weak PMPI_Type_commit
#pragma weak PMPI_Type_free
#pragma weak PMPI_Type_size
#pragma weak PMPI_Cancel
#pragma weak PMPI_Request_free
#pragma weak PMPI_Ialltoallw
#pragma weak PMPI_Recv_init

#pragma weak PMPI_Comm_get_errhandler
#pragma weak PMPI_Errhandler_free
#pragma weak PMPI_Error_string

int cg_makes_communicators_at_once(void)
{
#if defined(OMPI_MAJOR_VERSION)
    return 0;
#elif defined(MPI_ABI)
    /* The loaded MPI may be any host. */
    static _Atomic int known = -1;
    if (known < 0) {
        char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        known = !(cg_library_version(version) && strstr(version, "Open MPI"));
    }
    return known;
#else
    return 1;
#endif
}

/* Makes errors on a communicator return; false on failure. Another thread may get an error meanwhile. */
static int begin_quiet(MPI_Comm comm, MPI_Errhandler *handler)
{
    int is_quiet = PMPI_Comm_get_errhandler && PMPI_Errhandler_free && !cg_threads_may_meet()
        && PMPI_Comm_get_errhandler(comm, handler) == MPI_SUCCESS;
    if (is_quiet)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return is_quiet;
}

static void end_quiet(int is_quiet, MPI_Comm comm, MPI_Errhandler *handler)
{
    if (is_quiet) {
        PMPI_Comm_set_errhandler(comm, *handler);
        PMPI_Errhandler_free(handler);
    }
}

int cg_comm_split_quietly(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Errhandler handler;
    int rank, code = PMPI_Comm_rank(comm, &rank);
    if (code != MPI_SUCCESS)
        return code;
    int is_quiet = begin_quiet(comm, &handler);
    code = cg_comm_split(comm, 0, rank, made);
    end_quiet(is_quiet, comm, &handler);
    return code == MPI_SUCCESS ? PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN) : code;
}

int cg_all_lack_room(int code)
{
    /* MPICH terminates a text that is too long one byte past its buffer. */
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length;
    if (!PMPI_Error_string || PMPI_Error_string(code, text, &length) != MPI_SUCCESS)
        return 1;
    /* MPICH counts communicators together, and reports where an error comes from. */
    return !strstr(text, "error stack") || strstr(text, "Too many communicators");
}

int cg_comm_set_attr_quietly(MPI_Comm comm, int keyval, void *value)
{
    MPI_Errhandler handler;
    int is_quiet = begin_quiet(comm, &handler), code = PMPI_Comm_set_attr(comm, keyval, value);
    end_quiet(is_quiet, comm, &handler);
    return code;
}

/* Open MPI deletes the attributes of a communicator in the reverse of the order in which they were set, and sets those
 * of a duplicate in the order of a table: by the remainders of their keys, which are small numbers. The attribute with
 * remainder 0 is set first and deleted last. */
int cg_comm_create_lasting_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *deleted, int *keyval)
{
    /* Valid for communicators with fewer than 15 attributes. */
    enum { PLACES = 31 };
    int others[2 * PLACES], count = 0, code = PMPI_Comm_create_keyval(copy, deleted, keyval, NULL);
    if (!cg_makes_communicators_at_once())
        while (code == MPI_SUCCESS && *keyval % PLACES && count < 2 * PLACES) {
            others[count++] = *keyval;
            code = PMPI_Comm_create_keyval(copy, deleted, keyval, NULL);
        }
    while (count)
        PMPI_Comm_free_keyval(&others[--count]);
    return code;
}

int cg_judge(const void *address, int count, MPI_Datatype datatype, MPI_Comm comm, int returns_errors, int *is_told)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Errhandler handler;
    int is_quiet = !returns_errors && begin_quiet(comm, &handler);
    *is_told = !returns_errors && !is_quiet;
#if defined(SMPI_H)
    /* It packs data for MPI_PROC_NULL as well. */
    count = count > 0 ? 0 : count;
#endif
    int code = PMPI_Isend(address, count, datatype, MPI_PROC_NULL, 0, comm, &request);
    /* MPICH 5 returns no code after calling a function of the program. */
    if (code == MPI_SUCCESS && *is_told && cg_requests_keep_datatypes() && request == MPI_REQUEST_NULL)
        code = MPI_ERR_OTHER;
    if (code == MPI_SUCCESS)
        code = PMPI_Waitall(1, &request, &status);
    end_quiet(is_quiet, comm, &handler);
    return code;
}

int cg_type_create_struct(int count, const int lengths[], const MPI_Aint displs[],
                          const MPI_Datatype types[], MPI_Datatype *made)
{
    int code;
    if (!PMPI_Type_create_struct || !PMPI_Type_commit || !PMPI_Type_free)
        return CG_ABSENT;
    code = PMPI_Type_create_struct(count, lengths, displs, types, made);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Type_commit(made);
    if (code != MPI_SUCCESS)
        PMPI_Type_free(made);
    return code;
}

int cg_type_free(MPI_Datatype *datatype)
{
    return PMPI_Type_free(datatype);
}

int cg_type_size(MPI_Datatype datatype, long long *size)
{
    int bytes = 0, code = PMPI_Type_size ? PMPI_Type_size(datatype, &bytes) : CG_ABSENT;
    *size = bytes;
    return code;
}

#pragma weak PMPI_Type_get_envelope
#pragma weak PMPI_Type_create_keyval
#pragma weak PMPI_Type_free_keyval
#pragma weak PMPI_Type_contiguous
#pragma weak PMPI_Type_set_attr

int cg_type_is_derived(MPI_Datatype datatype)
{
    int integers, addresses, datatypes, combiner;
    return !PMPI_Type_get_envelope
        || PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner)
            != MPI_SUCCESS
        || combiner != MPI_COMBINER_NAMED;
}

int cg_type_create_keyval(int (*deleted)(MPI_Datatype, int, void *, void *), int *keyval)
{
    if (!PMPI_Type_create_keyval || !PMPI_Type_contiguous || !PMPI_Type_set_attr || !PMPI_Type_free)
        return CG_ABSENT;
    return PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, deleted, keyval, NULL);
}

void cg_type_free_keyval(int *keyval)
{
    if (PMPI_Type_free_keyval)
        PMPI_Type_free_keyval(keyval);
}

int cg_type_copy(MPI_Datatype *datatype)
{
    MPI_Datatype made;
    int code;
    if (!PMPI_Type_contiguous || !PMPI_Type_commit || !PMPI_Type_free)
        return CG_ABSENT;
    code = PMPI_Type_contiguous(1, *datatype, &made);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Type_commit(&made);
    if (code == MPI_SUCCESS)
        *datatype = made;
    else
        PMPI_Type_free(&made);
    return code;
}

int cg_type_set_attr(MPI_Datatype datatype, int keyval, void *value)
{
    return PMPI_Type_set_attr(datatype, keyval, value);
}

void cg_give_up_receive(MPI_Request *request)
{
    if (PMPI_Cancel && PMPI_Cancel(request) == MPI_SUCCESS)
        cg_wait(request);
}

void cg_give_up_send(MPI_Request *request)
{
    if (PMPI_Request_free)
        PMPI_Request_free(request);
}

int cg_requests_keep_datatypes(void)
{
#if defined(MPI_ABI)
    /* The loaded MPI may be any host. */
    static _Atomic int known = -1;
    if (known < 0) {
        char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        known = cg_library_version(version) && strstr(version, "MPICH");
    }
    return known;
#else
    return cg_family_built == CG_FAMILY_MPICH;
#endif
}

int cg_hold(MPI_Comm comm, MPI_Request *request)
{
    if (!PMPI_Recv_init || !PMPI_Request_free)
        return CG_ABSENT;
    /* The source is not MPI_PROC_NULL: Open MPI would not hold the communicator then. */
    return PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, comm, request);
}

void cg_release(MPI_Request *request)
{
    if (*request != MPI_REQUEST_NULL)
        PMPI_Request_free(request);
}

int cg_ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                  MPI_Request *request)
{
    if (!PMPI_Ialltoallw)
        return CG_ABSENT;
    return PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                           recvtypes, comm, request);
}

int cg_alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                      const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    /* Not every header declares it; those that do declare this. */
    extern int PMPI_Alltoallw_init(const void *, const int[], const int[], const MPI_Datatype[],
                                   void *, const int[], const int[], const MPI_Datatype[], MPI_Comm,
                                   MPI_Info, MPI_Request *) __attribute__((weak));
    if (PMPI_Alltoallw_init)
        return PMPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                   rdispls, recvtypes, comm, info, request);
#if defined(OMPI_MAJOR_VERSION)
    /* The name in Open MPI 4, from before MPI 4. */
    extern int PMPIX_Alltoallw_init(const void *, const int[], const int[], const MPI_Datatype[],
                                    void *, const int[], const int[], const MPI_Datatype[], MPI_Comm,
                                    MPI_Info, MPI_Request *) __attribute__((weak));
    if (PMPIX_Alltoallw_init)
        return PMPIX_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                    rdispls, recvtypes, comm, info, request);
#endif
    return CG_ABSENT;
}
