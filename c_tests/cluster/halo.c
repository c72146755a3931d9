/* The halo exchange of a grid: halo [-n] BYTES EXCHANGES DIM...
 *
 * Each process of a non-periodic grid sends a block of BYTES to each neighbor, with -n by MPI_Neighbor_alltoall,
 * otherwise by MPI_Isend and MPI_Irecv. */
#include "exchange.h"

enum { MOST_DIMS = 8 };

/* Neighbors in the order of the neighborhood collectives: down and up in each dimension. */
static void point_to_point(const struct Exchange *exchange)
{
    const int *neighbors = exchange->pattern;
    MPI_Request requests[4 * MOST_DIMS];
    for (int block = 0; block < exchange->blocks; block++) {
        size_t at = (size_t)block * exchange->words;
        /* A block sent down there arrives from above here. */
        MPI_Irecv(exchange->receive + at, exchange->words, MPI_UINT64_T, neighbors[block], block ^ 1,
                  exchange->comm, &requests[2 * block]);
        MPI_Isend(exchange->send + at, exchange->words, MPI_UINT64_T, neighbors[block], block,
                  exchange->comm, &requests[2 * block + 1]);
    }
    MPI_Waitall(2 * exchange->blocks, requests, MPI_STATUSES_IGNORE);
}

static void collective(const struct Exchange *exchange)
{
    MPI_Neighbor_alltoall(exchange->send, exchange->words, MPI_UINT64_T, exchange->receive,
                          exchange->words, MPI_UINT64_T, exchange->comm);
}

/* The position of a cell in row-major order, from 1 on; 0 outside the grid. */
static uint64_t place(int ndims, const int *dims, const int *coords)
{
    uint64_t index = 0;
    for (int d = 0; d < ndims; d++) {
        if (coords[d] < 0 || coords[d] >= dims[d])
            return 0;
        index = index * dims[d] + coords[d];
    }
    return index + 1;
}

int main(int argc, char **argv)
{
    int dims[MOST_DIMS], periods[MOST_DIMS] = {0}, coords[MOST_DIMS], neighbors[2 * MOST_DIMS];
    uint64_t sent[2 * MOST_DIMS], expected[2 * MOST_DIMS];
    int rank, wrong;
    MPI_Init(&argc, &argv);
    int by_collective = argc > 1 && strcmp(argv[1], "-n") == 0;
    char **arguments = argv + 1 + by_collective;
    int ndims = argc - 3 - by_collective;
    if (ndims < 1 || ndims > MOST_DIMS) {
        fprintf(stderr, "halo [-n] BYTES EXCHANGES DIM..., with at most %d dimensions\n", MOST_DIMS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int bytes = number(arguments[0]), exchanges = number(arguments[1]);
    for (int d = 0; d < ndims; d++)
        dims[d] = number(arguments[2 + d]);

    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 1, &grid);
    if (grid == MPI_COMM_NULL) {
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, ndims, coords);
    uint64_t here = place(ndims, dims, coords);
    for (int d = 0; d < ndims; d++) {
        MPI_Cart_shift(grid, d, 1, &neighbors[2 * d], &neighbors[2 * d + 1]);
        for (int up = 0; up < 2; up++) {
            /* Uses coordinates instead of Cart_shift, which checks Cart_shift too. */
            int beside[MOST_DIMS];
            memcpy(beside, coords, sizeof beside);
            beside[d] += up ? 1 : -1;
            uint64_t there = place(ndims, dims, beside);
            sent[2 * d + up] = here;
            expected[2 * d + up] = there;
        }
    }
    struct Exchange exchange = {
        .comm = grid,
        .blocks = 2 * ndims,
        .words = bytes / (int)sizeof(uint64_t),
        .sent = sent,
        .expected = expected,
        .run = by_collective ? collective : point_to_point,
        .pattern = neighbors,
    };
    wrong = measure(&exchange, exchanges);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return wrong;
}
