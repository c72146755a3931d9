/* Grids of the same processes and dims, as programs create them and use the ranks of one in another.
 *
 * siblings.c NODES: ranks are round-robin on NODES nodes; 0: in blocks. */
#include "../check.h"

#define MOST 64

static const int all_periods[4][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };

static int rank_in(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

/* Creates a grid of two dimensions on `comm`, whose rank MPI_Cart_map predicts. */
static MPI_Comm grid_on(MPI_Comm comm, const int *dims, const int *periods, int is_known)
{
    MPI_Comm grid;
    int mapped = -1, again = -1;
    CHECK(MPI_Cart_map(comm, 2, dims, periods, &mapped) == MPI_SUCCESS);
    CHECK(MPI_Cart_create(comm, 2, dims, periods, 1, &grid) == MPI_SUCCESS);
    CHECK(MPI_Cart_map(comm, 2, dims, periods, &again) == MPI_SUCCESS);
    CHECK(again == rank_in(grid));
    CHECK(!is_known || mapped == again);
    return grid;
}

/* True on all ranks if any process moves. */
static int moves(int rank)
{
    int own = rank != world_rank, any;
    MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

/* PALM's four grids: halos are exchanged on "the alternative communicator", with the ranks of the first grid. */
static void palm(const int *dims, int first)
{
    MPI_Comm grids[4];
    int left[4], right[4], me = -1;
    for (int i = 0; i < 4; i++) {
        const int *periods = all_periods[(first + i) % 4];
        grids[i] = grid_on(MPI_COMM_WORLD, dims, periods, i > 0);
        if (i == 0)
            me = rank_in(grids[0]);
        CHECK(rank_in(grids[i]) == me);
        MPI_Cart_shift(grids[i], 1, 1, &left[i], &right[i]);
    }
    for (int i = 0; i < 4; i++) {
        int got = -1, from = left[i] == MPI_PROC_NULL ? -1 : left[i];
        MPI_Comm other = grids[(i + 1) % 4];
        MPI_Sendrecv(&me, 1, MPI_INT, right[i], 3, &got, 1, MPI_INT, left[i], 3, other, MPI_STATUS_IGNORE);
        CHECK(got == from);
    }
    for (int i = 0; i < 4; i++)
        MPI_Comm_free(&grids[i]);
}

/* FELTOR and iPIC3D: one grid is freed before the other is created, or the other is created on another communicator of
 * the same processes. */
static void freed_and_copied(const int *dims)
{
    MPI_Comm grid = grid_on(MPI_COMM_WORLD, dims, all_periods[1], 0), copies[3];
    MPI_Group group;
    int me = rank_in(grid);
    MPI_Comm_free(&grid);
    grid = grid_on(MPI_COMM_WORLD, dims, all_periods[2], 1);
    CHECK(rank_in(grid) == me);
    MPI_Comm_free(&grid);
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &copies[1]);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &copies[2]);
    MPI_Group_free(&group);
    for (int i = 0; i < 3; i++) {
        grid = grid_on(copies[i], dims, all_periods[i], 1);
        CHECK(rank_in(grid) == me);
        MPI_Comm_free(&grid);
        MPI_Comm_free(&copies[i]);
    }
}

/* On halves that are created repeatedly: ranks are remembered by process, not by handle. */
static void halves(void)
{
    int dims[2] = { 0, 0 }, first[2];
    MPI_Dims_create(world_size / 2, 2, dims);
    for (int round = 0; round < 6; round++) {
        MPI_Comm half, grid;
        int upper = world_rank >= world_size / 2;
        MPI_Comm_split(MPI_COMM_WORLD, round % 2 ? upper : world_rank % 2, world_rank, &half);
        grid = grid_on(half, dims, all_periods[round % 4], round > 1);
        if (round < 2)
            first[round] = rank_in(grid);
        CHECK(rank_in(grid) == first[round % 2]);
        MPI_Comm_free(&grid);
        MPI_Comm_free(&half);
    }
}

/* The processes of a node have the same order in the grid as in the world, so a program that chooses a device by the
 * rank on its node chooses the same one. */
static void order_on_nodes(const int *dims, int nodes)
{
    MPI_Comm grid = grid_on(MPI_COMM_WORLD, dims, all_periods[3], 1), before, after;
    int node = nodes ? world_rank % nodes : 0;
    MPI_Comm_split(MPI_COMM_WORLD, node, 0, &before);
    MPI_Comm_split(grid, node, 0, &after);
    CHECK(rank_in(before) == rank_in(after));
    MPI_Comm_free(&before);
    MPI_Comm_free(&after);
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int nodes = argc > 1 ? atoi(argv[1]) : 0, long_side = world_size / 2;
    int flat[2] = { 2, long_side }, tall[2] = { long_side, 2 };
    /* This test comes first, because parts of a grid keep their ranks. */
    halves();
    palm(flat, 3);
    palm(tall, 0);
    freed_and_copied(flat);
    if (nodes) {
        int row[2] = { 1, world_size };
        MPI_Comm grid = grid_on(MPI_COMM_WORLD, row, all_periods[0], 0);
        CHECK(moves(rank_in(grid)));
        MPI_Comm_free(&grid);
        order_on_nodes(row, nodes);
        order_on_nodes(tall, nodes);
        order_on_nodes(flat, nodes);
    }
    return finish();
}
