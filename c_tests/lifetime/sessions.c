/* Sessions: topologies on communicators from a session instead of MPI_COMM_WORLD, in a process that never calls
 * MPI_Init. One session stays open, three others open and close. With "again" no session stays open, so that the
 * host ends with each session and starts again: MPICH 4.0 and Open MPI 5.0 crash at the second start. With "world"
 * topologies on MPI_COMM_WORLD exist before, and topologies of some communicators continue to exist. Nothing is
 * checked on hosts without sessions. */
#include "../check.h"

/* Open MPI 5 has sessions, but reports MPI 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

static int wrong_copy, wrong_delete;

/* The attribute of the program must not change. */
static int copy(MPI_Comm comm, int keyval, void *state, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval;
    if (state != &wrong_copy || value != &checks_passed)
        wrong_copy++;
    *(void **)copied = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval;
    if (state != &wrong_copy || value != &checks_passed)
        wrong_delete++;
    return MPI_SUCCESS;
}

static void topologies(MPI_Comm comm, int round)
{
    int size, dims[2], periods[2] = { 1, 0 }, coords[2], kind = -1, found = -1, source, dest, from, to;
    int got_dims[2], got_periods[2], weight = 9, in, out, weights[2];
    MPI_Comm cart, dup, ring;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &world_rank);
    CHECK(MPI_Topo_test(comm, &kind) == MPI_SUCCESS && kind == MPI_UNDEFINED);
    dims[0] = size, dims[1] = 1;
    CHECK(MPI_Cart_create(comm, 2, dims, periods, 0, &cart) == MPI_SUCCESS);
    CHECK(MPI_Topo_test(cart, &kind) == MPI_SUCCESS && kind == MPI_CART);
    CHECK(MPI_Comm_dup(cart, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&cart) == MPI_SUCCESS);
    CHECK(MPI_Cart_get(dup, 2, got_dims, got_periods, coords) == MPI_SUCCESS);
    CHECK(got_dims[0] == size && got_periods[0] == 1 && coords[0] == world_rank && coords[1] == 0);
    coords[0] += 2 * size;
    CHECK(MPI_Cart_rank(dup, coords, &found) == MPI_SUCCESS && found == world_rank);
    CHECK(MPI_Cart_shift(dup, 0, 1, &source, &dest) == MPI_SUCCESS && dest == (world_rank + 1) % size);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);

    from = (world_rank + size - 1) % size, to = (world_rank + 1) % size;
    CHECK(MPI_Dist_graph_create_adjacent(comm, 1, &from, &weight, 1, &to, &weight, MPI_INFO_NULL, 0,
                                         &ring)
          == MPI_SUCCESS);
    CHECK(MPI_Dist_graph_neighbors(ring, 1, &in, &weights[0], 1, &out, &weights[1]) == MPI_SUCCESS);
    CHECK(in == from && out == to && weights[0] == 9 && weights[1] == 9);
    CHECK(MPI_Comm_free(&ring) == MPI_SUCCESS);

    /* Each process is its own neighbor in the second dimension. */
    int sent[4] = { world_rank, world_rank, 10, 11 }, arrived[4] = { -1, -1, -1, -1 };
    MPI_Request request;
    periods[1] = 1;
    CHECK(MPI_Cart_create(comm, 2, dims, periods, 0, &cart) == MPI_SUCCESS);
    for (int blocking = 0; blocking < 2; blocking++) {
        memset(arrived, -1, sizeof arrived);
        if (blocking)
            CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, arrived, 1, MPI_INT, cart) == MPI_SUCCESS);
        else {
            CHECK(MPI_Ineighbor_alltoall(sent, 1, MPI_INT, arrived, 1, MPI_INT, cart, &request)
                  == MPI_SUCCESS);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        }
        CHECK(arrived[0] == from && arrived[1] == to && arrived[2] == 11 && arrived[3] == 10);
    }
    CHECK(MPI_Comm_free(&cart) == MPI_SUCCESS);
    printf("rank %d session %d: topologies are made, queried and freed\n", world_rank, round);
}

/* An error calls the handler of the communicator, which works without MPI_Init. */
static void error(MPI_Comm comm, int round)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int dims[1] = { 1 << 20 }, periods[1] = { 0 }, class = -1, length;
    MPI_Comm cart = MPI_COMM_NULL;
    int code = MPI_Cart_create(comm, 1, dims, periods, 0, &cart);
    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS && class == MPI_ERR_ARG);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && strstr(text, "1048576"));
    CHECK(cart == MPI_COMM_NULL);
    printf("rank %d session %d: an error is returned\n", world_rank, round);
}

