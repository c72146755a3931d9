/* Collectives on a topology that got the last communicator of the host. */
#include "neighbor_calls.h"

enum { MOST = 4096 };

static int told;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    told++;
}

int main(int argc, char **argv)
{
    static MPI_Comm taken[MOST];
    static const int periods[2] = { 0, 1 };
    int count = 0, left;
    MPI_Comm comm;
    MPI_Errhandler counting;
    begin(&argc, &argv);
    while (count < MOST && MPI_Comm_dup(MPI_COMM_WORLD, &taken[count]) == MPI_SUCCESS)
        count++;
    if (count == MOST) {
        while (count)
            MPI_Comm_free(&taken[--count]);
        if (world_rank == 0)
            printf("ignored: the host has room for more than %d communicators\n", MOST);
        return MPI_Finalize();
    }
    CHECK(count > 100);
    MPI_Comm_free(&taken[--count]);
    const int dims[2] = { world_size, 1 };
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm) == MPI_SUCCESS);
    MPI_Comm_create_errhandler(handler, &counting);
    MPI_Comm_set_errhandler(comm, counting);
    left = world_rank - 1;
    for (enum mode mode = BLOCKING; mode <= PERSISTENT; mode++) {
        int sent[4] = { 0, 10 * world_rank + 1, 2, 3 }, got[4] = { -1, -1, -1, -1 };
        struct side send = { .buffer = sent, .count = 1, .type = MPI_INT };
        struct side receive = { .buffer = got, .count = 1, .type = MPI_INT };
        MPI_Request request;
        CHECK(call(ALLTOALL, mode, &send, &receive, comm, &request) == MPI_SUCCESS);
        if (mode == PERSISTENT)
            CHECK(MPI_Start(&request) == MPI_SUCCESS);
        if (mode != BLOCKING)
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        if (mode == PERSISTENT)
            MPI_Request_free(&request);
        CHECK(got[0] == (left < 0 ? -1 : 10 * left + 1) && got[2] == 3 && got[3] == 2 && told == 0);
    }
    MPI_Errhandler_free(&counting);
    MPI_Comm_free(&comm);
    while (count)
        MPI_Comm_free(&taken[--count]);
    return finish();
}
