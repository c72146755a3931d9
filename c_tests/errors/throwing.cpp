// An error handler that throws: the exception reaches the call of the program, from each kind of function, many times, and
// the communicator still works.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

static int passed, failed, rank;

#define CHECK(condition) check((condition), #condition, __LINE__)

static void check(bool holds, const char *condition, int line)
{
    passed += holds;
    failed += !holds;
    if (!holds)
        fprintf(stderr, "rank %d: %s:%d: failed: %s\n", rank, __FILE__, line, condition);
}

static void throws(MPI_Comm *, int *, ...)
{
    throw std::runtime_error("of the handler");
}

template <typename Call> static bool is_thrown(Call call)
{
    try {
        call();
    } catch (const std::runtime_error &) {
        return true;
    }
    return false;
}

// The memory of this process, in bytes.
static long memory()
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        CHECK(fscanf(file, "%ld %ld", &pages, &resident) == 2);
        fclose(file);
    }
    return resident * 4096;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int size, total;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(throws, &handler);
    int dims[] = { size }, periods[] = { 1 }, wrong[] = { -1 }, coords[1], sent[2] = { rank, rank }, received[2];
    MPI_Comm grid, made = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(grid, handler);

    const int rounds = 4000;
    long before = 0;
    for (int round = 0; round < rounds; round++) {
        if (round == rounds / 10)
            before = memory();
        MPI_Request request = MPI_REQUEST_NULL;
        bool all = is_thrown([&] { MPI_Cart_coords(grid, size, 1, coords); });
        all &= is_thrown([&] { MPI_Topo_test(grid, nullptr); });
        all &= is_thrown([&] { MPI_Cart_create(MPI_COMM_WORLD, 1, wrong, periods, 0, &made); });
        all &= is_thrown([&] { MPI_Neighbor_alltoall(sent, -1, MPI_INT, received, 1, MPI_INT, grid); });
        all &= is_thrown([&] { MPI_Ineighbor_alltoall(sent, -1, MPI_INT, received, 1, MPI_INT, grid, &request); });
        if (!all) {
            CHECK(!"each call throws");
            break;
        }
    }
    long grown = memory() - before;
    CHECK(MPI_Cart_coords(grid, rank, 1, coords) == MPI_SUCCESS && coords[0] == rank);
    CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, grid) == MPI_SUCCESS);
    CHECK(received[0] == (rank + size - 1) % size && received[1] == (rank + 1) % size);
    if (grown > 400000)
        fprintf(stderr, "rank %d: %ld bytes\n", rank, grown);
    CHECK(grown <= 400000);

    MPI_Comm_free(&grid);
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Reduce(&passed, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    int all_failed = 0;
    MPI_Reduce(&failed, &all_failed, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d passed, %d failed\n", total, all_failed);
    MPI_Finalize();
    return all_failed != 0;
}
