/* A program may query topologies, communicate, and create grids in callbacks of its attributes, while their
 * communicator is copied or freed. It gets the same results as on the bare host, and loses no attribute. */
#include "../check.h"

/* With more than a few attributes, Open MPI may delete the topology of a duplicate before the attributes of the
 * program. */
enum { ROUNDS = 20, FEW_KEYS = 12, MOST_KEYS = 24 };

/* The actions of the callbacks; some only while copying. */
static enum { ASKS, ASKS_IN_COPIES, MAPS, SENDS_IN_COPIES, CREATES, EXCHANGES } does;

static int keys[MOST_KEYS], values[MOST_KEYS], copied, deleted, refuses, kinds_wrong, expected;
static MPI_Comm ring;

static int kind_of(MPI_Comm comm)
{
    int kind = -1;
    MPI_Topo_test(comm, &kind);
    return kind;
}

static const char *name_of(int kind)
{
    return kind == MPI_CART ? "grid" : kind == MPI_UNDEFINED ? "none" : "other";
}

static MPI_Comm grid_on(MPI_Comm comm)
{
    int size, ones[1] = { 1 };
    MPI_Comm grid = MPI_COMM_NULL;
    MPI_Comm_size(comm, &size);
    CHECK(MPI_Cart_create(comm, 1, &size, ones, 0, &grid) == MPI_SUCCESS);
    return grid;
}

static void act(MPI_Comm comm)
{
    int size, rank, new_rank, ones[1] = { 1 }, sent[4], got[4];
    MPI_Comm made;
    switch (does) {
    case ASKS:
    case ASKS_IN_COPIES:
        kinds_wrong += kind_of(comm) != expected;
        break;
    case MAPS:
        MPI_Comm_size(comm, &size), MPI_Comm_rank(comm, &rank);
        CHECK(MPI_Cart_map(comm, 1, &size, ones, &new_rank) == MPI_SUCCESS && new_rank == rank);
        break;
    case SENDS_IN_COPIES:
        MPI_Comm_rank(comm, &rank);
        CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, rank, 1, got, 1, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        break;
    case CREATES:
        made = grid_on(comm);
        CHECK(kind_of(made) == MPI_CART);
        MPI_Comm_free(&made);
        break;
    case EXCHANGES:
        for (int i = 0; i < 4; i++)
            sent[i] = 10 * world_rank + i;
        CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring) == MPI_SUCCESS);
        CHECK(got[0] == 10 * ((world_rank + world_size - 1) % world_size) + 1 && got[2] == sent[3]);
    }
}

static int copy(MPI_Comm comm, int key, void *state, void *value, void *copy, int *flag)
{
    (void)key, (void)state;
    copied++;
    act(comm);
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *state)
{
    (void)state;
    deleted++;
    if (does != ASKS_IN_COPIES && does != SENDS_IN_COPIES)
        act(comm);
    if (refuses && key == keys[0]) {
        refuses = 0;
        return MPI_ERR_OTHER;
    }
    return value ? MPI_SUCCESS : MPI_ERR_INTERN;
}

static void set(MPI_Comm comm, int count)
{
    for (int i = 0; i < count; i++)
        CHECK(MPI_Comm_set_attr(comm, keys[i], &values[i]) == MPI_SUCCESS);
}

/* Communicators without a topology, whose handles grids reuse later. */
static void ask_while_deleted(void)
{
    static const char *ways[] = { "freed", "deleted", "replaced" };
    does = ASKS, expected = MPI_UNDEFINED;
    for (int way = 0; way < 3; way++) {
        int lost = 0;
        kinds_wrong = deleted = 0;
        for (int round = 0; round < ROUNDS; round++) {
            MPI_Comm comm, grid;
            CHECK(MPI_Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS);
            set(comm, 1 + round % 3);
            if (way == 1)
                CHECK(MPI_Comm_delete_attr(comm, keys[0]) == MPI_SUCCESS);
            if (way == 2)
                set(comm, 1);
            CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
            grid = grid_on(MPI_COMM_SELF);
            lost += kind_of(grid) != MPI_CART;
            MPI_Comm_free(&grid);
        }
        say("%s: %d deleted, %d wrong kinds, %d grids lost\n", ways[way], deleted, kinds_wrong, lost);
    }
}

/* All attributes are copied and deleted, whatever their number. */
static void copy_and_delete(const char *what, MPI_Comm of, int most)
{
    int lost = 0, calls_wrong = 0;
    kinds_wrong = 0, expected = of == ring ? MPI_CART : MPI_UNDEFINED;
    for (int count = 1; count <= most; count++) {
        MPI_Comm comm, twin;
        CHECK(MPI_Comm_dup(of, &comm) == MPI_SUCCESS);
        copied = deleted = 0;
        set(comm, count);
        CHECK(MPI_Comm_dup(comm, &twin) == MPI_SUCCESS);
        for (int i = 0; i < count; i++) {
            void *value = NULL;
            int found = 0;
            MPI_Comm_get_attr(twin, keys[i], &value, &found);
            lost += !found || value != &values[i];
        }
        MPI_Comm_free(&comm);
        MPI_Comm_free(&twin);
        calls_wrong += copied != count || deleted != 2 * count;
    }
    say("%s: %d attributes lost, %d with wrong calls, %d wrong kinds\n", what, lost, calls_wrong, kinds_wrong);
}

