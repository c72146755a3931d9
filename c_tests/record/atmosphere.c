/* The first program of coupled.h: wind along the rows, which the ocean warms. */
#include "coupled.h"

static double change(int row, int column)
{
    int before = (column + COLUMNS - 1) % COLUMNS;
    return 0.2 * (field[row][before] - field[row][column]) + 0.05 * (other[row - 1][column] - field[row][column]);
}

int main(int argc, char **argv)
{
    return run(argc, argv, "atmosphere", 0);
}
