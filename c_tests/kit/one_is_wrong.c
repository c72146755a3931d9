/* A constructor with an argument that is wrong on one rank: that rank gets an error, and the others do not wait
 * forever. The standard leaves their result open.
 * mpiexec -n 3 ./one_is_wrong */
#include "tap.h"

int main(int argc, char **argv)
{
    int periodic = 0, code;
    MPI_Comm old, made;
    tap_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &old);
    int is_wrong = tap_rank == tap_size - 1, side = is_wrong ? -1 : tap_size, neighbor = is_wrong ? tap_size : 0;
    int source = tap_rank, degree = is_wrong ? -1 : 1;
    code = MPI_Cart_create(old, 1, &side, &periodic, 0, &made);
    tap(!is_wrong || code != MPI_SUCCESS, "MPI_Cart_create with a negative side");
    code = MPI_Dist_graph_create_adjacent(old, 1, &neighbor, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                          0, &made);
    tap(!is_wrong || code != MPI_SUCCESS, "MPI_Dist_graph_create_adjacent with a neighbor that does not exist");
    neighbor = 0;
    code = MPI_Dist_graph_create(old, 1, &source, &degree, &neighbor, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    tap(!is_wrong || code != MPI_SUCCESS, "MPI_Dist_graph_create with a negative degree");
    MPI_Comm_free(&old);
    return tap_end();
}
