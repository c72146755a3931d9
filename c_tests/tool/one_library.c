/* Finds all functions of MPI by dlsym in one library, Cartograph for the host, which needs the MPI: like Julia's
 * MPI.jl if MPIPreferences names this library as the system's. The argument is its file, unless it is linked. */
#define _GNU_SOURCE
#include "../check.h"
#include <dlfcn.h>

static void *library;

/* The file with a function that the library finds. */
static const char *file_of(const char *name)
{
    Dl_info info;
    void *found = dlsym(library, name);
    return found && dladdr(found, &info) ? info.dli_fname : "nothing";
}

/* A function by its name, with the type from mpi.h. */
#define BY_NAME(name) ((__typeof__(&name))dlsym(library, #name))

int main(int argc, char **argv)
{
    int rank, size, dims[2] = { 0, 0 }, periods[2] = { 1, 1 }, coords[2], around[4], sum = 0, all = 0;
    MPI_Comm grid;

    const int is_linked = argc == 1;
    library = is_linked ? dlopen("libcartograph.so.0", RTLD_LAZY | RTLD_NOLOAD) : dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    BY_NAME(MPI_Init)(&argc, &argv);
    BY_NAME(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
    BY_NAME(MPI_Comm_size)(MPI_COMM_WORLD, &size);
    BY_NAME(MPI_Dims_create)(size, 2, dims);
    CHECK(BY_NAME(MPI_Cart_create)(MPI_COMM_WORLD, 2, dims, periods, 1, &grid) == MPI_SUCCESS);
    BY_NAME(MPI_Comm_rank)(grid, &rank);
    CHECK(BY_NAME(MPI_Cart_coords)(grid, rank, 2, coords) == MPI_SUCCESS);
    CHECK(coords[0] * dims[1] + coords[1] == rank);
    CHECK(BY_NAME(MPI_Neighbor_allgather)(&rank, 1, MPI_INT, around, 1, MPI_INT, grid) == MPI_SUCCESS);
    for (int dim = 0, from, to; dim < 2; dim++) {
        BY_NAME(MPI_Cart_shift)(grid, dim, 1, &from, &to);
        CHECK(around[2 * dim] == from && around[2 * dim + 1] == to);
        sum += from;
    }
    BY_NAME(MPI_Allreduce)(&sum, &all, 1, MPI_INT, MPI_SUM, grid);
    CHECK(all == size * (size - 1));
    if (is_linked) {
        int kind;
        MPI_Topo_test(grid, &kind);
        CHECK(kind == MPI_CART);
    }
    CHECK(strstr(file_of("MPI_Cart_create"), "libcartograph") != NULL);
    CHECK(strstr(file_of("MPI_Allreduce"), "libmpi") != NULL);
    BY_NAME(MPI_Comm_free)(&grid);
    BY_NAME(MPI_Comm_rank)(MPI_COMM_WORLD, &world_rank);
    BY_NAME(MPI_Comm_size)(MPI_COMM_WORLD, &world_size);
    return finish();
}
