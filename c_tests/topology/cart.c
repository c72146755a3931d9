/* Grids: creation, queries, shifts, sub-grids, duplicates. Each rank prints the results, and compares them with
 * its own computation of coordinates. */
#include "differential.h"

/* Row-major: the last coordinate varies fastest. */
static void coords_of(int rank, int ndims, const int *dims, int *coords)
{
    for (int d = ndims - 1; d >= 0; d--) {
        coords[d] = rank % dims[d];
        rank /= dims[d];
    }
}

/* MPI_PROC_NULL beyond the ends. */
static int rank_at(int ndims, const int *dims, const int *periods, const int *coords)
{
    int rank = 0;
    for (int d = 0; d < ndims; d++) {
        int c = coords[d];
        if (periods[d])
            c = (c % dims[d] + dims[d]) % dims[d];
        else if (c < 0 || c >= dims[d])
            return MPI_PROC_NULL;
        rank = rank * dims[d] + c;
    }
    return rank;
}

static void check_grid(MPI_Comm comm, int ndims, const int *dims, const int *periods)
{
    int rank, size, found, got[3][MOST_NDIMS], coords[MOST_NDIMS], there[MOST_NDIMS];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(kind_of(comm) == MPI_CART);
    CHECK(MPI_Cartdim_get(comm, &found) == MPI_SUCCESS && found == ndims);
    CHECK(MPI_Cart_get(comm, ndims, got[0], got[1], got[2]) == MPI_SUCCESS);
    coords_of(rank, ndims, dims, coords);
    for (int d = 0; d < ndims; d++)
        CHECK(got[0][d] == dims[d] && !got[1][d] == !periods[d] && got[2][d] == coords[d]);
    for (int r = 0; r < size; r++) {
        coords_of(r, ndims, dims, there);
        CHECK(MPI_Cart_coords(comm, r, ndims, got[0]) == MPI_SUCCESS);
        CHECK(!memcmp(got[0], there, ndims * sizeof(int)));
        CHECK(MPI_Cart_rank(comm, there, &found) == MPI_SUCCESS && found == r);
    }
    for (int d = 0; d < ndims; d++)
        for (int disp = -2 * dims[d]; disp <= 2 * dims[d]; disp++) {
            int source, dest;
            CHECK(MPI_Cart_shift(comm, d, disp, &source, &dest) == MPI_SUCCESS);
            memcpy(there, coords, sizeof there);
            there[d] = coords[d] - disp;
            CHECK(source == rank_at(ndims, dims, periods, there));
            there[d] = coords[d] + disp;
            CHECK(dest == rank_at(ndims, dims, periods, there));
        }
}

/* Prints a grid without dimensions in one line; some hosts create no communicator. */
static void say_point(const char *name, MPI_Comm comm)
{
    int size, kind, ndims = UNTOUCHED, rank = UNTOUCHED, none = UNTOUCHED;
    if (comm == MPI_COMM_NULL) {
        say("%s: MPI_COMM_NULL\n", name);
        return;
    }
    MPI_Comm_size(comm, &size);
    MPI_Topo_test(comm, &kind);
    MPI_Cartdim_get(comm, &ndims);
    MPI_Cart_rank(comm, &none, &rank);
    say("%s: %s of %d, ndims %d, rank %d\n", name, kind_name(kind), size, ndims, rank);
}

/* Every choice of kept dimensions. */
static void sub_grids(MPI_Comm comm, int ndims, const int *dims, const int *periods)
{
    for (int keep = 0; keep < 1 << ndims; keep++) {
        int kept[MOST_NDIMS], sub_dims[MOST_NDIMS], sub_periods[MOST_NDIMS], n = 0, size = 1;
        char name[NAME_LENGTH];
        MPI_Comm sub;
        for (int d = 0; d < ndims; d++) {
            kept[d] = keep >> d & 1;
            if (!kept[d])
                continue;
            size *= dims[d];
            sub_dims[n] = dims[d], sub_periods[n++] = periods[d];
        }
        CHECK(MPI_Cart_sub(comm, kept, &sub) == MPI_SUCCESS);
        CHECK_OURS(sub != MPI_COMM_NULL);
        if (keep == 0) {
            say_point("sub of none", sub);
        } else {
            int found;
            CHECK(MPI_Comm_size(sub, &found) == MPI_SUCCESS && found == size);
            snprintf(name, sizeof name, "sub %d-D %d", ndims, keep);
            say_cart(name, sub);
        }
        if (sub != MPI_COMM_NULL) {
            if (keep || ours)
                check_grid(sub, n, sub_dims, sub_periods);
            MPI_Comm_free(&sub);
        }
    }
}

