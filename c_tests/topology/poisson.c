/* The Poisson solver of the last example in MPI-1.1's chapter, completed: -laplace(u) = f on a periodic square, by
 * Jacobi's method on a two-dimensional grid of processes.
 *
 * An ordinary program. Its output depends neither on the number of processes nor on their places: a maximum does
 * not depend on the order, and rank 0 sums the checksum in the order of the points. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 24, STEPS = 100, EVERY = 20 };
static const double tau = 6.28318530717958647692;

static int dims[2], position[2];
/* Ranks of the neighbors: up, down, left, right. */
static int neighbors[4];
static MPI_Comm grid;
/* The block of this process, from first to first + count in both directions, with a frame around it. */
static int first[2], count[2];
static MPI_Datatype column;

/* The first point of a part; the last part ends where the next one would begin. */
static int begin_of(int place, int places)
{
    return place * POINTS / places;
}

static size_t at(int i, int j)
{
    return (size_t)i * (count[1] + 2) + j;
}

static void arrange_processes(void)
{
    int size, periods[2] = { 1, 1 }, reorder = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &grid);
    MPI_Cart_get(grid, 2, dims, periods, position);
    for (int d = 0; d < 2; d++) {
        MPI_Cart_shift(grid, d, 1, &neighbors[2 * d], &neighbors[2 * d + 1]);
        first[d] = begin_of(position[d], dims[d]);
        count[d] = begin_of(position[d] + 1, dims[d]) - first[d];
    }
    MPI_Type_vector(count[0], 1, count[1] + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
}

/* Sends the outermost points to the neighbors, and receives theirs into the frame. */
static void exchange(double *u)
{
    /* In the order of neighbors: the first point sent, and the first point received. */
    const size_t edge[4] = { at(1, 1), at(count[0], 1), at(1, 1), at(1, count[1]) };
    const size_t frame[4] = { at(0, 1), at(count[0] + 1, 1), at(1, 0), at(1, count[1] + 1) };
    MPI_Request requests[8];
    MPI_Status statuses[8];
    for (int n = 0; n < 4; n++) {
        int length = n < 2 ? count[1] : 1;
        MPI_Datatype type = n < 2 ? MPI_DOUBLE : column;
        /* The tag is the direction of travel: both neighbors may be the same process. */
        MPI_Irecv(&u[frame[n]], length, type, neighbors[n], n ^ 1, grid, &requests[n]);
        MPI_Isend(&u[edge[n]], length, type, neighbors[n], n, grid, &requests[4 + n]);
    }
    MPI_Waitall(8, requests, statuses);
}

/* One step of Jacobi's method. Returns the largest residual of this process before the step. */
static double relax(double *next, const double *u, const double *f)
{
    double largest = 0, h = 1.0 / POINTS;
    for (int i = 1; i <= count[0]; i++)
        for (int j = 1; j <= count[1]; j++) {
            double around = u[at(i - 1, j)] + u[at(i + 1, j)] + u[at(i, j - 1)] + u[at(i, j + 1)];
            double residual = f[at(i, j)] + (around - 4 * u[at(i, j)]) / (h * h);
            next[at(i, j)] = (around + h * h * f[at(i, j)]) / 4;
            if (fabs(residual) > largest)
                largest = fabs(residual);
        }
    return largest;
}

/* The value of f at a point. */
static double source(int i, int j)
{
    double x = i * tau / POINTS, y = j * tau / POINTS;
    return sin(x) * cos(y) + sin(3 * x) * sin(2 * y);
}

/* The value at a point after all steps: both waves of the source are eigenvectors of Jacobi's method, so each step
 * leaves a fixed part of their difference from the solution. */
static double solution(int i, int j)
{
    double h = 1.0 / POINTS, x = i * tau * h, y = j * tau * h;
    double first_part = cos(tau * h), second_part = (cos(3 * tau * h) + cos(2 * tau * h)) / 2;
    return h * h / 4
        * (sin(x) * cos(y) * (1 - pow(first_part, STEPS + 1)) / (1 - first_part)
           + sin(3 * x) * sin(2 * y) * (1 - pow(second_part, STEPS + 1)) / (1 - second_part));
}

/* Gathers all blocks on rank 0 by their coordinates. Returns the number of wrong points. */
static int output(const double *u)
{
    int rank, size, place[2], wrong = 0;
    double *block = malloc(sizeof *block * POINTS * POINTS), sum = 0, squares = 0;
    MPI_Comm_rank(grid, &rank);
    MPI_Comm_size(grid, &size);
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            block[i * count[1] + j] = u[at(i + 1, j + 1)];
    if (rank != 0) {
        MPI_Send(block, count[0] * count[1], MPI_DOUBLE, 0, 1, grid);
        free(block);
        return 0;
    }
    double *whole = malloc(sizeof *whole * POINTS * POINTS);
    for (int r = 0; r < size; r++) {
        MPI_Cart_coords(grid, r, 2, place);
        int row = begin_of(place[0], dims[0]), end_row = begin_of(place[0] + 1, dims[0]);
        int col = begin_of(place[1], dims[1]), end_col = begin_of(place[1] + 1, dims[1]);
        if (r != 0)
            MPI_Recv(block, (end_row - row) * (end_col - col), MPI_DOUBLE, r, 1, grid,
                     MPI_STATUS_IGNORE);
        for (int i = row, n = 0; i < end_row; i++)
            for (int j = col; j < end_col; j++)
                whole[i * POINTS + j] = block[n++];
    }
    for (int n = 0; n < POINTS * POINTS; n++) {
        sum += whole[n] * (n % 97);
        squares += whole[n] * whole[n];
        wrong += fabs(whole[n] - solution(n / POINTS, n % POINTS)) > 1e-14;
    }
    printf("norm %.17e %a\nchecksum %.17e %a\n", sqrt(squares), sqrt(squares), sum, sum);
    printf("%d passed, %d failed\n", POINTS * POINTS - wrong, wrong);
    free(whole);
    free(block);
    return wrong;
}

int main(int argc, char **argv)
{
    double *u, *next, *f, *swap, residual;
    int rank, wrong;
    MPI_Init(&argc, &argv);
    arrange_processes();
    MPI_Comm_rank(grid, &rank);
    u = calloc((count[0] + 2) * (count[1] + 2), sizeof *u);
    next = calloc((count[0] + 2) * (count[1] + 2), sizeof *next);
    f = calloc((count[0] + 2) * (count[1] + 2), sizeof *f);
    for (int i = 1; i <= count[0]; i++)
        for (int j = 1; j <= count[1]; j++)
            f[at(i, j)] = source(first[0] + i - 1, first[1] + j - 1);
    for (int step = 0; step <= STEPS; step++) {
        exchange(u);
        residual = relax(next, u, f);
        if (step % EVERY == 0) {
            MPI_Allreduce(MPI_IN_PLACE, &residual, 1, MPI_DOUBLE, MPI_MAX, grid);
            if (rank == 0)
                printf("step %4d residual %.17e %a\n", step, residual, residual);
        }
        swap = u, u = next, next = swap;
    }
    wrong = output(u);
    free(u);
    free(next);
    free(f);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return wrong != 0;
}
