/* A halo exchange: each process of a grid sends a block to its neighbors in each dimension.
 *
 *     mpicc -o halo examples/halo.c
 *     mpiexec -n 4 cartograph exec --report ./halo
 *
 *     halo [-n EXCHANGES | -t SECONDS] [BYTES_OF_A_FACE_IN_EACH_DIMENSION...]
 *
 * By default two dimensions with faces of 65536 bytes, for two seconds. It is installed for each MPI: `cartograph info`
 * prints its path.
 *
 * Its ranks may be reordered because, after MPI_Cart_create, it uses only the new communicator and the rank in it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_DIMS = 8 };

struct Halo {
    MPI_Comm grid;
    int blocks;
    /* For each face: the process behind it, the number of words, and the data to send and to receive. */
    int neighbor[2 * MOST_DIMS], words[2 * MOST_DIMS];
    int *sent[2 * MOST_DIMS], *received[2 * MOST_DIMS];
};

static void exchange(const struct Halo *halo)
{
    MPI_Request requests[4 * MOST_DIMS];
    MPI_Status statuses[4 * MOST_DIMS];
    for (int face = 0; face < halo->blocks; face++) {
        /* Data sent through the lower face arrives through the upper one. */
        MPI_Irecv(halo->received[face], halo->words[face], MPI_INT, halo->neighbor[face], face ^ 1, halo->grid,
                  &requests[2 * face]);
        MPI_Isend(halo->sent[face], halo->words[face], MPI_INT, halo->neighbor[face], face, halo->grid,
                  &requests[2 * face + 1]);
    }
    MPI_Waitall(2 * halo->blocks, requests, statuses);
}

/* Repeats the exchange, this many times or for the time on the first process; returns the number of exchanges. */
static int repeat(const struct Halo *halo, int exchanges, double seconds)
{
    double start = MPI_Wtime();
    int done = 0;
    for (int next = exchanges ? exchanges : 1; next;) {
        for (int i = 0; i < next; i++)
            exchange(halo);
        done += next;
        double so_far = MPI_Wtime() - start;
        if (exchanges || so_far >= seconds)
            next = 0;
        else if (so_far < seconds / 20)
            next *= 2;
        MPI_Bcast(&next, 1, MPI_INT, 0, halo->grid);
    }
    return done;
}

static int *block(int words, int value)
{
    int *block = malloc(words ? words * sizeof *block : 1);
    if (!block)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < words; i++)
        block[i] = value;
    return block;
}

int main(int argc, char **argv)
{
    struct Halo halo;
    int dims[MOST_DIMS] = { 0 }, periods[MOST_DIMS] = { 0 }, size, rank, exchanges = 0, wrong = 0, all_wrong, option;
    double seconds = 2, took, longest;
    char *two[] = { "65536", "65536" }, **faces = two;
    MPI_Init(&argc, &argv);
    while ((option = getopt(argc, argv, "n:t:")) != -1) {
        if (option == 'n')
            exchanges = atoi(optarg);
        else if (option == 't')
            seconds = atof(optarg);
        else
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int ndims = argc > optind ? argc - optind : 2;
    if (argc > optind)
        faces = argv + optind;
    if (ndims > MOST_DIMS)
        MPI_Abort(MPI_COMM_WORLD, 2);

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, ndims, dims);
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 1, &halo.grid);
    MPI_Comm_rank(halo.grid, &rank);
    halo.blocks = 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        int words = atoi(faces[d]) / (int)sizeof(int);
        MPI_Cart_shift(halo.grid, d, 1, &halo.neighbor[2 * d], &halo.neighbor[2 * d + 1]);
        for (int face = 2 * d; face < 2 * d + 2; face++) {
            halo.words[face] = words;
            halo.sent[face] = block(words, rank * halo.blocks + face);
            halo.received[face] = block(words, -1);
        }
    }

    took = MPI_Wtime();
    int done = repeat(&halo, exchanges, seconds);
    took = MPI_Wtime() - took;
    for (int face = 0; face < halo.blocks; face++) {
        int from = halo.neighbor[face];
        for (int i = 0; i < halo.words[face]; i++)
            wrong += halo.received[face][i] != (from == MPI_PROC_NULL ? -1 : from * halo.blocks + (face ^ 1));
        free(halo.sent[face]);
        free(halo.received[face]);
    }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, halo.grid);
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, halo.grid);
    if (rank == 0) {
        printf("a grid of ");
        for (int d = 0; d < ndims; d++)
            printf("%s%d", d ? " x " : "", dims[d]);
        printf(", %d wrong\n", all_wrong);
        /* The time is not part of the program's result. */
        fprintf(stderr, "1000 exchanges take %.6f s, by %d\n", longest * 1000 / done, done);
    }
    MPI_Comm_free(&halo.grid);
    MPI_Finalize();
    return rank == 0 && all_wrong > 0;
}
