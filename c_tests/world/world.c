/* MPI_COMM_WORLD in another order: the argument is the list of new ranks in the order of the launcher's, or "kept". What
 * a program can see of it is as if its processes had been started so. */
#include "order.h"

static int *new_ranks;
static int old_rank;

static void check_ranks(void)
{
    int rank, size, profiled, all, sum = 0;
    MPI_Comm copy, part;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_rank(MPI_COMM_WORLD, &profiled);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(rank == new_ranks[old_rank] && profiled == rank && size == world_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_rank(copy, &all);
    CHECK(all == rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
    MPI_Comm_rank(part, &all);
    CHECK(all == rank / 2);
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
    /* Messages and collectives go by the same ranks. */
    int *got = malloc(size * sizeof *got), own = 100 * rank, from = -1;
    MPI_Allgather(&own, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        sum += got[i] == 100 * i;
    CHECK(sum == size);
    MPI_Sendrecv(&own, 1, MPI_INT, (rank + 1) % size, 7, &from, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(from == 100 * ((rank + size - 1) % size));
    MPI_Request request;
    MPI_Ibcast(&own, 1, MPI_INT, size - 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(own == 100 * (size - 1));
    free(got);
}

static void check_groups(void)
{
    MPI_Group group, of_copy;
    MPI_Comm copy, made;
    int rank, result = -1, all = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_rank(group, &rank);
    CHECK(rank == new_ranks[old_rank]);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_group(copy, &of_copy);
    MPI_Group_compare(group, of_copy, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made);
    MPI_Comm_rank(made, &all);
    CHECK(all == rank);
    MPI_Comm_free(&made);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made);
    MPI_Comm_rank(made, &all);
    CHECK(all == rank);
    MPI_Comm_free(&made);
    MPI_Comm_free(&copy);
    MPI_Group_free(&of_copy);
    MPI_Group_free(&group);
}

/* Two halves of the world, and messages between them through it. */
static void check_intercommunicators(void)
{
    int rank = new_ranks[old_rank], half = world_size / 2, low = rank < half, remote = 0, value = rank, got = -1;
    MPI_Comm part, inter, merged;
    if (world_size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &part);
    CHECK(MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, low ? half : 0, 5, &inter) == MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &remote);
    CHECK(remote == (low ? world_size - half : half));
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 0, 1, inter);
    if (rank == half) {
        MPI_Recv(&got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        CHECK(got == 0);
    }
    MPI_Intercomm_merge(inter, !low, &merged);
    MPI_Comm_rank(merged, &got);
    CHECK(got == rank);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
}

static int copies, deletes, told_world;

static int copied(MPI_Comm comm, int key, void *extra, void *value, void *to, int *flag)
{
    (void)key;
    copies++;
    told_world += comm == MPI_COMM_WORLD && extra == &copies;
    *(void **)to = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value;
    deletes++;
    told_world += comm == MPI_COMM_WORLD && extra == &copies;
    return MPI_SUCCESS;
}

static void check_attributes(void)
{
    int key, flag = 0, *bound = NULL, *same = NULL, zero = 0;
    MPI_Comm copy;
    /* The host's own, on the world and its copies. */
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag) == MPI_SUCCESS && flag && *bound >= 32767);
    CHECK(PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &same, &flag) == MPI_SUCCESS && flag);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(MPI_Comm_get_attr(copy, MPI_TAG_UB, &same, &flag) == MPI_SUCCESS && flag && *same == *bound);
    MPI_Comm_free(&copy);
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &zero) != MPI_SUCCESS);

    /* The program's, with callbacks. */
    MPI_Comm_create_keyval(copied, deleted, &key, &copies);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &zero);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &same, &flag) == MPI_SUCCESS && flag && same == &zero);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(copies == 1 && told_world == 1);
    CHECK(MPI_Comm_get_attr(copy, key, &same, &flag) == MPI_SUCCESS && flag && same == &zero);
    MPI_Comm_free(&copy);
    CHECK(deletes == 1 && told_world == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deletes == 2 && told_world == 2);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &same, &flag) == MPI_SUCCESS && !flag);
    MPI_Comm_free_keyval(&key);

    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, bound);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(MPI_Comm_get_attr(copy, key, &same, &flag) == MPI_SUCCESS && flag && same == bound);
    MPI_Comm_free(&copy);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
}

static int handled, handled_world;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    handled++;
    handled_world += *comm == MPI_COMM_WORLD;
}

