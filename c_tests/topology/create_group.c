/* MPI_Comm_create_group on a communicator with a topology. By the standard the new communicator has no topology,
 * but Open MPI copies attributes, as in MPI_Comm_dup. If the group has other processes, or another order, no rank
 * may find a topology, and neighborhood collectives must fail instead of waiting. If the group has the same
 * processes in the same order, the new communicator looks like a duplicate: either all ranks find the topology, or
 * none does. */
#include "../check.h"

enum { RANKS = 64 };
static const char *const kinds[] = { "cart", "graph", "dist_graph" };

/* A ring of all processes. A graph has both directions, since its neighbors are sources and destinations. */
static MPI_Comm ring(int kind)
{
    int n = world_size, dims[1] = { n }, periods[1] = { 1 }, index[RANKS], edges[2 * RANKS];
    int next[1] = { (world_rank + 1) % n }, previous[1] = { (world_rank + n - 1) % n };
    MPI_Comm made = MPI_COMM_NULL;
    for (int i = 0; i < n; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + n - 1) % n;
        edges[2 * i + 1] = (i + 1) % n;
    }
    if (kind == 0)
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made) == MPI_SUCCESS);
    else if (kind == 1)
        CHECK(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &made) == MPI_SUCCESS);
    else
        CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, previous, previous, 1, next,
                                             next, MPI_INFO_NULL, 0, &made)
              == MPI_SUCCESS);
    return made;
}

/* Either all processes of a communicator and of its duplicate find a topology, or none does. */
static void check(const char *what, MPI_Comm comm, int may_have)
{
    MPI_Comm both[2] = { comm, MPI_COMM_NULL };
    CHECK(MPI_Comm_dup(comm, &both[1]) == MPI_SUCCESS);
    for (int i = 0; i < 2; i++) {
        int kind = -1, has, all[2], send[4] = { 0 }, receive[4], code;
        /* MPICH's MPI_Comm_create_group does not pass the error handler on. */
        MPI_Comm_set_errhandler(both[i], MPI_ERRORS_RETURN);
        CHECK(MPI_Topo_test(both[i], &kind) == MPI_SUCCESS);
        has = kind != MPI_UNDEFINED;
        all[0] = has, all[1] = -has;
        MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MIN, both[i]);
        if (!CHECK(all[0] == -all[1] && (may_have || !has)))
            fprintf(stderr, "%s, %s: %d to %d\n", what, i ? "duplicate" : "itself", all[0], -all[1]);
        code = MPI_Neighbor_alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, both[i]);
        CHECK(has ? code == MPI_SUCCESS : class_of(code) == MPI_ERR_TOPOLOGY);
    }
    MPI_Comm_free(&both[1]);
}

/* A communicator of some processes of `from`, if this process is one of them. */
static void create(const char *what, MPI_Comm from, MPI_Group group, int may_have)
{
    MPI_Comm made = MPI_COMM_NULL;
    int rank;
    MPI_Group_rank(group, &rank);
    if (rank == MPI_UNDEFINED)
        return;
    CHECK(MPI_Comm_create_group(from, group, 7, &made) == MPI_SUCCESS);
    check(what, made, may_have);
    MPI_Comm_free(&made);
}

static void cases(int kind)
{
    MPI_Comm from = ring(kind), copy;
    MPI_Group all, group;
    int n = world_size, ranks[RANKS];
    char what[64];
    MPI_Comm_group(from, &all);
    /* Before and after a query of the original communicator. */
    CHECK(MPI_Comm_dup(from, &copy) == MPI_SUCCESS);
    for (int i = 0; i < 2; i++) {
        MPI_Comm used = i ? from : copy;
        for (int turn = 0; turn < n; turn++) {
            for (int r = 0; r < n; r++)
                ranks[r] = (r + turn) % n;
            MPI_Group_incl(all, n, ranks, &group);
            snprintf(what, sizeof what, "%s, turned by %d", kinds[kind], turn);
            create(what, used, group, turn == 0);
            /* Rank 0 passes another handle of the same group. */
            if (turn == 0)
                create(what, used, world_rank ? group : all, 1);
            MPI_Group_free(&group);
        }
        for (int r = 0; r < n; r++)
            ranks[r] = n - 1 - r;
        MPI_Group_incl(all, n, ranks, &group);
        snprintf(what, sizeof what, "%s, reversed", kinds[kind]);
        create(what, used, group, n == 1);
        MPI_Group_free(&group);
        if (n > 1) {
            for (int r = 0; r < n; r++)
                ranks[r] = r;
            MPI_Group_incl(all, n - 1, ranks, &group);
            snprintf(what, sizeof what, "%s, all but the last", kinds[kind]);
            create(what, used, group, 0);
            MPI_Group_free(&group);
        }
        if (n > 3) {
            /* The first and the last process exchanged; all others keep their ranks. */
            ranks[0] = n - 1, ranks[n - 1] = 0;
            MPI_Group_incl(all, n, ranks, &group);
            snprintf(what, sizeof what, "%s, two exchanged", kinds[kind]);
            create(what, used, group, 0);
            MPI_Group_free(&group);
        }
    }
    /* The duplicate has the topology of the original after any number of copies. */
    MPI_Comm again;
    int found = -1, wanted = -2;
    CHECK(MPI_Comm_dup(copy, &again) == MPI_SUCCESS);
    MPI_Comm_free(&copy);
    MPI_Topo_test(from, &wanted);
    MPI_Topo_test(again, &found);
    CHECK(wanted != MPI_UNDEFINED && found == wanted);
    MPI_Comm_free(&again);
    MPI_Group_free(&all);
    MPI_Comm_free(&from);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int kind = 0; kind < 3; kind++)
        cases(kind);
    return finish();
}
