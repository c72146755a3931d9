/* The part of the host layer that must be C: constants that are macros, optional functions as weak references (a
 * missing one must not stop the library from loading), and two host quirks. */
#include "built_for.h"
#include "cartograph_host.h"
#include "standard_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const MPI_Comm cg_comm_null = MPI_COMM_NULL;
const MPI_Datatype cg_byte = MPI_BYTE;
const MPI_Datatype cg_int = MPI_INT;
const MPI_Datatype cg_int64 = MPI_LONG_LONG_INT;
const MPI_Errhandler cg_errors_return = MPI_ERRORS_RETURN;
const MPI_Info cg_info_null = MPI_INFO_NULL;
const MPI_Request cg_request_null = MPI_REQUEST_NULL;
const MPI_Op cg_min = MPI_MIN;
const MPI_Op cg_sum = MPI_SUM;

#if defined(SMPI_H)
/* The compatibility header turns these into constants, for mpi-sys; here they have their original meaning. */
#undef MPI_COMM_WORLD
#undef MPI_COMM_SELF
#define MPI_COMM_SELF smpi_process_comm_self()
#endif

MPI_Comm cg_comm_self(void)
{
    return MPI_COMM_SELF;
}

MPI_Comm cg_comm_world(void)
{
    return MPI_COMM_WORLD;
}

void *cg_status_ignore(void)
{
    return MPI_STATUS_IGNORE;
}

void *cg_statuses_ignore(void)
{
    return MPI_STATUSES_IGNORE;
}

/* ---- Which host ---- */

#if defined(MPI_ABI)
const enum cg_family cg_family_built = CG_FAMILY_ABI;
#elif defined(OPEN_MPI)
const enum cg_family cg_family_built = CG_FAMILY_OPEN_MPI;
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
const enum cg_family cg_family_built = CG_FAMILY_MPICH;
#elif defined(SMPI_H)
const enum cg_family cg_family_built = CG_FAMILY_SMPI;
#else
const enum cg_family cg_family_built = CG_FAMILY_UNKNOWN;
#endif

#pragma weak PMPI_Get_library_version

