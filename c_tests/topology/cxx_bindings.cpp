// The C++ bindings of MPI-2.2: inline functions and a library of the host on top of the C names. With the argument
// `ours`, checks that Cartograph defines these names.
#include <mpi.h>

#include <cstring>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static int rank, size, passed, failed;
static std::ostringstream said;

#define CHECK(condition) check((condition), #condition, __LINE__)

static void check(bool holds, const char *condition, int line)
{
    if (holds) {
        passed++;
        return;
    }
    failed++;
    std::cerr << "rank " << rank << ": " << __FILE__ << ":" << line << ": failed: " << condition
              << std::endl;
}

static void say(const std::string &label, const int *values, int count)
{
    said << "rank " << rank << " " << label << ":";
    for (int i = 0; i < count; i++)
        said << " " << values[i];
    said << "\n";
}

// Queries one grid. The clone, the duplicate and the original must give the same results.
static void query(const std::string &name, const MPI::Cartcomm &grid)
{
    int dims[2] = { -1, -1 }, coords[2], back[2], source, dest;
    bool periods[2] = { false, true };
    CHECK(grid.Get_topology() == MPI::CART);
    CHECK(grid.Get_dim() == 2);
    grid.Get_topo(2, dims, periods, coords);
    CHECK(periods[0] && !periods[1]);
    say(name + " dims", dims, 2);
    say(name + " coords", coords, 2);
    for (int r = 0; r < grid.Get_size(); r++) {
        grid.Get_coords(r, 2, back);
        CHECK(grid.Get_cart_rank(back) == r);
    }
    for (int direction = 0; direction < 2; direction++) {
        grid.Shift(direction, 1, source, dest);
        int both[2] = { source, dest };
        say(name + " shift", both, 2);
    }
    CHECK((dest == MPI::PROC_NULL) == (coords[1] == dims[1] - 1));
}

static void grids(bool ours)
{
    int dims[2] = { 0, 0 }, dims_72[2] = { 0, 0 }, length[1], coords[2];
    const bool periods[2] = { true, false }, remain[2] = { false, true };
    bool periodic[1];
    MPI::Compute_dims(72, 2, dims_72);
    say("72 in two dimensions", dims_72, 2);
    if (ours)
        CHECK(dims_72[0] == 9 && dims_72[1] == 8);
    MPI::Compute_dims(size, 2, dims);
    MPI::Cartcomm grid = MPI::COMM_WORLD.Create_cart(2, dims, periods, false);
    query("grid", grid);
    MPI::Cartcomm dup = grid.Dup();
    query("dup", dup);
    MPI::Cartcomm &clone = grid.Clone();
    query("clone", clone);

    MPI::Cartcomm row = clone.Sub(remain);
    CHECK(row.Get_dim() == 1);
    row.Get_topo(1, length, periodic, coords);
    CHECK(length[0] == dims[1] && !periodic[0]);
    say("row coords", coords, 1);

    // Each grid includes all processes.
    int mapped = grid.Map(2, dims, periods);
    CHECK(mapped >= 0 && mapped < size);
    MPI::Cartcomm reordered = MPI::COMM_WORLD.Create_cart(2, dims, periods, true);
    reordered.Get_coords(reordered.Get_rank(), 2, coords);
    CHECK(reordered.Get_cart_rank(coords) == reordered.Get_rank());

    reordered.Free();
    row.Free();
    clone.Free();
    delete &clone;
    dup.Free();
    grid.Free();
    CHECK(grid == MPI::COMM_NULL);
}

static void graphs()
{
    std::vector<int> index(size), edges(2 * size), ends(size), found(2 * size);
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI::Graphcomm ring = MPI::COMM_WORLD.Create_graph(size, &index[0], &edges[0], false);
    MPI::Graphcomm &clone = ring.Clone();
    MPI::Graphcomm dup = clone.Dup();
    int counts[2];
    CHECK(dup.Get_topology() == MPI::GRAPH);
    dup.Get_dims(&counts[0], &counts[1]);
    CHECK(counts[0] == size && counts[1] == 2 * size);
    dup.Get_topo(size, 2 * size, &ends[0], &found[0]);
    CHECK(ends == index && found == edges);
    for (int r = 0; r < size; r++) {
        int neighbors[2];
        CHECK(dup.Get_neighbors_count(r) == 2);
        dup.Get_neighbors(r, 2, neighbors);
        say("neighbors", neighbors, 2);
    }
    int mapped = ring.Map(size, &index[0], &edges[0]);
    CHECK(mapped >= 0 && mapped < size);
    CHECK(MPI::COMM_WORLD.Get_topology() == MPI::UNDEFINED);
    dup.Free();
    clone.Free();
    delete &clone;
    ring.Free();
}

static void throw_it(MPI_Comm *, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(*code, text, &length);
    throw std::runtime_error(std::string(text, length));
}

// An error handler in C++ may throw an exception, which passes through the library's frames.
static void exceptions(bool ours)
{
    const int dims[1] = { size };
    const bool periods[1] = { false };
    const int outside[1] = { size };
    MPI_Errhandler handler;
    std::string caught;
    MPI::Cartcomm grid = MPI::COMM_WORLD.Create_cart(1, dims, periods, false);
    MPI_Comm_create_errhandler(throw_it, &handler);
    MPI_Comm_set_errhandler(grid, handler);
    for (int i = 0; i < 3; i++) {
        caught.clear();
        try {
            grid.Get_cart_rank(outside);
        } catch (const std::runtime_error &error) {
            caught = error.what();
        }
        CHECK(!caught.empty());
    }
    if (ours)
        CHECK(caught.find("is outside 0") != std::string::npos);
    MPI_Errhandler_free(&handler);
    grid.Free();
}

// Prints in the order of ranks; the exit code is the result.
static int finish()
{
    int counts[2] = { passed, failed }, sums[2], length;
    MPI::COMM_WORLD.Allreduce(counts, sums, 2, MPI::INT, MPI::SUM);
    std::string text = said.str();
    length = text.size();
    if (rank == 0) {
        std::cout << text;
        for (int r = 1; r < size; r++) {
            MPI::COMM_WORLD.Recv(&length, 1, MPI::INT, r, 1);
            std::vector<char> received(length);
            MPI::COMM_WORLD.Recv(&received[0], length, MPI::CHAR, r, 2);
            std::cout.write(&received[0], length);
        }
        std::cout << sums[0] << " passed, " << sums[1] << " failed" << std::endl;
    } else {
        MPI::COMM_WORLD.Send(&length, 1, MPI::INT, 0, 1);
        MPI::COMM_WORLD.Send(text.data(), length, MPI::CHAR, 0, 2);
    }
    MPI::Finalize();
    return sums[1] != 0;
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    rank = MPI::COMM_WORLD.Get_rank();
    size = MPI::COMM_WORLD.Get_size();
    bool ours = argc > 1 && !std::strcmp(argv[1], "ours");
    grids(ours);
    graphs();
    exceptions(ours);
    return finish();
}
