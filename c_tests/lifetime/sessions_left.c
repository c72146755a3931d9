/* Sessions that end before their communicators are freed. Each letter of the argument is a part of the run: s, a
 * session; w, MPI_Init to MPI_Finalize; o, a session that stays open until the end and keeps the host running.
 * Otherwise the host ends with each part and starts again with the next, where handles, keys and error codes are
 * reused. Nothing is checked on hosts without sessions. */
#include "../check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

static int wrong_callbacks;

static int copy(MPI_Comm comm, int keyval, void *state, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval;
    wrong_callbacks += state != &wrong_callbacks || value != &checks_passed;
    *(void **)copied = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval;
    wrong_callbacks += state != &wrong_callbacks || value != &checks_passed;
    return MPI_SUCCESS;
}

static int kind_of(MPI_Comm comm)
{
    int kind = -1;
    CHECK(MPI_Topo_test(comm, &kind) == MPI_SUCCESS);
    return kind;
}

static void halo(MPI_Comm cart)
{
    int size, rank, got[2] = { -1, -1 }, again[2] = { -1, -1 };
    MPI_Request request;
    MPI_Datatype pair;
    MPI_Comm_size(cart, &size);
    MPI_Comm_rank(cart, &rank);
    int sent[4] = { rank, rank, rank, rank };
    CHECK(kind_of(cart) == MPI_CART);
    CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, cart) == MPI_SUCCESS);
    CHECK(got[0] == (rank + size - 1) % size && got[1] == (rank + 1) % size);
    MPI_Type_contiguous(1, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    CHECK(MPI_Ineighbor_alltoall(sent, 1, pair, again, 1, pair, cart, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(again[0] == got[0] && again[1] == got[1]);
    MPI_Type_free(&pair);
}

/* Creates, queries and uses topologies, and leaves one on each communicator. */
static MPI_Comm leave(MPI_Comm comm)
{
    int size, keyval, found, class = -1, length, periods[1] = { 1 }, large[1] = { 1 << 20 };
    char text[MPI_MAX_ERROR_STRING] = "";
    void *value;
    MPI_Comm dup, cart[2], none = MPI_COMM_NULL;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &world_rank);
    /* The number of a key in an earlier part, if any. */
    CHECK(MPI_Comm_create_keyval(copy, delete, &keyval, &wrong_callbacks) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, keyval, &checks_passed) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS);
    CHECK(kind_of(comm) == MPI_UNDEFINED && kind_of(dup) == MPI_UNDEFINED);
    for (int reorder = 0; reorder < 2; reorder++) {
        CHECK(MPI_Cart_create(reorder ? dup : comm, 1, &size, periods, reorder, &cart[reorder]) == MPI_SUCCESS);
        halo(cart[reorder]);
    }
    CHECK(MPI_Comm_get_attr(dup, keyval, &value, &found) == MPI_SUCCESS && found && value == &checks_passed);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = MPI_Cart_create(comm, 1, large, periods, 0, &none);
    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS && class == MPI_ERR_ARG);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && strstr(text, "1048576"));
    return cart[1];
}

static MPI_Comm session(MPI_Session *session)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(*session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "cartograph.left", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm)
          == MPI_SUCCESS);
    MPI_Group_free(&group);
    return leave(comm);
}

int main(int argc, char **argv)
{
    MPI_Session outer = MPI_SESSION_NULL, inner;
    MPI_Comm kept = MPI_COMM_NULL;
    for (const char *part = argv[1]; *part; part++) {
        if (*part == 'o')
            kept = session(&outer);
        else if (*part == 's') {
            session(&inner);
            CHECK(MPI_Session_finalize(&inner) == MPI_SUCCESS);
        } else {
            MPI_Init(&argc, &argv);
            leave(MPI_COMM_WORLD);
            MPI_Finalize();
        }
        if (kept != MPI_COMM_NULL)
            halo(kept);
    }
    if (outer != MPI_SESSION_NULL)
        CHECK(MPI_Session_finalize(&outer) == MPI_SUCCESS);
    CHECK(wrong_callbacks == 0);
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
