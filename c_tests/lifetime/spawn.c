/* Two processes start two more by MPI_Comm_spawn, and all four create one grid. Each reports whether Cartograph or
 * the host answers, by the text of an error. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char *whose(MPI_Comm grid)
{
    static char text[MPI_MAX_ERROR_STRING + 1];
    int coords[1], length, code;
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    code = MPI_Cart_coords(grid, 99, 1, coords);
    memset(text, 0, sizeof text);
    MPI_Error_string(code, text, &length);
    return strstr(text, "rank is 99, outside") ? "Cartograph" : "the host";
}

int main(int argc, char **argv)
{
    MPI_Comm parent, between, all, grid;
    int size, rank, one = 1, periodic = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &periodic, 0, &grid);
    printf("%s: %s\n", parent == MPI_COMM_NULL ? "parent" : "child", whose(grid));
    fflush(stdout);
    MPI_Comm_free(&grid);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    else
        between = parent;
    MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
    MPI_Comm_size(all, &size);
    MPI_Comm_rank(all, &rank);
    MPI_Cart_create(all, 1, &size, &periodic, 1, &grid);
    if (rank == 0)
        printf("a grid of %d\n", size);
    fflush(stdout);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    MPI_Finalize();
    return 0;
}
