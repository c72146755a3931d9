/* The new communicator has the error handler of the old one (MPI 5.0, 9.3), but no attributes (8.4), and a duplicate has the
 * topology (7.4.2).
 * mpiexec -n 2 ./inheritance */
#include "tap.h"

static int calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls++;
}

int main(int argc, char **argv)
{
    int zero = 0, value = 5, key, flag, kind, bad = 99;
    void *found;
    MPI_Comm old, made[4], copy;
    MPI_Errhandler mine, theirs;
    static const char *const names[] = { "MPI_Cart_create", "MPI_Graph_create", "MPI_Dist_graph_create_adjacent",
                                         "MPI_Cart_sub" };
    tap_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &old);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(old, mine);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(old, key, &value);
    int index[64], remain = 1;
    for (int i = 0; i < tap_size; i++)
        index[i] = 0;
    MPI_Cart_create(old, 1, &tap_size, &zero, 0, &made[0]);
    MPI_Graph_create(old, tap_size, index, &zero, 0, &made[1]);
    MPI_Dist_graph_create_adjacent(old, 0, &zero, MPI_UNWEIGHTED, 0, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made[2]);
    MPI_Cart_sub(made[0], &remain, &made[3]);
    for (int i = 0; i < 4; i++) {
        MPI_Comm_get_errhandler(made[i], &theirs);
        tap(theirs == mine, "%s: the error handler", names[i]);
        if (theirs == mine)
            MPI_Errhandler_free(&theirs);
        MPI_Comm_get_attr(made[i], key, &found, &flag);
        tap(!flag, "%s: no attributes", names[i]);
    }
    calls = 0;
    MPI_Cart_coords(made[0], bad, 1, &zero);
    tap(calls == 1, "the handler is called once for an error");
    MPI_Comm_dup(made[0], &copy);
    MPI_Topo_test(copy, &kind);
    tap(kind == MPI_CART, "MPI_Comm_dup has the topology");
    MPI_Comm_free(&copy);
    for (int i = 0; i < 4; i++)
        MPI_Comm_free(&made[i]);
    MPI_Comm_free(&old);
    MPI_Comm_free_keyval(&key);
    MPI_Errhandler_free(&mine);
    return tap_end();
}
