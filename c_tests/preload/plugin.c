/* A module that loads MPI: it initializes MPI if necessary, and queries a grid. Prints whether Cartograph or the
 * host answers, by the text of an error. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Starts MPI if it has not started. */
void start(void)
{
    int started;
    MPI_Initialized(&started);
    if (!started)
        MPI_Init(NULL, NULL);
}

/* "Cartograph", "the host", or an error. */
const char *answers(void)
{
    static char text[MPI_MAX_ERROR_STRING + 1];
    int dims[2] = { 1, 1 }, periods[2] = { 0, 1 }, coords[2] = { 7, 7 }, kind, code, length;
    MPI_Comm grid;
    start();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &grid) != MPI_SUCCESS)
        return "MPI_Cart_create fails";
    if (MPI_Topo_test(grid, &kind) != MPI_SUCCESS || kind != MPI_CART)
        return "MPI_Topo_test does not know the grid";
    if (MPI_Cart_coords(grid, 0, 2, coords) != MPI_SUCCESS || coords[0] != 0 || coords[1] != 0)
        return "MPI_Cart_coords is wrong";
    code = MPI_Cart_coords(grid, 9, 2, coords);
    if (code == MPI_SUCCESS)
        return "MPI_Cart_coords takes rank 9 of one";
    memset(text, 0, sizeof text);
    MPI_Error_string(code, text, &length);
    MPI_Comm_free(&grid);
    return strstr(text, ": rank is 9, outside 0 to 0") ? "Cartograph" : "the host";
}

/* Finalizes MPI if the module initialized it. */
void finish(void)
{
    int started, ended;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started && !ended)
        MPI_Finalize();
}
