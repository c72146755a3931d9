/* Reused handles: a communicator is freed, and another one with another topology or none gets its handle. Queries
 * must describe the new communicator: after a free, after a dup and a free of the original, after a free in a
 * callback of an attribute, and with several threads at once. */
#include "worker.h"

enum { THREADS = 6, ROUNDS = 300, LIVE = 40, KINDS = 5 };

/* Counts for each thread how often it got the handle of a communicator that it had just freed. */
static int reused[THREADS];

/* A communicator that its kind and number identify. */
struct made {
    MPI_Comm comm;
    int kind, number;
};

static void make(struct worker *me, struct made *made, int kind, int number)
{
    int ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, zeros[8] = { 0 }, index[1] = { number };
    MPI_Comm whole;
    made->kind = kind, made->number = number;
    switch (kind) {
    case 0:
        HOLDS(MPI_Cart_create(me->comm, number, ones, zeros, 0, &made->comm) == MPI_SUCCESS);
        break;
    case 1:
        HOLDS(MPI_Graph_create(me->comm, 1, index, zeros, 0, &made->comm) == MPI_SUCCESS);
        break;
    case 2:
        HOLDS(MPI_Dist_graph_create_adjacent(me->comm, number, zeros, zeros, number, zeros,
                                             zeros, MPI_INFO_NULL, 0, &made->comm)
              == MPI_SUCCESS);
        break;
    case 3:
        HOLDS(MPI_Comm_dup(me->comm, &made->comm) == MPI_SUCCESS);
        break;
    default:
        /* A duplicate whose original is freed. */
        HOLDS(MPI_Cart_create(me->comm, number, ones, zeros, 0, &whole) == MPI_SUCCESS);
        HOLDS(MPI_Comm_dup(whole, &made->comm) == MPI_SUCCESS);
        HOLDS(MPI_Comm_free(&whole) == MPI_SUCCESS);
    }
}

static void look(struct worker *me, const struct made *made)
{
    int status = -1, found = -1, more = -1, weighted = -1, dims[8], periods[8], coords[8];
    HOLDS(MPI_Topo_test(made->comm, &status) == MPI_SUCCESS);
    switch (made->kind) {
    case 1:
        HOLDS(status == MPI_GRAPH);
        HOLDS(MPI_Graph_neighbors_count(made->comm, 0, &found) == MPI_SUCCESS);
        HOLDS(found == made->number);
        break;
    case 2:
        HOLDS(status == MPI_DIST_GRAPH);
        HOLDS(MPI_Dist_graph_neighbors_count(made->comm, &found, &more, &weighted) == MPI_SUCCESS);
        HOLDS(found == made->number && more == found && weighted == 1);
        break;
    case 3:
        HOLDS(status == MPI_UNDEFINED);
        HOLDS(class_of(MPI_Cartdim_get(made->comm, &found)) == MPI_ERR_TOPOLOGY);
        break;
    default:
        HOLDS(status == MPI_CART);
        HOLDS(MPI_Cartdim_get(made->comm, &found) == MPI_SUCCESS && found == made->number);
        HOLDS(MPI_Cart_get(made->comm, 8, dims, periods, coords) == MPI_SUCCESS);
        HOLDS(coords[made->number - 1] == 0 && dims[0] == 1);
    }
}

/* ---- One after the other, and many at once ---- */

static void *come_and_go(void *argument)
{
    struct worker *me = argument;
    struct made all[LIVE] = { 0 };
    MPI_Comm last = MPI_COMM_NULL;
    for (int round = 0; round < ROUNDS; round++) {
        struct made one;
        make(me, &one, (round + me->index) % KINDS, 1 + round % 7);
        reused[me->index] += one.comm == last;
        /* Twice, since the second result may come from a cache. */
        look(me, &one);
        look(me, &one);
        last = one.comm;
        HOLDS(MPI_Comm_free(&one.comm) == MPI_SUCCESS);
    }
    /* More communicators than a cache holds, replaced one by one. */
    for (int i = 0; i < LIVE; i++)
        make(me, &all[i], (i + me->index) % KINDS, 1 + i % 7);
    for (int round = 0; round < ROUNDS; round++) {
        struct made *one = &all[round * 7 % LIVE];
        last = one->comm;
        HOLDS(MPI_Comm_free(&one->comm) == MPI_SUCCESS);
        make(me, one, (round + one->kind + 1) % KINDS, 1 + (round + me->index) % 7);
        reused[me->index] += one->comm == last;
        look(me, one);
        look(me, &all[round * 3 % LIVE]);
    }
    for (int i = 0; i < LIVE; i++) {
        look(me, &all[i]);
        HOLDS(MPI_Comm_free(&all[i].comm) == MPI_SUCCESS);
    }
    return NULL;
}

