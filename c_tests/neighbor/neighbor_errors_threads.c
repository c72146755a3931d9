/* Errors in several threads at once (MPI_THREAD_MULTIPLE): two threads receive messages that are too long in
 * neighborhood collectives, while a third causes errors on MPI_COMM_WORLD and MPI_COMM_SELF and changes their
 * handlers. Each handler is called only for its own communicator, and the handlers of the third thread stay to the
 * end. */
#include "neighbor_calls.h"

#include <pthread.h>

enum { GRIDS = 2, ROUNDS = 2000, ROOM = 4, CHANGES = 8 };

static MPI_Comm grids[GRIDS];
static int grids_told[GRIDS], others_told[2][2], strangers_told;
static MPI_Errhandler grid_handler, handlers[2];

static void told_on_grid(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    int known = 0;
    for (int i = 0; i < GRIDS; i++)
        if (*comm == grids[i])
            known = 1, __atomic_add_fetch(&grids_told[i], 1, __ATOMIC_RELAXED);
    if (!known)
        __atomic_add_fetch(&strangers_told, 1, __ATOMIC_RELAXED);
}

#define HANDLER(number)                                                          \
    static void told##number(MPI_Comm *comm, int *code, ...)                     \
    {                                                                            \
        (void)code;                                                              \
        int self = *comm == MPI_COMM_SELF;                                       \
        if (!self && *comm != MPI_COMM_WORLD)                                    \
            __atomic_add_fetch(&strangers_told, 1, __ATOMIC_RELAXED);            \
        else                                                                     \
            __atomic_add_fetch(&others_told[number][self], 1, __ATOMIC_RELAXED); \
    }
HANDLER(0)
HANDLER(1)

struct work {
    pthread_t thread;
    int number, wrong, expected;
};

static void *too_long(void *argument)
{
    struct work *work = argument;
    int sent[2 * ROOM], got[2 * ROOM], displs[2] = { 0, ROOM }, full[2] = { ROOM, ROOM }, one[2] = { 1, 1 };
    for (int i = 0; i < 2 * ROOM; i++)
        sent[i] = 100 * work->number + i;
    for (int round = 0; round < ROUNDS; round++) {
        int tight = world_rank == 0 && round % 2;
        int code = MPI_Neighbor_alltoallv(sent, full, displs, MPI_INT, got, tight ? one : full, displs, MPI_INT,
                                          grids[work->number]);
        /* MPICH 5 may lose the class of simultaneous errors of two threads ("Ring ids do not match"). */
        work->wrong += (code != MPI_SUCCESS) != tight;
        work->wrong += !tight && (got[0] != sent[ROOM] || got[ROOM] != sent[0]);
        work->expected += tight;
    }
    return NULL;
}

/* A send to a rank out of range. */
static void *elsewhere(void *argument)
{
    struct work *work = argument;
    for (int round = 0; round < ROUNDS; round++) {
        int self = round % 2, now = round / CHANGES % 2;
        MPI_Comm comm = self ? MPI_COMM_SELF : MPI_COMM_WORLD;
        int before = __atomic_load_n(&others_told[now][self], __ATOMIC_RELAXED);
        if (round % CHANGES == 0)
            for (int i = 0; i < 2; i++)
                MPI_Comm_set_errhandler(i ? MPI_COMM_SELF : MPI_COMM_WORLD, handlers[now]);
        MPI_Send(&round, 1, MPI_INT, world_size, 0, comm);
        work->wrong += __atomic_load_n(&others_told[now][self], __ATOMIC_RELAXED) != before + 1;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, ones[1] = { 1 };
    struct work work[GRIDS + 1] = { 0 };
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("ignored: the host has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_create_errhandler(told_on_grid, &grid_handler);
    MPI_Comm_create_errhandler(told0, &handlers[0]);
    MPI_Comm_create_errhandler(told1, &handlers[1]);
    for (int i = 0; i < GRIDS; i++) {
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, ones, 0, &grids[i]) == MPI_SUCCESS);
        MPI_Comm_set_errhandler(grids[i], grid_handler);
    }
    for (int i = 0; i <= GRIDS; i++) {
        work[i].number = i;
        CHECK(pthread_create(&work[i].thread, NULL, i < GRIDS ? too_long : elsewhere, &work[i]) == 0);
    }
    for (int i = 0; i <= GRIDS; i++) {
        CHECK(pthread_join(work[i].thread, NULL) == 0);
        if (!CHECK(work[i].wrong == 0))
            fprintf(stderr, "thread %d: %d wrong\n", i, work[i].wrong);
        if (i < GRIDS && !CHECK(grids_told[i] == work[i].expected))
            fprintf(stderr, "grid %d: told %d of %d\n", i, grids_told[i], work[i].expected);
    }
    CHECK(strangers_told == 0);
    for (int self = 0; self < 2; self++) {
        MPI_Errhandler last;
        MPI_Comm_get_errhandler(self ? MPI_COMM_SELF : MPI_COMM_WORLD, &last);
        CHECK(last == handlers[(ROUNDS - 1) / CHANGES % 2]);
        MPI_Errhandler_free(&last);
        if (!CHECK(others_told[0][self] + others_told[1][self] == ROUNDS / 2))
            fprintf(stderr, "told %d and %d\n", others_told[0][self], others_told[1][self]);
        MPI_Comm_set_errhandler(self ? MPI_COMM_SELF : MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    for (int i = 0; i < GRIDS; i++)
        MPI_Comm_free(&grids[i]);
    MPI_Errhandler_free(&grid_handler);
    for (int i = 0; i < 2; i++)
        MPI_Errhandler_free(&handlers[i]);
    return finish();
}