/* MPI_COMM_SELF has attributes too. */
static void copy_self(void)
{
    int lost = 0;
    does = EXCHANGES;
    copied = 0;
    for (int count = 1; count <= MOST_KEYS; count++) {
        MPI_Comm twin;
        set(MPI_COMM_SELF, count);
        CHECK(MPI_Comm_dup(MPI_COMM_SELF, &twin) == MPI_SUCCESS);
        for (int i = 0; i < count; i++) {
            void *value = NULL;
            int found = 0;
            MPI_Comm_get_attr(twin, keys[i], &value, &found);
            lost += !found || value != &values[i];
        }
        MPI_Comm_free(&twin);
        for (int i = 0; i < count; i++)
            MPI_Comm_delete_attr(MPI_COMM_SELF, keys[i]);
    }
    say("self: %d attributes lost, %d copied\n", lost, copied);
}

/* A grid and its duplicate stay grids until they are freed. */
static void ask_while_grids_go(int count)
{
    MPI_Comm grid, twin, third;
    does = ASKS, expected = MPI_CART;
    kinds_wrong = deleted = 0;
    grid = grid_on(MPI_COMM_WORLD);
    set(grid, count);
    CHECK(MPI_Comm_dup(grid, &twin) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(twin, &third) == MPI_SUCCESS);
    MPI_Comm_free(&grid);
    say("%d on a grid: %d deleted, %d wrong kinds\n", count, deleted, kinds_wrong);
    MPI_Comm_free(&twin);
    say("%d on a duplicate: %d deleted, %d wrong kinds\n", count, deleted, kinds_wrong);
    kind_of(third);
    MPI_Comm_free(&third);
    say("%d on its duplicate: %d deleted, %d wrong kinds\n", count, deleted, kinds_wrong);
}

/* A callback refuses to delete its attribute, and the communicator stays. */
static void refuse(int duplicates)
{
    MPI_Comm grid = grid_on(MPI_COMM_WORLD), other;
    does = ASKS;
    set(grid, 3);
    for (int i = 0; i < duplicates; i++) {
        CHECK(MPI_Comm_dup(grid, &other) == MPI_SUCCESS);
        MPI_Comm_free(&grid);
        grid = other;
    }
    refuses = 1, deleted = 0;
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    int code = MPI_Comm_free(&grid);
    int ndims = -1;
    say("refused after %d duplicates: %d deleted, ", duplicates, deleted);
    /* MPICH 4.0 frees it nevertheless. */
    if (code == MPI_SUCCESS) {
        say("freed\n");
        return;
    }
    say("kept, then %s", name_of(kind_of(grid)));
    if (MPI_Cartdim_get(grid, &ndims) == MPI_SUCCESS) {
        CHECK(MPI_Comm_dup(grid, &other) == MPI_SUCCESS);
        say(" of %d dims, duplicate %s", ndims, name_of(kind_of(other)));
        MPI_Comm_free(&other);
    }
    say(", %s at last\n", MPI_Comm_free(&grid) == MPI_SUCCESS ? "freed" : "kept");
}

int main(int argc, char **argv)
{
    int dims[2] = { 1, 1 }, periods[2] = { 1, 1 };
    begin(&argc, &argv);
    /* Half of the keys are created before the first topology, half after it. */
    for (int i = 0; i < MOST_KEYS / 2; i++)
        MPI_Comm_create_keyval(copy, delete, &keys[i], NULL);
    dims[0] = world_size;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &ring) == MPI_SUCCESS);
    for (int i = MOST_KEYS / 2; i < MOST_KEYS; i++)
        MPI_Comm_create_keyval(copy, delete, &keys[i], NULL);
    does = ASKS_IN_COPIES, copy_and_delete("asked, self", MPI_COMM_SELF, MOST_KEYS);
    does = ASKS_IN_COPIES, copy_and_delete("asked, world", MPI_COMM_WORLD, MOST_KEYS);
    does = ASKS, copy_and_delete("asked, grid", ring, FEW_KEYS);
    does = MAPS, copy_and_delete("mapped", MPI_COMM_WORLD, MOST_KEYS);
    does = SENDS_IN_COPIES, copy_and_delete("sent", MPI_COMM_SELF, MOST_KEYS);
    does = CREATES, copy_and_delete("created", MPI_COMM_WORLD, MOST_KEYS);
    does = CREATES, copy_and_delete("created on a grid", ring, MOST_KEYS);
    copy_self();
    ask_while_deleted();
    ask_while_grids_go(1);
    ask_while_grids_go(FEW_KEYS);
    for (int duplicates = 0; duplicates < 3; duplicates++)
        refuse(duplicates);
    MPI_Comm_free(&ring);
    for (int i = 0; i < MOST_KEYS; i++)
        MPI_Comm_free_keyval(&keys[i]);
    return finish();
}