int cg_library_version(char version[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int length;
    return PMPI_Get_library_version && PMPI_Get_library_version(version, &length) == MPI_SUCCESS;
}

int cg_has_standard_abi(void)
{
    return has_standard_abi();
}

/* ---- Fortran ---- */

/* A host without these conversions has no Fortran programs either: null stands for their results. MPICH has them as
 * macros, which always exist. */
#if defined(MPI_ABI)
#pragma weak PMPI_Comm_fromint
#pragma weak PMPI_Comm_toint
#pragma weak PMPI_Info_fromint
#define COMM_FROM_FORTRAN(comm) (PMPI_Comm_fromint ? PMPI_Comm_fromint(comm) : MPI_COMM_NULL)
#define COMM_TO_FORTRAN(comm) (PMPI_Comm_toint ? PMPI_Comm_toint(comm) : 0)
#define INFO_FROM_FORTRAN(info) (PMPI_Info_fromint ? PMPI_Info_fromint(info) : MPI_INFO_NULL)
#pragma weak PMPI_Type_fromint
#pragma weak PMPI_Request_toint
#define TYPE_FROM_FORTRAN(type) (PMPI_Type_fromint ? PMPI_Type_fromint(type) : MPI_DATATYPE_NULL)
#define REQUEST_TO_FORTRAN(request) (PMPI_Request_toint ? PMPI_Request_toint(request) : 0)
#elif defined(PMPI_Comm_f2c)
#define COMM_FROM_FORTRAN(comm) PMPI_Comm_f2c(comm)
#define COMM_TO_FORTRAN(comm) PMPI_Comm_c2f(comm)
#define INFO_FROM_FORTRAN(info) PMPI_Info_f2c(info)
#define TYPE_FROM_FORTRAN(type) PMPI_Type_f2c(type)
#define REQUEST_TO_FORTRAN(request) PMPI_Request_c2f(request)
#else
#pragma weak PMPI_Comm_f2c
#pragma weak PMPI_Comm_c2f
#pragma weak PMPI_Info_f2c
#define COMM_FROM_FORTRAN(comm) (PMPI_Comm_f2c ? PMPI_Comm_f2c(comm) : MPI_COMM_NULL)
#define COMM_TO_FORTRAN(comm) (PMPI_Comm_c2f ? PMPI_Comm_c2f(comm) : 0)
#define INFO_FROM_FORTRAN(info) (PMPI_Info_f2c ? PMPI_Info_f2c(info) : MPI_INFO_NULL)
#pragma weak PMPI_Type_f2c
#pragma weak PMPI_Request_c2f
#define TYPE_FROM_FORTRAN(type) (PMPI_Type_f2c ? PMPI_Type_f2c(type) : MPI_DATATYPE_NULL)
#define REQUEST_TO_FORTRAN(request) (PMPI_Request_c2f ? PMPI_Request_c2f(request) : 0)
#endif

MPI_Comm cg_comm_from_fortran(int comm)
{
    return COMM_FROM_FORTRAN(comm);
}

int cg_comm_to_fortran(MPI_Comm comm)
{
    return COMM_TO_FORTRAN(comm);
}

MPI_Info cg_info_from_fortran(int info)
{
    return INFO_FROM_FORTRAN(info);
}

MPI_Datatype cg_type_from_fortran(int datatype)
{
    return TYPE_FROM_FORTRAN(datatype);
}

int cg_request_to_fortran(MPI_Request request)
{
    return REQUEST_TO_FORTRAN(request);
}

int cg_fortran_true(void)
{
#if defined(MPI_ABI)
    int is_set = 0, fortran_true = 1, fortran_false = 0;
    extern int PMPI_Abi_get_fortran_booleans(int, void *, void *, int *) __attribute__((weak));
    if (PMPI_Abi_get_fortran_booleans
        && PMPI_Abi_get_fortran_booleans(sizeof(int), &fortran_true, &fortran_false, &is_set)
            == MPI_SUCCESS
        && is_set)
        return fortran_true;
#endif
    return 1;
}

/* ---- Error handlers ---- */

#if defined(SMPI_H)

/* SMPI has no function behind its predefined handlers: calling one would jump to null. */
void cg_call_errhandler(MPI_Comm comm, int code)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS || handler == MPI_ERRHANDLER_NULL
        || handler == MPI_ERRORS_RETURN)
        return;
    PMPI_Comm_call_errhandler(comm, code);
    PMPI_Errhandler_free(&handler);
}

int cg_errors_end_program(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    return PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS && handler == MPI_ERRORS_ARE_FATAL;
}

/* SMPI gives a new communicator its own initial handler. */
int cg_comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int code = PMPI_Comm_split(comm, color, key, made);
    if (code != MPI_SUCCESS || *made == MPI_COMM_NULL)
        return code;
    code = PMPI_Comm_get_errhandler(comm, &handler);
    /* There is no such handler if another rank has set one on MPI_COMM_WORLD and this rank has not. */
    if (code != MPI_SUCCESS || handler == MPI_ERRHANDLER_NULL)
        return code;
    code = PMPI_Comm_set_errhandler(*made, handler);
    PMPI_Errhandler_free(&handler);
    return code;
}

#else

#pragma weak PMPI_Comm_get_errhandler
#pragma weak PMPI_Errhandler_free

/* True if errors on a communicator only return. */
static int errors_return(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int is;
    if (!PMPI_Comm_get_errhandler || !PMPI_Errhandler_free
        || PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return 0;
    is = handler == MPI_ERRORS_RETURN;
    if (handler != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&handler);
    return is;
}

/* If errors return, there is nothing to call, and calling the handler would end the job in Intel MPI's library for the
 * standard ABI. */
void cg_call_errhandler(MPI_Comm comm, int code)
{
    if (!errors_return(comm))
        PMPI_Comm_call_errhandler(comm, code);
}

int cg_errors_end_program(MPI_Comm comm)
{
    (void)comm;
    return 0;
}

int cg_comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    return PMPI_Comm_split(comm, color, key, made);
}

