/* Children of a world in another order, which are started with its profile as well: parents have the ranks of the order
 * to them, children the launcher's, and so it is in the communicator of both. The argument is the list of new ranks, or
 * "child". */
#include "order.h"

/* Starts a child for each process. Only the root says which program that is. */
static MPI_Comm spawn(char *program)
{
    static char preload[4096], profile[4096];
    char *arguments[] = {preload, profile, program, "child", NULL};
    int root = world_size - 1, is_root = world_rank == root;
    MPI_Comm between = MPI_COMM_NULL;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
    snprintf(profile, sizeof profile, "CARTOGRAPH_WORLD=%s", getenv("CARTOGRAPH_WORLD") ? getenv("CARTOGRAPH_WORLD") : "");
    MPI_Comm_spawn(is_root ? "/usr/bin/env" : "none", is_root ? arguments : MPI_ARGV_NULL, is_root ? world_size : 0,
                   MPI_INFO_NULL, root, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    return between;
}

int main(int argc, char **argv)
{
    int old_rank = told_rank(), is_child = argc > 1 && !strcmp(argv[1], "child"), size = 0, rank = -1, got = -1, failed = 0;
    int *new_ranks = read_order(argc > 1 && !is_child ? argv[1] : "0");
    MPI_Comm between, all;
    MPI_Status status;
    begin(&argc, &argv);
    MPI_Comm_get_parent(&between);
    CHECK(is_child == (between != MPI_COMM_NULL));
    CHECK(world_rank == (is_child ? old_rank : new_ranks[old_rank]));
    if (!is_child)
        between = spawn(argv[0]);
    MPI_Comm_remote_size(between, &size);
    CHECK(size == world_size);
    if (is_child) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, between, &status);
        CHECK(got == world_rank && status.MPI_SOURCE == world_rank);
    } else
        MPI_Send(&world_rank, 1, MPI_INT, world_rank, 3, between);
    MPI_Intercomm_merge(between, is_child, &all);
    MPI_Comm_rank(all, &rank);
    CHECK(rank == world_rank + (is_child ? world_size : 0));
    MPI_Allreduce(&checks_failed, &failed, 1, MPI_INT, MPI_SUM, all);
    checks_failed = failed;
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    free(new_ranks);
    return finish();
}
