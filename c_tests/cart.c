/* Grids: creation, queries, sub-grids, shifts; every rank prints what it is told. */
#include "check.h"

static void query(const char *name, MPI_Comm comm)
{
    int ndims, dims[8], periods[8], coords[8], rank, size, source, dest, kind;
    char label[80];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(MPI_Topo_test(comm, &kind) == MPI_SUCCESS && kind == MPI_CART);
    CHECK(MPI_Cartdim_get(comm, &ndims) == MPI_SUCCESS);
    CHECK(MPI_Cart_get(comm, ndims, dims, periods, coords) == MPI_SUCCESS);
    say("%s: rank %d of %d, ndims %d\n", name, rank, size, ndims);
    snprintf(label, sizeof label, "%s dims", name), say_ints(label, dims, ndims);
    snprintf(label, sizeof label, "%s periods", name), say_ints(label, periods, ndims);
    snprintf(label, sizeof label, "%s coords", name), say_ints(label, coords, ndims);
    for (int r = 0; r < size; r++) {
        int back = -1;
        CHECK(MPI_Cart_coords(comm, r, ndims, coords) == MPI_SUCCESS);
        CHECK(MPI_Cart_rank(comm, coords, &back) == MPI_SUCCESS && back == r);
    }
    for (int d = 0; d < ndims; d++)
        for (int disp = -3; disp <= 3; disp++) {
            CHECK(MPI_Cart_shift(comm, d, disp, &source, &dest) == MPI_SUCCESS);
            say("%s shift %d by %d: %d %d\n", name, d, disp, source, dest);
        }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int pattern = 0; pattern < 4; pattern++) {
        int dims[2] = { 0, 0 }, periods[2] = { pattern & 1, pattern >> 1 }, kept[2];
        MPI_Comm cart, dup, sub;
        CHECK(MPI_Dims_create(world_size, 2, dims) == MPI_SUCCESS);
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart) == MPI_SUCCESS);
        query("cart", cart);
        CHECK(MPI_Comm_dup(cart, &dup) == MPI_SUCCESS);
        query("dup", dup);
        for (int keep = 0; keep < 4; keep++) {
            kept[0] = keep & 1, kept[1] = keep >> 1;
            CHECK(MPI_Cart_sub(dup, kept, &sub) == MPI_SUCCESS);
            query("sub", sub);
            MPI_Comm_free(&sub);
        }
        MPI_Comm_free(&dup);
        MPI_Comm_free(&cart);
        CHECK(cart == MPI_COMM_NULL);
    }
    return finish();
}
