/* The constants of the standard ABI (MPI 5.0, 20 and annex A), if mpi.h is that of the ABI; otherwise only the
 * rules for every MPI: different kinds of topology, and weights that are no null pointers.
 * mpiexec -n 1 ./abi_constants */
#include "tap.h"

int main(int argc, char **argv)
{
    int kind = 0;
    tap_begin(&argc, &argv);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    tap(kind == MPI_UNDEFINED, "MPI_COMM_WORLD has no topology");
    tap(MPI_CART != MPI_GRAPH && MPI_CART != MPI_DIST_GRAPH && MPI_GRAPH != MPI_DIST_GRAPH && MPI_CART != MPI_UNDEFINED,
        "kinds of topology differ");
    tap(MPI_UNWEIGHTED != MPI_WEIGHTS_EMPTY && MPI_UNWEIGHTED != NULL && MPI_WEIGHTS_EMPTY != NULL, "weights differ");
#if defined(MPI_ABI_VERSION)
    tap(MPI_UNDEFINED == -32766 && MPI_PROC_NULL == -3, "MPI_UNDEFINED and MPI_PROC_NULL");
    tap(MPI_ERR_TOPOLOGY == 11 && MPI_ERR_DIMS == 12, "MPI_ERR_TOPOLOGY and MPI_ERR_DIMS");
    tap((long)MPI_UNWEIGHTED == 10 && (long)MPI_WEIGHTS_EMPTY == 11, "MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY");
#endif
    return tap_end();
}
