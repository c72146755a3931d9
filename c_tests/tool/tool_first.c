/* Calls one function, named by the argument, as the first call of the chapter in the process. Prints "right" if
 * the result is right; the case `family` runs it with libraries for other hosts. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static int right(const char *name)
{
    int one[1] = { 1 }, zero[1] = { 0 }, value = -1, other = -1, rank, is = 0;
    MPI_Comm world = MPI_COMM_WORLD, made = MPI_COMM_NULL;
    MPI_Comm_rank(world, &rank);
    if (!strcmp(name, "Cart_create"))
        is = !MPI_Cart_create(world, 1, one, zero, 0, &made) && (rank || made != MPI_COMM_NULL);
    else if (!strcmp(name, "Dist_graph_create_adjacent"))
        is = !MPI_Dist_graph_create_adjacent(world, 1, &rank, MPI_UNWEIGHTED, 1, &rank, MPI_UNWEIGHTED,
                                             MPI_INFO_NULL, 0, &made)
            && made != MPI_COMM_NULL;
    else if (!strcmp(name, "Cart_map"))
        is = !MPI_Cart_map(world, 1, one, zero, &value) && value == (rank ? MPI_UNDEFINED : 0);
    else if (!strcmp(name, "Cart_rank"))
        is = class_of(MPI_Cart_rank(world, zero, &value)) == MPI_ERR_TOPOLOGY;
    else if (!strcmp(name, "Graphdims_get"))
        is = class_of(MPI_Graphdims_get(MPI_COMM_NULL, &value, &other)) == MPI_ERR_COMM;
    else if (!strcmp(name, "Topo_test"))
        is = !MPI_Topo_test(world, &value) && value == MPI_UNDEFINED;
    else if (!strcmp(name, "Dims_create"))
        is = !MPI_Dims_create(7, 1, zero) && zero[0] == 7;
    else
        printf("there is no %s here\n", name);
    return is;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    puts(argc > 1 && right(argv[1]) ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
