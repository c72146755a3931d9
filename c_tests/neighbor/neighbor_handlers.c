/* A thread changes and reads the error handler of a communicator (MPI_THREAD_MULTIPLE), while another thread runs
 * neighborhood collectives on it: the library never sets a handler. With "wrong" every second datatype is null,
 * and the handler is called once for each. */
#define _GNU_SOURCE
#include "neighbor_calls.h"

#include <dlfcn.h>
#include <pthread.h>

enum { ROUNDS = 4000, CHANGES = 400000 };

static MPI_Comm grid = MPI_COMM_NULL;
static MPI_Errhandler handlers[2];
static int told, set, is_over, wrong, others_wrong, expects_errors;

/* The library calls this function; the program calls MPI_Comm_set_errhandler. */
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    static __typeof__(&PMPI_Comm_set_errhandler) host;
    if (!host)
        *(void **)&host = dlsym(RTLD_NEXT, "PMPI_Comm_set_errhandler");
    if (comm == grid)
        __atomic_add_fetch(&set, 1, __ATOMIC_RELAXED);
    return host(comm, handler);
}

static void tell(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    __atomic_add_fetch(*comm == grid ? &told : &wrong, 1, __ATOMIC_RELAXED);
}

static void tell_too(MPI_Comm *comm, int *code, ...)
{
    tell(comm, code);
}

/* A derived type is checked again in each call. */
static void *communicate(void *argument)
{
    int sent[2] = { 1, 2 }, got[2], expected = 0;
    MPI_Datatype type, none = MPI_DATATYPE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    (void)argument;
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int round = 0; round < ROUNDS; round++) {
        int is_wrong = expects_errors && round % 2;
        int code = MPI_Ineighbor_alltoall(sent, 1, is_wrong ? none : type, got, 1, type, grid, &request);
        others_wrong += (code != MPI_SUCCESS) != is_wrong;
        if (!is_wrong)
            others_wrong += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        expected += is_wrong;
        others_wrong += __atomic_load_n(&told, __ATOMIC_RELAXED) != expected;
    }
    MPI_Type_free(&type);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *change(void *argument)
{
    for (int round = 0; round < CHANGES && !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); round++) {
        MPI_Errhandler found;
        MPI_Comm_set_errhandler(grid, handlers[round % 2]);
        MPI_Comm_get_errhandler(grid, &found);
        wrong += found != handlers[round % 2];
        MPI_Errhandler_free(&found);
    }
    return argument;
}

int main(int argc, char **argv)
{
    int provided, ones[1] = { 1 };
    pthread_t threads[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    expects_errors = argc > 1 && strcmp(argv[1], "wrong") == 0;
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("ignored: the host has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_create_errhandler(tell, &handlers[0]);
    MPI_Comm_create_errhandler(tell_too, &handlers[1]);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, ones, 0, &grid) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(grid, handlers[0]);
    CHECK(pthread_create(&threads[0], NULL, communicate, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, change, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    if (!CHECK(set == 0 && wrong == 0 && others_wrong == 0))
        fprintf(stderr, "%d handlers and %d calls wrong, %d told, %d set\n", wrong, others_wrong, told, set);
    MPI_Comm_free(&grid);
    for (int i = 0; i < 2; i++)
        MPI_Errhandler_free(&handlers[i]);
    return finish();
}
