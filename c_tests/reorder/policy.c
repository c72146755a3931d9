/* Whether processes change ranks, and how programs that keep using old ranks behave. Each WAY below uses the chapter
 * like a real program.
 *
 * policy.c WAY stays|moves|wrong: "wrong" if processes move and the program fails in the known way; otherwise data must
 * be right, and processes keep their ranks or not. */
#include "../check.h"

static MPI_Comm made = MPI_COMM_NULL;
static int right = 1;

static int sides(int dims[2])
{
    dims[0] = dims[1] = 0;
    return MPI_Dims_create(world_size, 2, dims);
}

/* The halo exchanges of Comb, SNAP and sw4lite: a program that queries its rank in the new communicator is safe. */
static void careful(MPI_Comm old, int reorder)
{
    int dims[2], periods[2] = { 1, 0 }, coords[2], source, dest, got[2] = { -1, -1 }, me;
    sides(dims);
    MPI_Cart_create(old, 2, dims, periods, reorder, &made);
    MPI_Comm_rank(made, &me);
    MPI_Cart_coords(made, me, 2, coords);
    MPI_Cart_shift(made, 0, 1, &source, &dest);
    MPI_Sendrecv(coords, 2, MPI_INT, dest, 0, got, 2, MPI_INT, source, 0, made, MPI_STATUS_IGNORE);
    right = got[0] == (coords[0] + dims[0] - 1) % dims[0] && got[1] == coords[1];
}

/* Also right: coordinates of all processes, of the lower neighbors, and of the upper neighbors. */
static void coordinates_of_others(void)
{
    int dims[2], periods[2] = { 1, 1 }, coords[2], source, dest, me;
    MPI_Comm grids[3];
    sides(dims);
    for (int k = 0; k < 3; k++) {
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grids[k]);
        MPI_Comm_rank(grids[k], &me);
        for (int i = 0; i < world_size && k == 0; i++)
            MPI_Cart_coords(grids[k], i, 2, coords);
        for (int i = 0; i < 2 && k == 1; i++) {
            MPI_Cart_shift(grids[k], i, 1, &source, &dest);
            MPI_Cart_coords(grids[k], i ? source : dest, 2, coords);
        }
        for (int i = world_size - 1; i >= 0 && k == 2; i--)
            MPI_Cart_coords(grids[k], i, 2, coords);
        MPI_Cart_coords(grids[k], me, 2, coords);
        MPI_Cart_coords(grids[k], world_rank, 2, coords);
    }
    for (int k = 0; k < 2; k++)
        MPI_Comm_free(&grids[k]);
    made = grids[2];
}

/* PETSc's star forest: data stays on the old rank, and the graph's neighbor is used as an old rank. */
static void star_forest(int adjacent, const char *info_says)
{
    int other = world_size - 1 - world_rank, weight = 5, one = 1, got = -1;
    MPI_Info info = MPI_INFO_NULL;
    if (info_says) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "cartograph_reorder", (char *)info_says);
    }
    if (adjacent)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, &weight, 1, &other, &weight, info, 1,
                                       &made);
    else
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &one, &other, &weight, info, 1, &made);
    if (info_says)
        MPI_Info_free(&info);
    MPI_Neighbor_alltoall(&world_rank, 1, MPI_INT, &got, 1, MPI_INT, made);
    right = got == other;
}

/* Returns whether all ranks have the same setting: MPI_Cart_map is local, and knows only the setting of its own
 * rank. */
