/* mini without Cartograph: the functions that topologies need. */
#include "../check.h"
#include <stddef.h>

static void long_messages(void)
{
    enum { MANY = 300000 };
    int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
    int *sent = malloc(MANY * sizeof *sent), *got = calloc(MANY, sizeof *got), good = 0;
    for (int i = 0; i < MANY; i++)
        sent[i] = world_rank + i;
    CHECK(MPI_Sendrecv(sent, MANY, MPI_INT, right, 1, got, MANY, MPI_INT, left, 1, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < MANY; i++)
        good += got[i] == left + i;
    CHECK(good == MANY);
    memset(got, 0, MANY * sizeof *got);
    int root = world_size - 1;
    CHECK(MPI_Bcast(world_rank == root ? sent : got, MANY, MPI_INT, root, MPI_COMM_WORLD)
          == MPI_SUCCESS);
    CHECK(world_rank == root || got[MANY - 1] == root + MANY - 1);
    free(sent);
    free(got);
}

/* Messages match by tag, whatever arrived first, and in the order of sending within a tag. */
static void order(void)
{
    enum { MANY = 200 };
    int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
    int sent[MANY], got[MANY], good = 0;
    MPI_Request requests[2 * MANY];
    MPI_Status statuses[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        sent[i] = i;
        MPI_Isend(&sent[i], 1, MPI_INT, right, i % 2, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i % 3 ? left : MPI_ANY_SOURCE, i >= MANY / 2, MPI_COMM_WORLD,
                  &requests[MANY + i]);
    CHECK(MPI_Waitall(2 * MANY, requests, statuses) == MPI_SUCCESS);
    for (int i = 0; i < MANY; i++)
        good += got[i] == (i < MANY / 2 ? 2 * i : 2 * (i - MANY / 2) + 1)
            && statuses[MANY + i].MPI_SOURCE == left && statuses[MANY + i].MPI_TAG == (i >= MANY / 2)
            && requests[i] == MPI_REQUEST_NULL;
    CHECK(good == MANY);
}

static int raised;

static void count_raised(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    raised++;
}

static void errors(void)
{
    int two[2] = { 1, 2 }, one = 0, class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm comm;
    MPI_Errhandler handler, found;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count_raised, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &found);
    CHECK(found == handler);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Send(two, 1, MPI_INT, world_size, 0, comm) == MPI_ERR_RANK && raised == 1);
    CHECK(MPI_Send(two, -1, MPI_INT, 0, 0, comm) == MPI_ERR_COUNT && raised == 2);
    CHECK(MPI_Send(two, 1, MPI_DATATYPE_NULL, 0, 0, comm) == MPI_ERR_TYPE && raised == 3);
    CHECK(MPI_Send(two, 1, MPI_INT, 0, -1, comm) == MPI_ERR_TAG && raised == 4);
    CHECK(MPI_Comm_rank(MPI_COMM_NULL, &one) == MPI_ERR_COMM && raised == 4);
    /* A message longer than the buffer. */
    MPI_Isend(two, 2, MPI_INT, world_rank, 0, comm, &requests[0]);
    MPI_Irecv(&one, 1, MPI_INT, world_rank, 0, comm, &requests[1]);
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS && raised == 5 && one == 1);
    CHECK(!statuses[0].MPI_ERROR && statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE);
    /* No message arrives. */
    MPI_Irecv(&one, 1, MPI_INT, world_rank, 5, comm, &requests[0]);
    CHECK(MPI_Cancel(&requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Request_free(&requests[0]) == MPI_SUCCESS && requests[0] == MPI_REQUEST_NULL);
    CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS && class > MPI_ERR_LASTCODE);
    CHECK(MPI_Add_error_code(class, &code) == MPI_SUCCESS && class_of(code) == class);
    CHECK(MPI_Add_error_string(code, "text") == MPI_SUCCESS);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && !strcmp(text, "text"));
    MPI_Comm_free(&comm);
}

