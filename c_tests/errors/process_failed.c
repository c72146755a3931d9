/* A process dies before the others call a constructor, under an MPI with ULFM (Open MPI 5 with `--with-ft ulfm`).
 * The survivors get MPIX_ERR_PROC_FAILED from each constructor instead of waiting, shrink their communicator, and
 * create topologies on it that work. The argument is the constructor. */
#include "../check.h"

#include <mpi-ext.h>
#include <signal.h>

enum { WAYS = 4 };

static int make(int way, MPI_Comm comm, MPI_Comm *made)
{
    int rank, size, periods[1] = { 1 }, degree = 1;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size, index[16], edges[16];
    for (int i = 0; i < size; i++)
        index[i] = i + 1, edges[i] = (i + 1) % size;
    switch (way) {
    case 0:
        return MPI_Cart_create(comm, 1, &size, periods, 1, made);
    case 1:
        return MPI_Graph_create(comm, size, index, edges, 1, made);
    case 2:
        return MPI_Dist_graph_create_adjacent(comm, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, made);
    default:
        return MPI_Dist_graph_create(comm, 1, &rank, &degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, made);
    }
}

int main(int argc, char **argv)
{
    int got[2] = { -1, -1 }, rank, size, way;
    MPI_Comm base, left, made = MPI_COMM_NULL;
    begin(&argc, &argv);
    way = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Barrier(base);
    if (world_rank == world_size - 1)
        raise(SIGKILL);
    int code = make(way, base, &made);
    int class = class_of(code);
    /* The first process with an error revokes the communicator, so that no other process waits for it. */
    MPIX_Comm_revoke(base);
    CHECK(code != MPI_SUCCESS && (class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED));
    if (code != MPI_SUCCESS && class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED)
        fprintf(stderr, "rank %d: constructor %d returned the class %d\n", world_rank, way, class);
    CHECK(MPIX_Comm_shrink(base, &left) == MPI_SUCCESS);
    MPI_Comm_rank(left, &rank), MPI_Comm_size(left, &size);
    CHECK(size == world_size - 1);
    for (int again = 0; again < WAYS; again++) {
        CHECK(make(again, left, &made) == MPI_SUCCESS);
        if (again == 0) {
            CHECK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, made) == MPI_SUCCESS);
            CHECK(got[0] == (rank + size - 1) % size && got[1] == (rank + 1) % size);
        }
        MPI_Comm_free(&made);
    }
    /* MPI_Finalize would wait for the dead process. */
    int failed_anywhere;
    MPI_Allreduce(&checks_failed, &failed_anywhere, 1, MPI_INT, MPI_MAX, left);
    if (rank == 0)
        printf("%d passed, %d failed\n", checks_passed, failed_anywhere);
    fflush(stdout);
    MPI_Barrier(left);
    _Exit(failed_anywhere != 0);
}
