/* The second program of coupled.h: heat spreads between rows, and the atmosphere cools it. */
#include "coupled.h"

static double change(int row, int column)
{
    double around = field[row - 1][column] + field[row + 1][column];
    return 0.1 * (around - 2 * field[row][column]) + 0.01 * (other[row - 1][column] - field[row][column]);
}

int main(int argc, char **argv)
{
    return run(argc, argv, "ocean", 1);
}
