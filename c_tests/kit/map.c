/* The reordered rank of the calling process, or MPI_UNDEFINED if it does not belong to the grid or graph (MPI 5.0,
 * 8.5.8 and 8.5.9): each rank below the number of cells occurs once.
 * mpiexec -n 4 ./map */
#include "tap.h"

int main(int argc, char **argv)
{
    int periods[2] = { 0, 0 }, cells[2] = { 3, 1 }, index[3] = { 1, 2, 3 }, edges[3] = { 1, 2, 0 }, rank, ranks[64], seen;
    tap_begin(&argc, &argv);
    for (int round = 0; round < 2; round++) {
        rank = -7;
        int code = round ? MPI_Graph_map(MPI_COMM_WORLD, 3, index, edges, &rank)
                         : MPI_Cart_map(MPI_COMM_WORLD, 2, cells, periods, &rank);
        seen = 0;
        MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < tap_size; i++)
            seen += ranks[i] == MPI_UNDEFINED ? 0 : ranks[i] >= 0 && ranks[i] < 3 ? 1 << (4 * ranks[i]) : 1 << 20;
        tap(code == MPI_SUCCESS && seen == 0x111, "%s of 3 on %d", round ? "MPI_Graph_map" : "MPI_Cart_map", tap_size);
    }
    int many = tap_size + 1;
    tap(MPI_Cart_map(MPI_COMM_WORLD, 1, &many, periods, &rank) != MPI_SUCCESS, "an error for more cells than processes");
    return tap_end();
}
