/* Collectives while a communicator is being created: by MPI_Comm_idup, which is pending on rank 0 only, and by
 * another thread, which waits in MPI_Comm_dup. No collective may wait for them. */
#include "neighbor_calls.h"

#include <pthread.h>

static int delivers(MPI_Comm comm, enum mode mode)
{
    int sent[4], got[4] = { -1, -1, -1, -1 }, left = (world_rank + world_size - 1) % world_size;
    struct side send = { .buffer = sent, .count = 1, .type = MPI_INT };
    struct side receive = { .buffer = got, .count = 1, .type = MPI_INT };
    MPI_Request request;
    for (int i = 0; i < 4; i++)
        sent[i] = 10 * world_rank + i;
    int good = call(ALLTOALL, mode, &send, &receive, comm, &request) == MPI_SUCCESS;
    if (mode == PERSISTENT)
        good &= MPI_Start(&request) == MPI_SUCCESS;
    if (mode != BLOCKING)
        good &= MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (mode == PERSISTENT)
        MPI_Request_free(&request);
    return good && got[0] == 10 * left + 1 && got[1] == 10 * ((world_rank + 1) % world_size)
        && got[2] == 10 * world_rank + 3 && got[3] == 10 * world_rank + 2;
}

/* A new grid on which each process is its own neighbor, and its duplicate. */
static void make(MPI_Comm comms[2])
{
    const int dims[2] = { world_size, 1 }, periods[2] = { 1, 1 };
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comms[0]) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(comms[0], &comms[1]) == MPI_SUCCESS);
}

static void duplicate(enum mode mode, int which)
{
    MPI_Comm comms[2], made;
    MPI_Request request;
    make(comms);
    if (world_rank == 0)
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    CHECK(delivers(comms[which], mode));
    if (world_rank != 0)
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made), MPI_Comm_free(&comms[1]), MPI_Comm_free(&comms[0]);
}

static MPI_Comm base, made_by_thread;

static void *thread(void *unused)
{
    MPI_Comm_dup(base, &made_by_thread);
    return unused;
}

static void beside_a_thread(enum mode mode, int which)
{
    MPI_Comm comms[2];
    pthread_t other;
    make(comms);
    if (world_rank == 0)
        pthread_create(&other, NULL, thread, NULL);
    CHECK(delivers(comms[which], mode));
    if (world_rank == 0)
        pthread_join(other, NULL);
    else
        thread(NULL);
    MPI_Comm_free(&made_by_thread), MPI_Comm_free(&comms[1]), MPI_Comm_free(&comms[0]);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    for (enum mode mode = BLOCKING; mode <= PERSISTENT; mode++)
        for (int which = 0; which < 2; which++) {
            duplicate(mode, which);
            if (provided == MPI_THREAD_MULTIPLE)
                beside_a_thread(mode, which);
        }
    MPI_Comm_free(&base);
    return finish();
}
