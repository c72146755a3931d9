/* A grid created from a grid whose data is already distributed, as in EPOCH, and grids created from communicators
 * derived from a grid.
 *
 * grid_of_grid.c stays|moves: whether processes keep their ranks in the second grid. */
#include "../check.h"

static int rank_in(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

/* Creates a grid of two dimensions on `comm`; returns the number of processes that changed ranks. */
static int moved_by(MPI_Comm comm, const int *dims, MPI_Comm *grid)
{
    int periods[2] = { 1, 1 }, own, all, mapped = -1;
    CHECK(MPI_Cart_create(comm, 2, dims, periods, 1, grid) == MPI_SUCCESS);
    own = rank_in(comm) != rank_in(*grid);
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, comm);
    CHECK(MPI_Cart_map(comm, 2, dims, periods, &mapped) == MPI_SUCCESS);
    CHECK(mapped == rank_in(*grid));
    return all;
}

/* EPOCH's load balancing: a process looks for its place in the second grid by its coordinates in the first. */
static int finds_itself(MPI_Comm first, MPI_Comm second)
{
    int coords[2], dims[2], periods[2], by_first, own, all;
    MPI_Cart_get(first, 2, dims, periods, coords);
    MPI_Cart_rank(first, coords, &by_first);
    own = by_first == rank_in(second);
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, first);
    return all;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int stays = argc < 2 || strcmp(argv[1], "stays") == 0, side = 1;
    while ((side + 1) * (side + 1) <= world_size)
        side++;
    int square[2] = { side, side }, row[2] = { world_size, 1 }, flat[2] = { 2, world_size / 2 };
    int periods[2] = { 1, 1 };
    MPI_Comm first, second, copy, ranks, created, part, moved;
    MPI_Group group;

    /* Unless weights are known to be equal, the first grid keeps its ranks, so the second would move. */
    moved_by(MPI_COMM_WORLD, square, &first);
    CHECK((moved_by(first, row, &second) == 0) == stays);
    CHECK(finds_itself(first, second) == stays);
    MPI_Comm_free(&second);
    /* Duplicates of the first grid. */
    MPI_Comm_dup(first, &copy);
    CHECK((moved_by(copy, row, &second) == 0) == stays);
    MPI_Comm_free(&second);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&first);

    /* A reordered grid, and communicators of the same processes in the same order. */
    CHECK(moved_by(MPI_COMM_WORLD, row, &moved) > 0);
    MPI_Comm_split(moved, 0, rank_in(moved), &ranks);
    MPI_Comm_group(moved, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &created);
    MPI_Group_free(&group);
    MPI_Comm_dup(moved, &copy);
    MPI_Comm on[3] = { copy, ranks, created };
    for (int i = 0; i < 3; i++) {
        CHECK((moved_by(on[i], flat, &second) == 0) == stays);
        MPI_Comm_free(&second);
        MPI_Comm_free(&on[i]);
    }
    /* Parts of the reordered grid, in orders that place their processes round-robin on nodes. */
    int half = world_size / 2, me = rank_in(moved), on_half[2] = { half, 1 }, keep[2] = { 1, 0 };
    MPI_Comm_split(moved, me / half, me % 2 * world_size + me, &part);
    CHECK((moved_by(part, on_half, &second) == 0) == stays);
    MPI_Comm_free(&second);
    MPI_Comm_free(&part);
    MPI_Cart_sub(moved, keep, &part);
    CHECK((moved_by(part, flat, &second) == 0) == stays);
    MPI_Comm_free(&second);
    MPI_Comm_free(&part);
    MPI_Comm_free(&moved);

    /* The communicator on which they were created is unaffected: other grids on it are still reordered. */
    int cube[3] = { world_size, 1, 1 }, ring[3] = { 1, 1, 1 }, own, any;
    MPI_Cart_create(MPI_COMM_WORLD, 3, cube, ring, 1, &second);
    own = rank_in(second) != world_rank;
    MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(any);
    MPI_Comm_free(&second);
    /* With reorder = 0 no process moves. */
    MPI_Cart_create(MPI_COMM_WORLD, 2, row, periods, 0, &second);
    CHECK(rank_in(second) == world_rank);
    MPI_Comm_free(&second);
    return finish();
}
