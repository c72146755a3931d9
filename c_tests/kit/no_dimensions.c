/* "If ndims is zero then a zero-dimensional Cartesian topology is created" (MPI 5.0, 8.5.1): one process has it,
 * and queries do not touch their arrays.
 * mpiexec -n 2 ./no_dimensions */
#include "tap.h"

int main(int argc, char **argv)
{
    int none[1] = { 7 }, ndims = -1, kind = -1, rank = -1, size = -1, code;
    MPI_Comm point = MPI_COMM_NULL, part, line;
    tap_begin(&argc, &argv);
    code = MPI_Cart_create(MPI_COMM_WORLD, 0, none, none, 0, &point);
    tap(code == MPI_SUCCESS && (point == MPI_COMM_NULL) == (tap_rank > 0), "MPI_Cart_create gives it to rank 0 alone");
    if (point != MPI_COMM_NULL)
        MPI_Topo_test(point, &kind), MPI_Cartdim_get(point, &ndims), MPI_Comm_size(point, &size);
    tap(tap_rank || (kind == MPI_CART && ndims == 0 && size == 1), "MPI_Topo_test, MPI_Cartdim_get and MPI_Comm_size");
    code = point == MPI_COMM_NULL ? MPI_SUCCESS : MPI_Cart_rank(point, none, &rank);
    tap(tap_rank || (code == MPI_SUCCESS && rank == 0), "MPI_Cart_rank is 0, and no coordinates are read");
    code = point == MPI_COMM_NULL ? MPI_SUCCESS : MPI_Neighbor_alltoall(none, 1, MPI_INT, none, 1, MPI_INT, point);
    tap(code == MPI_SUCCESS && none[0] == 7, "MPI_Neighbor_alltoall moves nothing");
    /* If no dimension remains, the topology has none (8.5.7). */
    int remain = 0, period = 0;
    ndims = kind = -1, part = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &tap_size, &period, 0, &line);
    code = MPI_Cart_sub(line, &remain, &part);
    if (part != MPI_COMM_NULL)
        MPI_Topo_test(part, &kind), MPI_Cartdim_get(part, &ndims);
    tap(code == MPI_SUCCESS && kind == MPI_CART && ndims == 0, "MPI_Cart_sub that keeps no dimension");
    if (point != MPI_COMM_NULL)
        MPI_Comm_free(&point);
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
    MPI_Comm_free(&line);
    return tap_end();
}
