/* Constructors set no attribute on MPI_COMM_WORLD: one may be called in a callback, while the MPI iterates over the
 * attributes of that communicator. */
#define _GNU_SOURCE
#include "../check.h"

#include <dlfcn.h>

static int set_on_world;

/* Replaces the MPI's function. */
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    int (*next)(MPI_Comm, int, void *) = (int (*)(MPI_Comm, int, void *))dlsym(RTLD_NEXT, "PMPI_Comm_set_attr");
    set_on_world += comm == MPI_COMM_WORLD;
    return next(comm, keyval, value);
}

static void grid(MPI_Comm old, int reorder)
{
    const int periods[1] = { 0 };
    int size;
    MPI_Comm made;
    MPI_Comm_size(old, &size);
    CHECK(MPI_Cart_create(old, 1, &size, periods, reorder, &made) == MPI_SUCCESS);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    begin(&argc, &argv);
    grid(MPI_COMM_WORLD, 0);
    grid(MPI_COMM_WORLD, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    grid(other, 1);
    MPI_Comm_free(&other);
    CHECK(set_on_world == 0);
    /* Checks that the function above is called. */
    CHECK(PMPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL) != MPI_SUCCESS && set_on_world == 1);
    return finish();
}