static int have_one_setting(void)
{
    const char *setting = getenv("CARTOGRAPH_REORDER");
    int both[2] = { 0, 0 }, most[2];
    for (; setting && *setting; setting++)
        both[0] = (both[0] * 31 + *setting) % 65521;
    both[1] = -both[0];
    MPI_Allreduce(both, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most[0] == -most[1];
}

/* LAMMPS and miniMD use the grid's ranks on the old communicator. Their missing messages would make the program hang,
 * so ranks are only compared here. */
static void grid_ranks_on_world(int reorder)
{
    int dims[2], periods[2] = { 1, 1 }, found[2], coords[2], source, dest, at[2], other, mapped, me;
    int one_setting = have_one_setting();
    sides(dims);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &made);
    MPI_Comm_rank(made, &me);
    /* MPI_Cart_map returns the rank that the constructor would assign. */
    CHECK(!reorder || mapped == me || !one_setting);
    MPI_Cart_get(made, 2, found, periods, coords);
    for (int i = 0; i < 2; i++) {
        MPI_Cart_shift(made, i, 1, &source, &dest);
        /* The source from which the process `dest` of the old communicator expects a message. */
        at[0] = coords[0], at[1] = coords[1];
        at[i] = (at[i] + 1) % dims[i];
        MPI_Cart_rank(made, at, &other);
        int both[2] = { world_rank, dest }, *all = malloc(2 * world_size * sizeof *all);
        MPI_Allgather(both, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
        int senders = 0;
        for (int k = 0; k < world_size; k++)
            senders += all[2 * k + 1] == world_rank && all[2 * k] == source;
        right &= senders == 1 && other == dest;
        free(all);
    }
}

/* gtbench uses the coordinates of its old rank for a ring. */
static void coordinates_of_old_rank(void)
{
    int dims[2], periods[2] = { 1, 1 }, coords[2], own[2], me;
    sides(dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &made);
    MPI_Comm_rank(made, &me);
    MPI_Cart_coords(made, world_rank, 2, coords);
    MPI_Cart_coords(made, me, 2, own);
    right = coords[0] == own[0] && coords[1] == own[1];
}

/* GROMACS -ddorder cartesian follows its new ranks, but ends if rank 0 moves to another process. */
static void rank_zero_stays(void)
{
    int dims[3] = { 0, 0, 0 }, periods[3] = { 1, 1, 1 }, me;
    MPI_Dims_create(world_size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &made);
    MPI_Comm_rank(made, &me);
    right = (world_rank == 0) == (me == 0);
}

/* Edges between opposite ranks, as a graph that all processes pass. */
static void whole_graph(int reorder)
{
    int *index = malloc(world_size * sizeof *index), *edges = malloc(world_size * sizeof *edges), me, got = -1;
    for (int i = 0; i < world_size; i++) {
        index[i] = i + 1;
        edges[i] = world_size - 1 - i;
    }
    MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, reorder, &made);
    MPI_Comm_rank(made, &me);
    MPI_Neighbor_alltoall(&me, 1, MPI_INT, &got, 1, MPI_INT, made);
    right = got == world_size - 1 - me;
    free(index), free(edges);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *way = argc > 1 ? argv[1] : "", *expected = argc > 2 ? argv[2] : "";
    if (strcmp(way, "careful") == 0)
        careful(MPI_COMM_WORLD, 1);
    else if (strcmp(way, "careful-0") == 0)
        careful(MPI_COMM_WORLD, 0);
    else if (strcmp(way, "others") == 0)
        coordinates_of_others();
    else if (strcmp(way, "petsc") == 0)
        star_forest(1, NULL);
    else if (strcmp(way, "petsc-edges") == 0)
        star_forest(0, NULL);
    else if (strcmp(way, "petsc-told") == 0)
        star_forest(1, "true");
    else if (strcmp(way, "petsc-told-on-0") == 0)
        star_forest(1, world_rank == 0 ? "true" : "perhaps");
    else if (strcmp(way, "petsc-refused") == 0)
        star_forest(1, "false");
    else if (strcmp(way, "lammps") == 0)
        grid_ranks_on_world(1);
    else if (strcmp(way, "minimd") == 0)
        grid_ranks_on_world(0);
    else if (strcmp(way, "gtbench") == 0)
        coordinates_of_old_rank();
    else if (strcmp(way, "gromacs") == 0)
        rank_zero_stays();
    else if (strcmp(way, "graph") == 0)
        whole_graph(1);
    else
        CHECK(!"one of these ways");

    int me, here[2], all[2];
    MPI_Comm_rank(made, &me);
    here[0] = me == world_rank, here[1] = right;
    MPI_Allreduce(here, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK(all[0] == (strcmp(expected, "stays") == 0));
    CHECK(all[1] == (strcmp(expected, "wrong") != 0));
    /* Reordered communicators, too, contain every process once. */
    int sum, n;
    MPI_Comm_size(made, &n);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(n == world_size && sum == world_size * (world_size - 1) / 2);
    MPI_Comm_free(&made);
    return finish();
}
