/* Neighborhood collectives on different communicators from several threads at once, including duplicates, which
 * share a topology, and several grids on one communicator. */
#include "neighbor_calls.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60 };

struct work {
    int number;
    MPI_Comm base, shared, sibling;
    int wrong;
};

static void set(int *sent, int rank, int number)
{
    for (int i = 0; i < 4; i++)
        sent[i] = 1000 * rank + 2 * number + i;
}

/* On a periodic ring a block from the left was sent to the right. Each process is its own neighbor in the second
 * dimension. */
static int wrong(const int *got, MPI_Comm comm, int number)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    return (got[0] != 1000 * left + 2 * number + 1) + (got[1] != 1000 * right + 2 * number)
        + (got[2] != 1000 * rank + 2 * number + 3) + (got[3] != 1000 * rank + 2 * number + 2);
}

static int every_way(MPI_Comm comm, int number)
{
    int rank, sent[3][4], got[3][4], counts[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 1, 2, 3 }, count = 0;
    MPI_Request requests[2];
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 3; i++)
        set(sent[i], rank, number + i), memset(got[i], -1, sizeof got[i]);
    MPI_Ineighbor_alltoallv(sent[0], counts, displs, MPI_INT, got[0], counts, displs, MPI_INT, comm,
                            &requests[count++]);
#if HAS_INIT
    MPI_Neighbor_alltoall_init(sent[1], 1, MPI_INT, got[1], 1, MPI_INT, comm, MPI_INFO_NULL,
                               &requests[1]);
    MPI_Start(&requests[1]);
#else
    MPI_Ineighbor_alltoall(sent[1], 1, MPI_INT, got[1], 1, MPI_INT, comm, &requests[1]);
#endif
    MPI_Neighbor_alltoall(sent[2], 1, MPI_INT, got[2], 1, MPI_INT, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
#if HAS_INIT
    MPI_Request_free(&requests[1]);
#endif
    return wrong(got[0], comm, number) + wrong(got[1], comm, number + 1) +
           wrong(got[2], comm, number + 2);
}

/* All thirty functions, each thread starting with another one. */
static int every_function(MPI_Comm comm, int number)
{
    static const int place[4] = { 1, 0, 3, 2 };
    int rank, found = 0, sent[4], got[4];
    struct side s = { .buffer = sent, .count = 1, .type = MPI_INT }, r = { .buffer = got, .count = 1, .type = MPI_INT };
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 4; i++) {
        s.counts[i] = r.counts[i] = 1;
        s.displs[i] = r.displs[i] = i;
        s.distances[i] = r.distances[i] = i * (MPI_Aint)sizeof(int);
        s.types[i] = r.types[i] = MPI_INT;
    }
    for (int i = 0; i < OPERATIONS * MODES * 2; i++) {
        enum operation operation = (enum operation)((i + number) % OPERATIONS);
        enum mode mode = (enum mode)(i / OPERATIONS % MODES);
        int gathers = operation == ALLGATHER || operation == ALLGATHERV, large = i / (OPERATIONS * MODES);
        MPI_Request request = MPI_REQUEST_NULL;
        set(sent, rank, number), memset(got, -1, sizeof got);
        int code = (large ? call_large : call)(operation, mode, &s, &r, comm, &request);
        if (mode == PERSISTENT && code == MPI_SUCCESS)
            code = MPI_Start(&request);
        if (mode != BLOCKING && code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (mode == PERSISTENT && request != MPI_REQUEST_NULL)
            MPI_Request_free(&request);
        /* Each gathered block is the first block of its sender. */
        for (int j = 0; gathers && j < 4; j++)
            got[j] += place[j];
        found += code != MPI_SUCCESS || wrong(got, comm, number);
    }
    return found;
}

/* Often enough for threads to overlap. */
static int along_a_line(MPI_Comm comm, int number)
{
    int rank, size, found = 0;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    for (int i = 0; i < 3000; i++) {
        int sent[2] = { 1000 * rank + number, 1000 * rank + number + 1 }, got[2] = { -1, -1 };
        MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
        found += got[0] != (rank ? 1000 * (rank - 1) + number + 1 : -1);
        found += got[1] != (rank < size - 1 ? 1000 * (rank + 1) + number : -1);
    }
    return found;
}

static void *run(void *argument)
{
    struct work *work = argument;
    int dims[2] = { 1, 1 }, ones[2] = { 1, 1 };
    work->wrong += along_a_line(work->sibling, 100 * work->number);
    MPI_Comm_size(work->base, &dims[0]);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm fresh;
        work->wrong += every_way(work->shared, 10 * round + work->number);
        if (round % 10)
            continue;
        work->wrong += every_function(work->shared, 10 * round + work->number);
        if (MPI_Cart_create(work->base, 2, dims, ones, 0, &fresh) != MPI_SUCCESS)
            work->wrong++;
        else {
            work->wrong += every_way(fresh, round);
            MPI_Comm_free(&fresh);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, dims[2] = { 1, 1 }, ones[2] = { 1, 1 }, zeros[1] = { 0 };
    struct work work[THREADS];
    pthread_t threads[THREADS];
    MPI_Comm ring;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("ignored: the host has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    dims[0] = world_size;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, ones, 0, &ring) == MPI_SUCCESS);
    for (int i = 0; i < THREADS; i++) {
        work[i].number = i, work[i].wrong = 0;
        CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &work[i].base) == MPI_SUCCESS);
        CHECK(MPI_Comm_dup(ring, &work[i].shared) == MPI_SUCCESS);
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, zeros, 0, &work[i].sibling) == MPI_SUCCESS);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, &work[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(work[i].wrong == 0);
        MPI_Comm_free(&work[i].base), MPI_Comm_free(&work[i].shared), MPI_Comm_free(&work[i].sibling);
    }
    MPI_Comm_free(&ring);
    return finish();
}