static int copied, deleted, stubborn;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    copied++;
    *(char **)out = (char *)in + 1;
    *flag = *(int *)extra;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deleted++;
    return stubborn ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void attributes(void)
{
    int key, flag, extra = 1;
    char cell[4], *value;
    MPI_Comm comm, dup;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
    CHECK(MPI_Comm_create_keyval(copy, delete, &key, &extra) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_attr(comm, key, &value, &flag) == MPI_SUCCESS && !flag);
    CHECK(MPI_Comm_set_attr(comm, key, cell) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS && copied == 1);
    CHECK(MPI_Comm_get_attr(dup, key, &value, &flag) == MPI_SUCCESS && flag && value == cell + 1);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS && deleted == 1);
    extra = 0;
    CHECK(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS && copied == 2);
    CHECK(MPI_Comm_get_attr(dup, key, &value, &flag) == MPI_SUCCESS && !flag);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS && deleted == 1);
    /* An attribute that refuses to be deleted keeps its communicator. */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    stubborn = 1;
    CHECK(MPI_Comm_free(&comm) == MPI_ERR_OTHER && comm != MPI_COMM_NULL && deleted == 2);
    CHECK(MPI_Comm_set_attr(comm, key, NULL) == MPI_ERR_OTHER && deleted == 3);
    stubborn = 0;
    CHECK(MPI_Comm_set_attr(comm, key, NULL) == MPI_SUCCESS && deleted == 4);
    CHECK(MPI_Comm_get_attr(comm, key, &value, &flag) == MPI_SUCCESS && flag && !value);
    /* A freed key lives until its last attribute is deleted. */
    CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && deleted == 5);
}

static void splits(void)
{
    int rank, size, sum;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3 == 2 ? MPI_UNDEFINED : world_rank % 3, -world_rank,
                   &comm);
    CHECK((comm == MPI_COMM_NULL) == (world_rank % 3 == 2));
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    int color = world_rank % 3, members = (world_size - color + 2) / 3;
    CHECK(size == members && rank == members - 1 - world_rank / 3);
    CHECK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == members * color + 3 * members * (members - 1) / 2);
    MPI_Comm_free(&comm);
}

static void gathers(void)
{
    int root = world_size / 2, mine[3] = { world_rank, world_rank, world_rank }, back[2] = { -1, -1 };
    int counts[16], places[16], all[64], wrong = 0;
    for (int r = 0; r < world_size; r++)
        counts[r] = r % 4, places[r] = 4 * (world_size - 1 - r);
    for (int i = 0; i < 64; i++)
        all[i] = -1;
    CHECK(MPI_Gatherv(mine, world_rank % 4, MPI_INT, all, counts, places, MPI_INT, root,
                      MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int r = 0; r < world_size; r++)
        for (int i = 0; i < 4; i++)
            wrong += all[places[r] + i] != (world_rank == root && i < counts[r] ? r : -1);
    CHECK(wrong == 0);
    for (int i = 0; i < 64; i++)
        all[i] = i;
    CHECK(MPI_Scatter(all, 2, MPI_INT, back, 2, MPI_INT, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(back[0] == 2 * world_rank && back[1] == 2 * world_rank + 1);
    CHECK(MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(all[2 * world_size - 1] == (world_rank == root ? world_size - 1 : 2 * world_size - 1));
}

static void types(void)
{
    struct both {
        char c;
        double d[2];
    } sent = { 'x', { 1, 2 } }, got = { 0 };
    int lengths[2] = { 1, 2 }, matrix[3][4], column[3];
    MPI_Aint displs[2] = { offsetof(struct both, c), offsetof(struct both, d) }, lower, extent;
    MPI_Datatype kinds[2] = { MPI_CHAR, MPI_DOUBLE }, both, slice;
    MPI_Type_create_struct(2, lengths, displs, kinds, &both);
    MPI_Type_commit(&both);
    CHECK(MPI_Type_get_extent(both, &lower, &extent) == MPI_SUCCESS);
    CHECK(lower == 0 && extent == sizeof(struct both));
    MPI_Request request;
    MPI_Irecv(&got, 1, both, world_rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&sent, 1, both, world_rank, 0, MPI_COMM_WORLD);
    /* The request still needs it. */
    MPI_Type_free(&both);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got.c == 'x' && got.d[0] == 1 && got.d[1] == 2 && both == MPI_DATATYPE_NULL);
    for (int i = 0; i < 12; i++)
        matrix[i / 4][i % 4] = i;
    MPI_Type_vector(3, 1, 4, MPI_INT, &slice);
    MPI_Type_commit(&slice);
    MPI_Sendrecv(&matrix[0][2], 1, slice, world_rank, 0, column, 3, MPI_INT, world_rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(column[0] == 2 && column[1] == 6 && column[2] == 10);
    MPI_Type_free(&slice);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long_messages();
    order();
    errors();
    splits();
    gathers();
    types();
    attributes();
    return finish();
}
