/* The halo exchange of textbooks: each process uses the coordinates of its rank in MPI_COMM_WORLD. The program is right
 * only where processes keep their ranks. The output is a checksum of the field. */
#include "../check.h"

#define CELLS 8
#define STEPS 20

static double field[CELLS + 2][CELLS + 2], next[CELLS + 2][CELLS + 2];

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, coords[2], up, down, left, right;
    MPI_Comm grid;
    MPI_Datatype column;
    begin(&argc, &argv);
    MPI_Dims_create(world_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Cart_coords(grid, world_rank, 2, coords);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Type_vector(CELLS, 1, CELLS + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 1; i <= CELLS; i++)
        for (int j = 1; j <= CELLS; j++)
            field[i][j] = (coords[0] * CELLS + i) * (coords[1] * CELLS + j) % 17;
    for (int step = 0; step < STEPS; step++) {
        MPI_Sendrecv(&field[CELLS][1], CELLS, MPI_DOUBLE, down, 0, &field[0][1], CELLS, MPI_DOUBLE, up, 0,
                     grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&field[1][1], CELLS, MPI_DOUBLE, up, 1, &field[CELLS + 1][1], CELLS, MPI_DOUBLE, down, 1,
                     grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&field[1][CELLS], 1, column, right, 2, &field[1][0], 1, column, left, 2, grid,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&field[1][1], 1, column, left, 3, &field[1][CELLS + 1], 1, column, right, 3, grid,
                     MPI_STATUS_IGNORE);
        for (int i = 1; i <= CELLS; i++)
            for (int j = 1; j <= CELLS; j++)
                next[i][j] = (field[i - 1][j] + 2 * field[i + 1][j] + 3 * field[i][j - 1] + 4 * field[i][j + 1]) / 10;
        memcpy(field, next, sizeof field);
    }
    /* Exact: the sum does not depend on the order of its terms. */
    long long sum = 0, all;
    for (int i = 1; i <= CELLS; i++)
        for (int j = 1; j <= CELLS; j++)
            sum += (long long)(field[i][j] * 1e9) * ((coords[0] * CELLS + i) * 31 + coords[1] * CELLS + j);
    MPI_Reduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        say("checksum: %lld\n", all);
    CHECK(coords[0] < dims[0] && coords[1] < dims[1]);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    return finish();
}