static void grid(int ndims, const int *dims, const int *periods)
{
    MPI_Comm cart;
    char name[NAME_LENGTH];
    int before[2][MOST_NDIMS], cells = 1, newrank = UNTOUCHED, rank;
    memcpy(before[0], dims, ndims * sizeof(int));
    memcpy(before[1], periods, ndims * sizeof(int));
    for (int d = 0; d < ndims; d++)
        cells *= dims[d];
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart) == MPI_SUCCESS);
    CHECK(!memcmp(before[0], dims, ndims * sizeof(int)));
    CHECK(!memcmp(before[1], periods, ndims * sizeof(int)));
    CHECK(ranks_may_move() || (cart == MPI_COMM_NULL) == (world_rank >= cells));
    if (cart != MPI_COMM_NULL) {
        CHECK(MPI_Comm_rank(cart, &rank) == MPI_SUCCESS);
        CHECK(ranks_may_move() || rank == world_rank);
        check_grid(cart, ndims, dims, periods);
        snprintf(name, sizeof name, "cart %d-D", ndims);
        say_cart(name, cart);
        sub_grids(cart, ndims, dims, periods);
        MPI_Comm_free(&cart);
        CHECK(cart == MPI_COMM_NULL);
    }

    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 1, &cart) == MPI_SUCCESS);
    check_permutation(cart, cells);
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, ndims, dims, periods, &newrank) == MPI_SUCCESS);
    if (cart == MPI_COMM_NULL) {
        say_ints("map outside", &newrank, 1);
        CHECK_OURS(newrank == MPI_UNDEFINED);
        return;
    }
    CHECK(MPI_Comm_rank(cart, &rank) == MPI_SUCCESS && rank == newrank);
    check_grid(cart, ndims, dims, periods);
    MPI_Comm_free(&cart);
}

/* Communicators derived from a grid. */
static void offspring(void)
{
    int dims[2] = { 0, 0 }, periods[2] = { 0, 1 };
    MPI_Comm cart;
    CHECK(MPI_Dims_create(world_size, 2, dims) == MPI_SUCCESS);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart) == MPI_SUCCESS);
    say_duplicates("offspring", cart, 0);
    check_not_carried(cart);
    MPI_Comm_free(&cart);
}

/* No dimensions: one process without coordinates. */
static void zero_dimensional(void)
{
    int none = UNTOUCHED, ndims = UNTOUCHED, rank = UNTOUCHED, newrank = UNTOUCHED, code;
    int outputs[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
    MPI_Comm cart, sub;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 0, &none, &none, 0, &cart) == MPI_SUCCESS);
    CHECK((cart == MPI_COMM_NULL) == (world_rank > 0));
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 0, &none, &none, &newrank) == MPI_SUCCESS);
    say_ints(world_rank == 0 ? "0-D map" : "map outside", &newrank, 1);
    CHECK_OURS(newrank == (world_rank == 0 ? 0 : MPI_UNDEFINED));
    if (cart == MPI_COMM_NULL)
        return;
    say_place("0-D", cart);
    told(MPI_Cartdim_get(cart, &ndims), &ndims, 1, "0-D ndims");
    told(MPI_Cart_get(cart, 1, outputs, outputs + 1, outputs + 2), outputs, 3, "0-D get");
    told(MPI_Cart_coords(cart, 0, 1, outputs), outputs, 1, "0-D coords");
    told(MPI_Cart_rank(cart, &none, &rank), &rank, 1, "0-D rank");
    CHECK(ndims == 0 && rank == 0);
    CHECK(outputs[0] == UNTOUCHED && outputs[1] == UNTOUCHED && outputs[2] == UNTOUCHED);
    code = MPI_Cart_shift(cart, 0, 1, outputs, outputs + 1);
    told(code, outputs, 0, "0-D shift");
    CHECK_OURS(class_of(code) == MPI_ERR_ARG);
    told(MPI_Cart_sub(cart, &none, &sub), NULL, 0, "0-D sub");
    say_place("0-D sub", sub);
    CHECK(MPI_Cartdim_get(sub, &ndims) == MPI_SUCCESS && ndims == 0);
    MPI_Comm_free(&sub);
    say_duplicates("0-D", cart, 0);
    MPI_Comm_free(&cart);
}

