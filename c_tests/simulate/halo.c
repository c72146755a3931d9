/* The exchange of six faces on a three-dimensional grid, as in real programs: MPI_Cart_create with reorder = 1.
 *
 *     halo X Y Z PERIODIC (messages|neighbor) REPETITIONS BYTES...
 *
 * Prints, for each number of bytes per face, the seconds of an exchange: the mean of the repetitions, on the
 * slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NDIMS = 3, FACES = 2 * NDIMS };

static void by_messages(MPI_Comm grid, int bytes, char *sent, char *received)
{
    MPI_Request requests[2 * FACES];
    int count = 0;
    for (int d = 0; d < NDIMS; d++) {
        int ends[2];
        MPI_Cart_shift(grid, d, 1, &ends[0], &ends[1]);
        for (int side = 0; side < 2; side++) {
            size_t face = 2 * d + side;
            MPI_Irecv(received + face * bytes, bytes, MPI_CHAR, ends[side], (int)(face ^ 1), grid,
                      &requests[count++]);
        }
        for (int side = 0; side < 2; side++) {
            size_t face = 2 * d + side;
            MPI_Isend(sent + face * bytes, bytes, MPI_CHAR, ends[side], (int)face, grid,
                      &requests[count++]);
        }
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int size, rank, dims[NDIMS], periods[NDIMS], repetitions, by_neighbor, first = 7;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc <= first) {
        fprintf(stderr, "halo X Y Z PERIODIC (messages|neighbor) REPETITIONS BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int d = 0; d < NDIMS; d++) {
        dims[d] = atoi(argv[1 + d]);
        periods[d] = atoi(argv[4]);
    }
    by_neighbor = strcmp(argv[5], "neighbor") == 0;
    repetitions = atoi(argv[6]);
    MPI_Cart_create(MPI_COMM_WORLD, NDIMS, dims, periods, 1, &grid);
    if (grid == MPI_COMM_NULL) {
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(grid, &rank);
    for (int i = first; i < argc; i++) {
        int bytes = atoi(argv[i]);
        char *sent = malloc(FACES * (size_t)bytes), *received = malloc(FACES * (size_t)bytes);
        double elapsed = 0, longest;
        /* The first round includes one-time costs. */
        for (int round = -1; round < repetitions; round++) {
            MPI_Barrier(grid);
            double begin = MPI_Wtime();
            if (by_neighbor)
                MPI_Neighbor_alltoall(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, grid);
            else
                by_messages(grid, bytes, sent, received);
            if (round >= 0)
                elapsed += MPI_Wtime() - begin;
        }
        elapsed /= repetitions;
        MPI_Reduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, grid);
        if (rank == 0)
            printf("%d %.9f\n", bytes, longest);
        free(sent);
        free(received);
    }
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
