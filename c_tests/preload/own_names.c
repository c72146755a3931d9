/* A module with its own C functions whose names are Fortran procedures of compilers without an underscore, like R's
 * Rmpi. The module must still call its own functions, and its MPI calls must reach Cartograph. */
#define answers of_plugin
#include "plugin.c"
#undef answers

typedef const void *own_function(const void *);
#define OWN(name) \
    own_function name; \
    const void *name(const void *given) { return given; }
OWN(mpi_cart_coords)
OWN(mpi_cart_create)
OWN(mpi_cart_get)
OWN(mpi_cart_rank)
OWN(mpi_cart_shift)
OWN(mpi_cartdim_get)
OWN(mpi_dims_create)
OWN(pmpi_cart_create)
OWN(MPI_CART_CREATE)
OWN(PMPI_CART_CREATE)

/* The result of the plugin, if its own functions are called. */
const char *answers(void)
{
    own_function *const all[] = { mpi_cart_coords, mpi_cart_create, mpi_cart_get,     mpi_cart_rank,   mpi_cart_shift,
                                  mpi_cartdim_get, mpi_dims_create, pmpi_cart_create, MPI_CART_CREATE, PMPI_CART_CREATE };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i](all) != all)
            return "another's function";
    return of_plugin();
}
