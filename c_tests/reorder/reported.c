/* Creates grids for a report: one of all processes, and one of the upper half of them, without rank 0.
 *
 * reported.c WAY [COUNT]: WAY is the end of the program: "end" by MPI_Finalize, "abort" by MPI_Abort, "crash" by a
 * signal on one process. "none" creates no grid, nor does "children", which starts one child by fork and one that runs
 * another program. "moves" changes its directory after the first grid. "kept" creates only the first grid, with reorder
 * = 0. COUNT is the number of times that the grid of the upper half is created. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "end";
    int count = argc > 2 ? atoi(argv[2]) : 1, rank, size, dims[1], periods[1] = { 1 };
    MPI_Comm half, grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(way, "children")) {
        if (!fork())
            exit(0);
        if (system("exit 0"))
            return 2;
    } else if (strcmp(way, "none")) {
        dims[0] = size;
        MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, strcmp(way, "kept") != 0, &grid);
        MPI_Comm_free(&grid);
        if (!strcmp(way, "moves") && chdir("/"))
            return 2;
        MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2 || !strcmp(way, "kept") ? MPI_UNDEFINED : 0, rank, &half);
        if (half != MPI_COMM_NULL) {
            dims[0] = size - size / 2;
            for (int i = 0; i < count; i++) {
                MPI_Cart_create(half, 1, dims, periods, 0, &grid);
                MPI_Comm_free(&grid);
            }
            MPI_Comm_free(&half);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(way, "abort") && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(way, "crash") && rank == size - 1)
        abort();
    if (!strcmp(way, "abort") || !strcmp(way, "crash"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