/* ---- In callbacks ---- */

static int called;

/* Frees the communicator in the value of the attribute, and queries the communicator being freed, which still
 * works. */
static int free_other(MPI_Comm comm, int keyval, void *value, void *state)
{
    struct worker *me = state;
    struct made *other = value;
    int ndims = -1;
    (void)keyval;
    called++;
    HOLDS(MPI_Cartdim_get(comm, &ndims) == MPI_SUCCESS && ndims == 3);
    look(me, other);
    HOLDS(MPI_Comm_free(&other->comm) == MPI_SUCCESS);
    /* The new communicator may get the handle at once. */
    make(me, other, (other->kind + 1) % KINDS, other->number);
    look(me, other);
    HOLDS(MPI_Cartdim_get(comm, &ndims) == MPI_SUCCESS && ndims == 3);
    return MPI_SUCCESS;
}

static void inside_of_callbacks(struct worker *me)
{
    int keyval;
    HOLDS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_other, &keyval, me) == MPI_SUCCESS);
    for (int round = 0; round < ROUNDS; round++) {
        struct made outer, other, next;
        make(me, &outer, 0, 3);
        make(me, &other, round % KINDS, 1 + round % 7);
        HOLDS(MPI_Comm_set_attr(outer.comm, keyval, &other) == MPI_SUCCESS);
        look(me, &outer);
        look(me, &other);
        HOLDS(MPI_Comm_free(&outer.comm) == MPI_SUCCESS);
        make(me, &next, (round + 2) % KINDS, 1 + round % 5);
        look(me, &next);
        look(me, &other);
        HOLDS(MPI_Comm_free(&next.comm) == MPI_SUCCESS);
        HOLDS(MPI_Comm_free(&other.comm) == MPI_SUCCESS);
    }
    HOLDS(called == ROUNDS);
    HOLDS(MPI_Comm_free_keyval(&keyval) == MPI_SUCCESS);
}

/* ---- The rank of the caller ---- */

/* Parts of the world with different ranks of a process, under reused handles. */
static void own_place(struct worker *me)
{
    for (int round = 0; round < 50; round++) {
        int reverse = round & 1, rank, size, dims[1], periods[1], coords[1], source, dest;
        MPI_Comm turned, grid, dup;
        MPI_Comm_split(MPI_COMM_WORLD, 0, reverse ? -world_rank : world_rank, &turned);
        MPI_Comm_size(turned, &size);
        dims[0] = size, periods[0] = 1;
        HOLDS(MPI_Cart_create(turned, 1, dims, periods, 0, &grid) == MPI_SUCCESS);
        MPI_Comm_rank(grid, &rank);
        HOLDS(rank == (reverse ? world_size - 1 - world_rank : world_rank));
        HOLDS(MPI_Comm_dup(grid, &dup) == MPI_SUCCESS);
        for (int i = 0; i < 2; i++) {
            HOLDS(MPI_Cart_get(i ? dup : grid, 1, dims, periods, coords) == MPI_SUCCESS);
            HOLDS(coords[0] == rank);
            HOLDS(MPI_Cart_shift(i ? dup : grid, 0, 1, &source, &dest) == MPI_SUCCESS);
            HOLDS(dest == (rank + 1) % size && source == (rank + size - 1) % size);
        }
        MPI_Comm_free(&grid);
        MPI_Comm_free(&turned);
        MPI_Comm_free(&dup);
    }
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    int provided, threads, reuses = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    threads = provided < MPI_THREAD_MULTIPLE ? 1 : THREADS;
    for (int i = 0; i < threads; i++) {
        workers[i].index = i;
        MPI_Comm_dup(MPI_COMM_SELF, &workers[i].comm);
        MPI_Comm_set_errhandler(workers[i].comm, MPI_ERRORS_RETURN);
    }
    come_and_go(&workers[0]);
    inside_of_callbacks(&workers[0]);
    own_place(&workers[0]);
    run(come_and_go, workers, threads);
    collect(workers, threads);
    for (int i = 0; i < threads; i++)
        reuses += reused[i];
    say("handles: %d threads; communicators got the handle of one just freed %s\n", threads,
        reuses > ROUNDS ? "often" : reuses > 0 ? "at times" : "never");
    /* Otherwise this program tested nothing. */
    CHECK(reuses > 0);
    return finish();
}
