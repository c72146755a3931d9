/* Blocking neighborhood collectives of small blocks: neighbors PATTERN EXCHANGES X Y Z BYTES...
 *
 * The processes are a torus of X x Y x Z in the order of their ranks. PATTERN is "box", the 26 neighbors around
 * each; "faces", six of them; "sparse", six others of a fixed choice. Prints for each number of bytes a block the
 * median time of an exchange by MPI_Neighbor_alltoall, or MPI_Neighbor_allgather for "box-same" and so on, of the rank
 * for which it is longest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 26, FEW = 6 };

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The process at a position in the torus. */
static int at(const int sides[3], const int place[3])
{
    int rank = 0;
    for (int d = 0; d < 3; d++)
        rank = rank * sides[d] + ((place[d] % sides[d]) + sides[d]) % sides[d];
    return rank;
}

/* The distances of neighbors in the sparse graph, as fractions of the number of ranks. */
static const int far[FEW] = { 137, 211, 389, 503, 701, 887 };

static int find(const char *pattern, const int sides[3], int rank, int size, int *sources, int *destinations)
{
    int degree = 0, z = sides[2], y = sides[1];
    if (strcmp(pattern, "sparse") == 0) {
        for (; degree < FEW; degree++) {
            int distance = 1 + (int)((long)far[degree] * (size - 1) / 1000);
            destinations[degree] = (rank + distance) % size;
            sources[degree] = (rank + size - distance) % size;
        }
        return degree;
    }
    int most = strcmp(pattern, "faces") == 0 ? 1 : 3;
    for (int step = 0; step < 27; step++) {
        int by[3] = { step / 9 - 1, step / 3 % 3 - 1, step % 3 - 1 }, there[3], back[3];
        int here[3] = { rank / (y * z), rank / z % y, rank % z }, moved = 0;
        for (int d = 0; d < 3; d++)
            there[d] = here[d] + by[d], back[d] = here[d] - by[d], moved += by[d] != 0;
        if (moved == 0 || moved > most)
            continue;
        destinations[degree] = at(sides, there), sources[degree++] = at(sides, back);
    }
    return degree;
}

int main(int argc, char **argv)
{
    int rank, size, sides[3], sources[MOST], destinations[MOST], wrong = 0, same = 0;
    MPI_Comm graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 7) {
        fprintf(stderr, "neighbors (box|faces|sparse) EXCHANGES X Y Z BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int exchanges = atoi(argv[2]);
    for (int d = 0; d < 3; d++)
        sides[d] = atoi(argv[3 + d]);
    if (sides[0] * sides[1] * sides[2] != size || exchanges < 1) {
        fprintf(stderr, "the torus has not %d processes\n", size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    char *suffix = strstr(argv[1], "-same");
    if (suffix)
        *suffix = 0, same = 1;
    int degree = find(argv[1], sides, rank, size, sources, destinations);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, sources, MPI_UNWEIGHTED, degree, destinations, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    double *times = malloc(exchanges * sizeof *times), *longest = malloc(exchanges * sizeof *longest);
    for (int i = 6; i < argc; i++) {
        size_t bytes = atoi(argv[i]);
        char *sent = malloc(degree * bytes + 1), *received = malloc(degree * bytes + 1);
        for (size_t b = 0; b < degree * bytes; b++)
            sent[b] = (char)(rank + b % bytes);
        /* The first rounds include one-time costs. */
        for (int round = -3; round < exchanges; round++) {
            memset(received, 0, degree * bytes);
            MPI_Barrier(graph);
            MPI_Pcontrol(round >= 0);
            double begin = MPI_Wtime();
            if (same)
                MPI_Neighbor_allgather(sent, (int)bytes, MPI_CHAR, received, (int)bytes, MPI_CHAR, graph);
            else
                MPI_Neighbor_alltoall(sent, (int)bytes, MPI_CHAR, received, (int)bytes, MPI_CHAR, graph);
            if (round >= 0)
                times[round] = MPI_Wtime() - begin;
            MPI_Pcontrol(0);
            /* A process that has all its blocks checks them without taking the processor from others. */
            MPI_Barrier(graph);
            for (size_t b = 0; b < degree * bytes; b++)
                wrong += received[b] != (char)(sources[b / bytes] + b % bytes);
        }
        MPI_Reduce(times, longest, exchanges, MPI_DOUBLE, MPI_MAX, 0, graph);
        if (rank == 0) {
            qsort(longest, exchanges, sizeof *longest, by_value);
            printf("%d %.3f\n", (int)bytes, longest[exchanges / 2] * 1e6);
        }
        free(sent), free(received);
    }
    int all;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, graph);
    if (rank == 0)
        printf("%d wrong\n", all);
    free(times), free(longest);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
