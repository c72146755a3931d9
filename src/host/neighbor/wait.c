/* Waiting for the library's requests. MPICH 4.0 reports errors of a wait to MPI_COMM_WORLD, whatever the request's
 * communicator, and so does Open MPI for collectives; others report them to MPI_COMM_SELF. But the error belongs to the
 * handler of the program's communicator. So the handlers there are temporarily replaced by one that remembers the
 * error. Other threads could trigger it: if there may be any, messages are received with blocking calls instead, which
 * report to their communicator. */
#include "cartograph_host.h"

#pragma weak PMPI_Wait
#pragma weak PMPI_Recv
#pragma weak PMPI_Comm_create_errhandler
#pragma weak PMPI_Comm_get_errhandler
#pragma weak PMPI_Errhandler_free

enum { WORLD = 1, SELF = 2, BOTH = WORLD | SELF, TAG = 32765 };

/* Where waits report errors; BOTH until that is known. */
static int told_on = BOTH;
static int is_known;

/* Where an error was reported. */
static int was_told;

static int is_replaced, is_made;
static MPI_Errhandler relay, before[2];

static MPI_Comm place(int which)
{
    return which ? cg_comm_self() : cg_comm_world();
}

static void relayed(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    was_told |= 1 << (*comm == cg_comm_self());
}

int cg_receives_are_calls(void)
{
    return cg_requests_keep_datatypes() && cg_threads_may_meet();
}

/* On SMPI, all ranks share one process, and each waits on its own stack. */
static int can_replace(void)
{
    return cg_family_built != CG_FAMILY_SMPI && PMPI_Comm_create_errhandler && PMPI_Comm_get_errhandler
        && PMPI_Errhandler_free && cg_is_active() && !cg_threads_may_meet();
}

static void put_relay(int where)
{
    if (!is_made)
        is_made = PMPI_Comm_create_errhandler(relayed, &relay) == MPI_SUCCESS;
    for (int which = 0; which < 2; which++) {
        before[which] = MPI_ERRHANDLER_NULL;
        if (is_made && where >> which & 1
            && PMPI_Comm_get_errhandler(place(which), &before[which]) == MPI_SUCCESS)
            PMPI_Comm_set_errhandler(place(which), relay);
    }
}

static void take_relay(void)
{
    for (int which = 0; which < 2; which++)
        if (before[which] != MPI_ERRHANDLER_NULL) {
            PMPI_Comm_set_errhandler(place(which), before[which]);
            PMPI_Errhandler_free(&before[which]);
        }
}

/* Finds which communicator gets the error for a message of the process to itself that is too long. */
static int told_of_a_long_message(MPI_Comm ours)
{
    MPI_Request requests[2];
    int rank;
    char sent[2] = { 0 }, got;
    was_told = 0;
    /* The buffer is not empty: Intel MPI reports no error for that. */
    if (PMPI_Comm_rank(ours, &rank) != MPI_SUCCESS
        || PMPI_Irecv(&got, 1, MPI_BYTE, rank, TAG, ours, &requests[0]) != MPI_SUCCESS)
        return BOTH;
    if (PMPI_Isend(sent, 2, MPI_BYTE, rank, TAG, ours, &requests[1]) == MPI_SUCCESS)
        PMPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    return was_told;
}

void cg_begin_waits(MPI_Comm ours)
{
    /* Open MPI reports to the communicator of a message. */
    int where = ours == MPI_COMM_NULL ? BOTH : cg_requests_keep_datatypes() ? told_on : 0;
    was_told = 0;
    if (!where || !can_replace())
        return;
    put_relay(where);
    is_replaced = 1;
    if (!is_known && ours != MPI_COMM_NULL) {
        told_on = told_of_a_long_message(ours);
        is_known = 1;
    }
    was_told = 0;
}

int cg_end_waits(void)
{
    if (is_replaced) {
        is_replaced = 0;
        take_relay();
    }
    return was_told;
}

int cg_recv(void *buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int *was_received)
{
    /* The host sets the status of a received message, even if it was too long. */
    MPI_Status status = { .MPI_TAG = -1 };
    int code = PMPI_Recv ? PMPI_Recv(buffer, count, datatype, source, tag, comm, &status) : CG_ABSENT;
    *was_received = status.MPI_TAG == tag;
    return code;
}

int cg_wait(MPI_Request *request)
{
    MPI_Status status;
    int code;
    if (PMPI_Wait)
        return PMPI_Wait(request, MPI_STATUS_IGNORE);
    code = PMPI_Waitall(1, request, &status);
    return code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code;
}

int cg_wait_all(int count, MPI_Request requests[])
{
    enum { FEW = 64 };
    MPI_Status statuses[FEW];
    int found = MPI_SUCCESS;
    /* Waiting for all at once is faster on Open MPI, but with an error in one of several threads it may never return
     * there; MPICH 5 calls the handler of MPI_COMM_SELF for it, but not for single waits. */
    if (cg_family_built == CG_FAMILY_OPEN_MPI && count <= FEW && !cg_threads_may_meet()) {
        for (int i = 0; i < count; i++)
            statuses[i].MPI_ERROR = MPI_SUCCESS;
        int code = PMPI_Waitall(count, requests, statuses);
        if (code == MPI_SUCCESS)
            return code;
        if (code != MPI_ERR_IN_STATUS)
            found = code;
        for (int i = 0; i < count && found == MPI_SUCCESS; i++)
            if (statuses[i].MPI_ERROR != MPI_ERR_PENDING)
                found = statuses[i].MPI_ERROR;
    }
    for (int i = 0; i < count; i++) {
        int code = cg_wait(&requests[i]);
        if (found == MPI_SUCCESS)
            found = code;
    }
    return found;
}

void cg_free_relay(void)
{
    if (is_made)
        PMPI_Errhandler_free(&relay);
    is_made = 0;
}
