/* A program that corrects the pairing of its MPI in a function by which Cartograph recognizes it: it gets the
 * blocks of the bare MPI without a setting. */
#include "../check.h"

/* Swaps blocks of dimensions of one or two processes before they are sent. */
__attribute__((noinline)) static void Gradient_vec_dir(MPI_Comm grid, int ndims, const int *dims, int *got)
{
    int sent[4], counts[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 1, 2, 3 };
    MPI_Request request;
    for (int i = 0; i < 2 * ndims; i++)
        sent[dims[i / 2] < 3 ? i ^ 1 : i] = 10 * world_rank + i;
    MPI_Ineighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void grid(const char *name, int ndims, const int *dims)
{
    const int periods[2] = { 1, 1 };
    int got[4] = { -1, -1, -1, -1 };
    MPI_Comm comm;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm) == MPI_SUCCESS);
    for (int round = 0; round < 2; round++) {
        Gradient_vec_dir(comm, ndims, dims, got);
        say_ints(name, got, 2 * ndims);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int flat[2] = { world_size, 1 };
    grid("ring", 1, &world_size);
    grid("torus", 2, flat);
    return finish();
}