/* Arrays shorter than the number of dimensions get the first entries. */
static void short_outputs(void)
{
    int dims[3] = { world_size, 1, 1 }, periods[3] = { 1, 0, 1 };
    MPI_Comm cart;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart) == MPI_SUCCESS);
    for (int maxdims = 0; maxdims <= 5; maxdims++) {
        int got[4][5], code, expected[4][3] = {
            { world_size, 1, 1 }, { 1, 0, 1 }, { world_rank, 0, 0 }, { world_size - 1, 0, 0 } };
        for (int i = 0; i < 4 * 5; i++)
            got[i / 5][i % 5] = UNTOUCHED;
        code = MPI_Cart_get(cart, maxdims, got[0], got[1], got[2]);
        told(code, got[0], 15, "get for %d", maxdims);
        code = MPI_Cart_coords(cart, world_size - 1, maxdims, got[3]);
        told(code, got[3], 5, "coords for %d", maxdims);
        for (int i = 0; i < 4; i++)
            for (int d = 0; d < 5; d++)
                CHECK_OURS(got[i][d] == (d < maxdims && d < 3 ? expected[i][d] : UNTOUCHED));
    }
    MPI_Comm_free(&cart);
}

/* A coordinate may be off by any number of turns, and a shift likewise. */
static void far_away(void)
{
    int periods[1] = { 1 }, far[4] = { 2147483647, -2147483647, 1000000007, -999999937 };
    MPI_Comm ring;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, periods, 0, &ring) == MPI_SUCCESS);
    for (int i = 0; i < 4; i++) {
        long long n = world_size, dest = ((world_rank + (far[i] % n)) % n + n) % n;
        long long source = ((world_rank - (far[i] % n)) % n + n) % n;
        int rank = UNTOUCHED, ends[2];
        told(MPI_Cart_rank(ring, &far[i], &rank), &rank, 1, "far rank %d", far[i]);
        CHECK_OURS(rank == (far[i] % n + n) % n);
        told(MPI_Cart_shift(ring, 0, far[i], &ends[0], &ends[1]), ends, 2, "far shift %d", far[i]);
        CHECK_OURS(ends[0] == source && ends[1] == dest);
    }
    MPI_Comm_free(&ring);
}

/* In C each number except 0 is true. */
static void truth(void)
{
    int periods[2] = { 2, -1 }, dims[2] = { world_size, 1 }, got[2], coords[2], keep[2] = { 4, 0 };
    int ends[2], rank;
    MPI_Comm cart, sub;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, -1, &cart) == MPI_SUCCESS);
    CHECK(MPI_Cart_get(cart, 2, dims, got, coords) == MPI_SUCCESS && got[0] && got[1]);
    say_ints("truth periods", got, 2);
    MPI_Comm_rank(cart, &rank);
    CHECK(MPI_Cart_shift(cart, 0, 1, &ends[0], &ends[1]) == MPI_SUCCESS);
    CHECK(ends[0] == (rank + world_size - 1) % world_size && ends[1] == (rank + 1) % world_size);
    CHECK(MPI_Cart_sub(cart, keep, &sub) == MPI_SUCCESS);
    say_place("truth sub", sub);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&cart);
}

int main(int argc, char **argv)
{
    static const int turning[4][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 0, 1, 0 }, { 1, 1, 1 } };
    struct parent parent;
    MPI_Comm cart;
    begin_ours(&argc, &argv);
    for (int ndims = 1; ndims <= 3; ndims++) {
        for (int i = 0; i < 4; i++) {
            int dims[3] = { 0, 0, 0 };
            CHECK(MPI_Dims_create(world_size, ndims, dims) == MPI_SUCCESS);
            grid(ndims, dims, turning[i]);
        }
        /* With more processes than cells. */
        int dims[3] = { 1 + world_size / 3, 1, 1 + world_size / 8 };
        grid(ndims, dims, turning[1]);
    }
    offspring();
    zero_dimensional();
    short_outputs();
    far_away();
    truth();

    parent = parent_begin();
    CHECK(MPI_Cart_create(parent.comm, 1, &world_size, turning[1], 0, &cart) == MPI_SUCCESS);
    parent_end("grid", &parent, &cart);
    return finish();
}
