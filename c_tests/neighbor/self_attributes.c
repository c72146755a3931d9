/* Attributes of MPI_COMM_SELF with MPI_THREAD_MULTIPLE: constructors and collectives do not copy them. */
#include "../check.h"

static int copied;

static int copy(MPI_Comm comm, int keyval, void *state, void *value, void *new_value, int *flag)
{
    (void)comm, (void)keyval, (void)state, (void)value, (void)new_value;
    copied++;
    *flag = 0;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int provided, key, ones[1] = { 1 }, sent[2], got[2] = { -1, -1 };
    MPI_Comm ring;
    MPI_Request request;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, ones, 0, &ring) == MPI_SUCCESS);
    sent[0] = sent[1] = world_rank;
    CHECK(MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(got[0] == (world_rank + world_size - 1) % world_size && got[1] == (world_rank + 1) % world_size);
    MPI_Comm_free(&ring);
    CHECK(copied == 0);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
    return finish();
}
