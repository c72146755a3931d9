/* MPI_Dims_create with CARTOGRAPH_DIMS=1x1x10 cuts a long box along its length, but only if three dimensions are
 * free. */
#include "../check.h"

static int is(const int *dims, int first, int second, int third)
{
    return dims[0] == first && dims[1] == second && dims[2] == third;
}

int main(int argc, char **argv)
{
    int free_ones[3] = {0, 0, 0}, fixed[3] = {4, 0, 0}, two[2] = {0, 0}, prime[3] = {0, 0, 0}, wrong[3] = {0, 0, 0};
    begin(&argc, &argv);
    CHECK(MPI_Dims_create(64, 3, free_ones) == MPI_SUCCESS && is(free_ones, 2, 2, 16));
    CHECK(MPI_Dims_create(7, 3, prime) == MPI_SUCCESS && is(prime, 1, 1, 7));
    CHECK(MPI_Dims_create(64, 3, fixed) == MPI_SUCCESS && is(fixed, 4, 4, 4));
    CHECK(MPI_Dims_create(64, 2, two) == MPI_SUCCESS && two[0] == 8 && two[1] == 8);
    CHECK(MPI_Dims_create(-1, 3, wrong) != MPI_SUCCESS && is(wrong, 0, 0, 0));
    return finish();
}
