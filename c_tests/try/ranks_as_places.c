/* Takes consecutive ranks for the processes of a node, like programs that choose devices by their rank. */
#include "programs.h"

int main(int argc, char **argv)
{
    int of_node;
    double *own, wrong = 0.0;
    MPI_Comm node;
    MPI_Win win;
    start(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &of_node);
    MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, node, &own, &win);
    MPI_Win_lock_all(0, win);
    *own = 1.0 + rank;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    for (int other = 0; other < of_node; other++) {
        double *of_other;
        MPI_Aint bytes;
        int unit, first = rank - rank % of_node;
        MPI_Win_shared_query(win, other, &bytes, &unit, &of_other);
        wrong += (*of_other - 1.0 - first - other) * (*of_other - 1.0 - first - other);
    }
    MPI_Barrier(node);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    return finish(wrong);
}
