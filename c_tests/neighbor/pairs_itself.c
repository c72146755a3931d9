/* A program that corrects the pairing of its MPI, in functions by which Cartograph recognizes such programs: the
 * program gets the blocks of the bare MPI without a setting. With the argument "blind", the last rank cannot open a
 * file while it creates grids. */
#include "../check.h"

#include <sys/resource.h>

static int is_blind;

static void limit_files(rlim_t most)
{
    struct rlimit limit;
    if (is_blind && CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0)) {
        limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
}

/* Swaps blocks of dimensions of one or two processes before they are sent. */
static void swapped(MPI_Comm grid, int ndims, const int *dims, int *got)
{
    int sent[4], counts[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 1, 2, 3 };
    MPI_Request request;
    for (int i = 0; i < 2 * ndims; i++)
        sent[dims[i / 2] < 3 ? i ^ 1 : i] = 10 * world_rank + i;
    MPI_Ineighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void Gradient_vec_dir(MPI_Comm grid, int ndims, const int *dims, int *got)
{
    swapped(grid, ndims, dims, got);
}

void Lap_vec_mult_orth(MPI_Comm grid, int ndims, const int *dims, int *got)
{
    swapped(grid, ndims, dims, got);
}

void Lap_plus_diag_vec_mult_orth(MPI_Comm grid, int ndims, const int *dims, int *got)
{
    swapped(grid, ndims, dims, got);
}

static void grid(const char *name, int ndims, const int *dims)
{
    const int periods[2] = { 1, 1 };
    int got[4] = { -1, -1, -1, -1 };
    MPI_Comm comm;
    limit_files(0);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm) == MPI_SUCCESS);
    limit_files(256);
    void (*const known[])(MPI_Comm, int, const int *, int *)
        = { Gradient_vec_dir, Lap_vec_mult_orth, Lap_plus_diag_vec_mult_orth };
    for (int i = 0; i < 3; i++) {
        known[i](comm, ndims, dims, got);
        say_ints(name, got, 2 * ndims);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const int open[1] = { 0 };
    MPI_Comm first;
    begin(&argc, &argv);
    is_blind = argc > 1 && strcmp(argv[1], "blind") == 0 && world_rank == world_size - 1;
    /* Some MPIs load a component. */
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, open, 0, &first) == MPI_SUCCESS);
    MPI_Comm_free(&first);
    int flat[2] = { world_size, 1 };
    grid("ring", 1, &world_size);
    grid("torus", 2, flat);
    return finish();
}