#endif

/* ---- Optional functions ---- */

#pragma weak PMPI_Initialized
#pragma weak PMPI_Finalized
#pragma weak PMPI_Comm_test_inter
#pragma weak PMPI_Add_error_code
#pragma weak PMPI_Add_error_string
#pragma weak PMPI_Error_class
#pragma weak PMPI_Error_string

#pragma weak PMPI_Query_thread

int cg_threads_may_meet(void)
{
    int provided;
    return !PMPI_Query_thread || PMPI_Query_thread(&provided) != MPI_SUCCESS
        || provided == MPI_THREAD_MULTIPLE;
}

int cg_world_is_initialized(void)
{
    int initialized = 1;
    if (PMPI_Initialized)
        PMPI_Initialized(&initialized);
    return initialized;
}

int cg_is_active(void)
{
    int finalized = 0;
    if (PMPI_Finalized)
        PMPI_Finalized(&finalized);
    return cg_world_is_initialized() && !finalized;
}

#if defined(MPI_SESSION_NULL)
/* A header may have the types without the functions. */
int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup);
int PMPI_Session_finalize(MPI_Session *session);
#pragma weak PMPI_Group_from_session_pset
#pragma weak PMPI_Session_finalize

int cg_group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
    return PMPI_Group_from_session_pset ? PMPI_Group_from_session_pset(session, pset_name, newgroup)
                                        : CG_ERR_UNSUPPORTED_OPERATION;
}

int cg_session_finalize(MPI_Session *session)
{
    return PMPI_Session_finalize ? PMPI_Session_finalize(session) : CG_ERR_UNSUPPORTED_OPERATION;
}
#endif

int cg_is_inter(MPI_Comm comm)
{
    int inter = 0;
    return PMPI_Comm_test_inter && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

int cg_new_code(int error_class)
{
#if !defined(SMPI_H) /* which reports success, and does nothing */
    int code;
    if (PMPI_Add_error_code && PMPI_Add_error_string
        && PMPI_Add_error_code(error_class, &code) == MPI_SUCCESS
        && PMPI_Add_error_string(code, "") == MPI_SUCCESS)
        return code;
#endif
    return error_class;
}

/* True if the host has this class and this text for the code. */
static int says(int code, int error_class, const char *text)
{
    char found[MPI_MAX_ERROR_STRING + 1] = "";
    int length, found_class;
    return PMPI_Error_class && PMPI_Error_string
        && PMPI_Error_class(code, &found_class) == MPI_SUCCESS && found_class == error_class
        && PMPI_Error_string(code, found, &length) == MPI_SUCCESS && strstr(found, text);
}

int cg_code_with_text(int code, int error_class, const char *function, const char *text)
{
    char whole[MPI_MAX_ERROR_STRING];
    size_t used = strlen(function);

    if (code == error_class)
        return code;
    /* "function: text", cut to the host's maximal length. */
    if (used > sizeof whole - 3)
        used = sizeof whole - 3;
    memcpy(whole, function, used);
    memcpy(whole + used, ": ", 3);
    strncat(whole, text, sizeof whole - 1 - strlen(whole));
    if (PMPI_Add_error_string(code, whole) == MPI_SUCCESS && says(code, error_class, whole))
        return code;
#if !defined(OPEN_MPI) && !defined(MPI_ABI)
    {
        /* MPICH 4.0 loses the text of a code that was added to one of its own classes. Its internal function for
         * creating codes, the same in all of MPICH 3 and 4, takes class and text. */
        extern int MPIR_Err_create_code(int, int, const char[], int, int, const char[],
                                        const char[], ...) __attribute__((weak));
        if (MPIR_Err_create_code) {
            int made = MPIR_Err_create_code(MPI_SUCCESS, 0, function, 0, error_class, "**fail", "%s",
                                            whole + used + 2);
            if (says(made, error_class, whole + used + 2))
                return made;
        }
    }
#endif
    return error_class;
}
