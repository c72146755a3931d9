/* Two coupled programs of one job: an atmosphere and, compiled with OCEAN, the ocean below it, which is the second program.
 * Both have the same number of processes. In each step, a process exchanges halos with its neighbors in its program's grid,
 * and its surface with its partner in the other program. Rank 0 prints a line for each process (program, sum, arguments),
 * and the number of processes whose partner is on another node. PROGRAM [CODE [WORDS]]: exits with CODE. With PAUSE, steps
 * between nodes take longer, like on a network; with TIMES, the time of all steps is printed on stderr. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef COLUMNS
#define COLUMNS 256
#endif
#ifndef STEPS
#define STEPS 50
#endif
#ifdef OCEAN
static const char *name = "ocean";
static const int number = 1;
#else
static const char *name = "atmosphere";
static const int number = 0;
#endif
enum { ROWS = 32, TEXT = 200 };

/* A field between the halos above and below, and the surface of the other program. */
static double field[ROWS + 2][COLUMNS], other[ROWS][COLUMNS];

/* The change of a value in a step: wind along the rows, which the ocean warms, or heat that spreads between rows, and that
 * the atmosphere takes. */
static double change(int row, int column)
{
#ifdef OCEAN
    double around = field[row - 1][column] + field[row + 1][column];
    return 0.1 * (around - 2 * field[row][column]) + 0.01 * (other[row - 1][column] - field[row][column]);
#else
    int before = (column + COLUMNS - 1) % COLUMNS;
    return 0.2 * (field[row][before] - field[row][column]) + 0.05 * (other[row - 1][column] - field[row][column]);
#endif
}

static void exchange_halos(MPI_Comm own)
{
    int above, below;
    MPI_Cart_shift(own, 0, 1, &above, &below);
    MPI_Sendrecv(field[1], COLUMNS, MPI_DOUBLE, above, 0, field[ROWS + 1], COLUMNS, MPI_DOUBLE, below, 0, own,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(field[ROWS], COLUMNS, MPI_DOUBLE, below, 1, field[0], COLUMNS, MPI_DOUBLE, above, 1, own,
                 MPI_STATUS_IGNORE);
}

static void step(MPI_Comm own, int partner)
{
    static double next[ROWS][COLUMNS];
    exchange_halos(own);
    MPI_Sendrecv(field[1], ROWS * COLUMNS, MPI_DOUBLE, partner, 2, other, ROWS * COLUMNS, MPI_DOUBLE, partner, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int row = 1; row <= ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            next[row - 1][column] = field[row][column] + change(row, column);
    memcpy(field[1], next, sizeof next);
}

static void print(const char *line, int rank, int size)
{
    char *all = malloc((size_t)size * TEXT);
    MPI_Gather(line, TEXT, MPI_CHAR, all, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int at = 0; rank == 0 && at < size; at++)
        puts(all + at * TEXT);
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Comm program, own;
    int rank, size, processes, *found, flag, period = 1, apart, length, aparts;
    char node[MPI_MAX_PROCESSOR_NAME] = "", others[MPI_MAX_PROCESSOR_NAME] = "", line[TEXT] = "";
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &found, &flag);
    MPI_Comm_split(MPI_COMM_WORLD, number, rank, &program);
    MPI_Comm_size(program, &processes);
    MPI_Cart_create(program, 1, &processes, &period, 0, &own);
    MPI_Get_processor_name(node, &length);
    int partner = number == 0 ? rank + processes : rank - processes;
    MPI_Sendrecv(node, sizeof node, MPI_CHAR, partner, 3, others, sizeof others, MPI_CHAR, partner, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    apart = strcmp(node, others) != 0;
    for (int row = 1; row <= ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            field[row][column] = (rank * 7 + row * 3 + column) % 11;
    double start = MPI_Wtime();
    for (int at = 0; at < STEPS; at++) {
        step(own, partner);
#ifdef PAUSE
        if (apart)
            usleep(PAUSE);
#endif
    }
    double seconds = MPI_Wtime() - start;
    for (int row = 1; row <= ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            sum += field[row][column];
    int own_rank = rank - number * processes;
    snprintf(line, sizeof line, "%d: %s, %d of %d, program %d, sum %.9e", rank, name, own_rank, processes,
             flag ? *found : -1, sum);
    for (int at = 2; at < argc; at++)
        snprintf(line + strlen(line), sizeof line - strlen(line), ", '%s'", argv[at]);
    print(line, rank, size);
    MPI_Reduce(&apart, &aparts, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d apart\n", aparts);
#ifdef TIMES
    if (rank == 0)
        fprintf(stderr, "%.4f s\n", seconds);
#endif
    MPI_Comm_free(&own);
    MPI_Comm_free(&program);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
