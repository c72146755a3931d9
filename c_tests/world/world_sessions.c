/* A program that knows sessions and never calls MPI_Init keeps the launcher's ranks. Hosts without sessions have nothing
 * to check. */
#include "order.h"

int main(void)
{
/* Open MPI 5 has sessions and calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    int old_rank = told_rank(), in_group = -1, before = -1, next;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    MPI_Group_rank(group, &in_group);
    CHECK(MPI_Comm_create_from_group(group, "world", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Comm_rank(comm, &world_rank);
    MPI_Comm_size(comm, &world_size);
    CHECK(in_group == old_rank && world_rank == old_rank && told_rank() == old_rank);
    next = (old_rank + 1) % world_size;
    MPI_Sendrecv(&old_rank, 1, MPI_INT, next, 1, &before, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
    CHECK((before + 1) % world_size == old_rank);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
#endif
    return checks_failed != 0;
}