static void check_error_handlers(void)
{
    MPI_Errhandler own, found;
    MPI_Datatype none = MPI_DATATYPE_NULL;
    int value = 0;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == own);
    MPI_Errhandler_free(&found);
    MPI_Send(&value, 1, MPI_INT, world_size, 0, MPI_COMM_WORLD);
    CHECK(handled == 1 && handled_world == 1);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    CHECK(handled == 2 && handled_world == 2);
    /* Without a communicator it is the world's handler, or MPI_COMM_SELF's from MPI-4 on. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
    MPI_Type_commit(&none);
    CHECK(handled == 3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&own);
    CHECK(MPI_Send(&value, 1, MPI_INT, world_size, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
}

static void check_names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm_set_name(MPI_COMM_WORLD, "all");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "all") == 0);
#if !defined(MPI_ABI) && !defined(MPI_ABI_VERSION)
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
#endif
}

static void check_windows_and_files(const char *path)
{
    int rank = new_ranks[old_rank], next = (rank + 1) % world_size, own = -1, value = rank, *memory;
    MPI_Win window;
    MPI_Group group;
    MPI_File file;
    /* Data is not looked at: MPICH 4.0.2 by itself loses what is put, on one machine at least. */
    MPI_Win_allocate(sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_get_group(window, &group);
    MPI_Group_rank(group, &own);
    CHECK(own == rank);
    MPI_Group_free(&group);
    MPI_Win_free(&window);
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, (MPI_Offset)sizeof value * next, &own, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(own == next);
    MPI_File_close(&file);
}

static void check_topologies(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], rank, own = new_ranks[old_rank];
    MPI_Comm grid;
    MPI_Dims_create(world_size, 2, dims);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid) == MPI_SUCCESS);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    CHECK(rank == own && coords[0] == own / dims[1] && coords[1] == own % dims[1]);
    MPI_Comm_free(&grid);
    int before = (own + world_size - 1) % world_size, after = (own + 1) % world_size, got[1] = {-1}, one[1] = {1}, weighted, in, out;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, one, 1, &after, one, MPI_INFO_NULL, 0, &grid);
    MPI_Dist_graph_neighbors_count(grid, &in, &out, &weighted);
    CHECK(in == 1 && out == 1);
    MPI_Neighbor_allgather(&own, 1, MPI_INT, got, 1, MPI_INT, grid);
    CHECK(got[0] == before);
    MPI_Comm_free(&grid);
}

/* The processes of a session's set of all are in the same order. */
static void check_sessions(void)
{
/* Open MPI 5 has sessions and calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    MPI_Session session;
    MPI_Group all;
    MPI_Comm made;
    int rank = -1, in_group = -1;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
        return;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all) == MPI_SUCCESS);
    MPI_Group_rank(all, &in_group);
    CHECK(in_group == new_ranks[old_rank]);
    CHECK(MPI_Comm_create_from_group(all, "world", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
    MPI_Comm_rank(made, &rank);
    CHECK(rank == new_ranks[old_rank]);
    MPI_Comm_free(&made);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
#endif
}

/* Variables with the rank of the process in the job, and on its node. */
static const char *const ranks[] = {"PMI_RANK",            "OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "SLURM_PROCID",
                                    "MV2_COMM_WORLD_RANK", "PALS_RANKID",          "ALPS_APP_PE", "FLUX_TASK_RANK"};
static const char *const local[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK",
                                    "SLURM_LOCALID", "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID"};
enum { RANKS = sizeof ranks / sizeof *ranks, LOCAL = sizeof local / sizeof *local };
static int ranks_before[RANKS], local_before[LOCAL];

static int number(const char *name)
{
    return getenv(name) ? atoi(getenv(name)) : -1;
}

static void note_variables(void)
{
    for (int i = 0; i < RANKS; i++)
        ranks_before[i] = number(ranks[i]);
    for (int i = 0; i < LOCAL; i++)
        local_before[i] = number(local[i]);
}

/* Nobody has moved: what is said of the node stays true. */
static void check_variables(void)
{
    for (int i = 0; i < RANKS; i++)
        CHECK(number(ranks[i]) == (ranks_before[i] < 0 ? -1 : new_ranks[ranks_before[i]]));
    for (int i = 0; i < LOCAL; i++)
        CHECK(number(local[i]) == local_before[i]);
}

static int ended_in_world;

/* Called in MPI_Finalize, where MPI_COMM_WORLD is still what it was. */
static int ends(MPI_Comm comm, int key, void *value, void *extra)
{
    int rank = -1;
    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == new_ranks[old_rank])
        ended_in_world++;
    return MPI_SUCCESS;
}

static int end_of_world(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    if (comm == MPI_COMM_WORLD)
        ended_in_world++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int were = told_rank(), key, failures;
    char *list = argc > 1 ? argv[1] : "0", path[64];
    old_rank = were < 0 ? 0 : were;
    new_ranks = read_order(list);
    note_variables();
    begin(&argc, &argv);
    check_ranks();
    check_groups();
    check_intercommunicators();
    check_attributes();
    check_error_handlers();
    check_names();
    snprintf(path, sizeof path, "/tmp/cartograph-world-%d-%d", (int)strlen(list), world_size);
    check_windows_and_files(argc > 2 ? argv[2] : path);
    check_topologies();
    check_sessions();
    check_variables();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ends, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_world, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    failures = finish();
    int least = 2;
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
    /* Open MPI 5.0.11 alone shows it to one of them, and so it is where world order unchanged. */
    int kept = 1;
    for (int rank = 0; rank < world_size; rank++)
        kept = kept && new_ranks[rank] == rank;
    least = kept ? 1 : 2;
#endif
    if (ended_in_world < least) {
        fprintf(stderr, "rank %d: MPI_Finalize: %d callbacks of 2 see the world\n", world_rank, ended_in_world);
        return 1;
    }
    return failures;
}
