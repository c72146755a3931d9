/* The number of host communicators that topologies use: MPICH has room for 2,046 more at once. The argument is the
 * number of topologies, each with a collective in which each process is its own neighbor. With "session" after it,
 * a topology of a session is used after MPI_Finalize, which frees MPI_COMM_SELF. */
#include "neighbor_calls.h"

/* Each process is its own neighbor in the second dimension. */
static MPI_Comm torus(MPI_Comm comm)
{
    int size, ones[2] = { 1, 1 };
    MPI_Comm_size(comm, &size);
    int dims[2] = { size, 1 };
    MPI_Comm made = MPI_COMM_NULL;
    CHECK(MPI_Cart_create(comm, 2, dims, ones, 0, &made) == MPI_SUCCESS);
    return made;
}

static int exchange(MPI_Comm comm, int number)
{
    int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
    int sent[4], got[4] = { -1, -1, -1, -1 };
    for (int i = 0; i < 4; i++)
        sent[i] = 1000 * number + 10 * world_rank + i;
    return MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm) == MPI_SUCCESS
        && got[0] == 1000 * number + 10 * left + 1 && got[1] == 1000 * number + 10 * right
        && got[2] == sent[3] && got[3] == sent[2];
}

static void many(int count)
{
    MPI_Comm *comms = malloc(count * sizeof *comms);
    int made = 0;
    for (int i = 0; i < count; i++) {
        if ((comms[i] = torus(MPI_COMM_WORLD)) == MPI_COMM_NULL)
            break;
        made++;
        if (!CHECK(exchange(comms[i], i)))
            break;
    }
    CHECK(made == count);
    for (int i = 0; i < made; i++)
        CHECK(MPI_Comm_free(&comms[i]) == MPI_SUCCESS);
    free(comms);
}

enum { DIMS = 3 };

/* A grid in which only the first dimension has more than one process. */
static MPI_Comm line(MPI_Comm comm)
{
    int dims[DIMS], zeros[DIMS] = { 0 };
    for (int i = 0; i < DIMS; i++)
        dims[i] = 1;
    MPI_Comm_size(comm, &dims[0]);
    MPI_Comm made = MPI_COMM_NULL;
    CHECK(MPI_Cart_create(comm, DIMS, dims, zeros, 0, &made) == MPI_SUCCESS);
    return made;
}

static int exchange_along(MPI_Comm line, int number)
{
    int sent[2 * DIMS] = { 10 * number + world_rank, 10 * number + world_rank + 5 }, got[2 * DIMS] = { -1, -1 };
    return MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, line) == MPI_SUCCESS
        && got[0] == (world_rank ? 10 * number + world_rank + 4 : -1)
        && got[1] == (world_rank < world_size - 1 ? 10 * number + world_rank + 1 : -1);
}

/* Topologies of one communicator, each created before the last one is freed: more than can share a private
 * communicator. The parent is freed before the last two. */
static void one_after_the_other(int count)
{
    MPI_Comm base, last, next;
    int right = 1;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &base) == MPI_SUCCESS);
    last = line(base);
    for (int i = 1; i < count; i++) {
        next = line(base);
        right &= exchange_along(next, i) && exchange_along(last, i + 1);
        if (i == count - 1)
            MPI_Comm_free(&base);
        else
            MPI_Comm_free(&last), last = next;
    }
    CHECK(right && exchange_along(last, 1) && exchange_along(next, 2));
    MPI_Comm_free(&next);
    CHECK(exchange_along(last, 3));
    MPI_Comm_free(&last);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    many(argc > 1 ? atoi(argv[1]) : 1000);
    one_after_the_other(600);
#if MPI_VERSION >= 4
    if (argc > 2 && !strcmp(argv[2], "session")) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm base, comm;
        CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
        CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
        CHECK(MPI_Comm_create_from_group(group, "cartograph.test", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                         &base) == MPI_SUCCESS);
        comm = torus(base);
        CHECK(exchange(comm, 1));
        int wrong = finish();
        wrong += !exchange(comm, 2) + !exchange(comm, 3);
        MPI_Comm later = torus(base);
        wrong += !exchange(later, 4);
        MPI_Comm_free(&later), MPI_Comm_free(&comm), MPI_Comm_free(&base), MPI_Group_free(&group);
        MPI_Session_finalize(&session);
        return wrong;
    }
#endif
    return finish();
}