static void session(int round)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, dup;
    int keyval, found;
    void *value;

    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "cartograph.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm)
          == MPI_SUCCESS);
    MPI_Group_free(&group);

    /* In the second session this key may get the number of Cartograph's key in the first. */
    CHECK(MPI_Comm_create_keyval(copy, delete, &keyval, &wrong_copy) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, keyval, &checks_passed) == MPI_SUCCESS);
    topologies(comm, round);
    error(comm, round);
    CHECK(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_attr(dup, keyval, &value, &found) == MPI_SUCCESS && found);
    CHECK(value == &checks_passed);
    CHECK(MPI_Topo_test(dup, &found) == MPI_SUCCESS && found == MPI_UNDEFINED);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_free_keyval(&keyval) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    CHECK(wrong_copy == 0 && wrong_delete == 0);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

/* The world is initialized and finalized; communicators of a session stay. */
static void world(int *argc, char ***argv, MPI_Session outer)
{
    int dims[1], periods[1] = { 1 }, size, kind = -1, sent[2], got[2], source, dest, reorder;
    MPI_Comm comm = MPI_COMM_NULL, cart = MPI_COMM_NULL, more;
    MPI_Group group;

    MPI_Init(argc, argv);
    topologies(MPI_COMM_WORLD, 0);
    CHECK(MPI_Topo_test(MPI_COMM_WORLD, &kind) == MPI_SUCCESS && kind == MPI_UNDEFINED);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    error(MPI_COMM_WORLD, 0);
    if (outer != MPI_SESSION_NULL) {
        CHECK(MPI_Group_from_session_pset(outer, "mpi://WORLD", &group) == MPI_SUCCESS);
        CHECK(MPI_Comm_create_from_group(group, "cartograph.outer", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm)
              == MPI_SUCCESS);
        MPI_Group_free(&group);
        MPI_Comm_size(comm, &size);
        dims[0] = size;
        /* The layout is cached on the communicator. */
        CHECK(MPI_Cart_create(comm, 1, dims, periods, 1, &cart) == MPI_SUCCESS);
    }
    MPI_Finalize();
    if (outer == MPI_SESSION_NULL)
        return;

    /* MPI_COMM_WORLD and MPI_COMM_SELF are invalid from here on. */
    for (reorder = 0; reorder < 2; reorder++) {
        CHECK(MPI_Cart_create(comm, 1, dims, periods, reorder, &more) == MPI_SUCCESS);
        CHECK(MPI_Topo_test(more, &kind) == MPI_SUCCESS && kind == MPI_CART);
        CHECK(MPI_Cart_map(comm, 1, dims, periods, &kind) == MPI_SUCCESS && kind >= 0 && kind < size);
        CHECK(MPI_Comm_free(&more) == MPI_SUCCESS);
    }
    CHECK(MPI_Cart_shift(cart, 0, 1, &source, &dest) == MPI_SUCCESS);
    MPI_Comm_rank(cart, &sent[0]);
    sent[1] = sent[0];
    CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, cart) == MPI_SUCCESS);
    CHECK(got[0] == source && got[1] == dest);
    error(comm, 0);
    topologies(comm, 0);
    CHECK(MPI_Comm_free(&cart) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int again = 0, with_world = 0;
    MPI_Session outer = MPI_SESSION_NULL;
    for (int i = 1; i < argc; i++) {
        again |= !strcmp(argv[i], "again");
        with_world |= !strcmp(argv[i], "world");
    }
    if (!again)
        CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &outer) == MPI_SUCCESS);
    if (with_world)
        world(&argc, &argv, outer);
    for (int round = 1; round <= 3; round++)
        session(round);
    if (!again)
        CHECK(MPI_Session_finalize(&outer) == MPI_SUCCESS);
    printf("%d passed, %d failed\n", checks_passed, checks_failed);
    return checks_failed != 0;
}

#else

int main(int argc, char **argv)
{
    int kind = -1;
    MPI_Init(&argc, &argv);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    printf("ignored: the host has no sessions\n");
    MPI_Finalize();
    return kind != MPI_UNDEFINED;
}

#endif
