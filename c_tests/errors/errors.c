/* Wrong calls. Under Cartograph each returns on every rank with the right error class, through the error handler of its
 * communicator, with a text that names the fault, and changes nothing. Calls that work on every host also succeed under
 * Cartograph, unless CARTOGRAPH_CHECK names the rule that they violate.
 *
 * errors           runs all cases, and checks them
 * errors CASE      runs one case, and prints its outcome in one line
 * errors list      prints the names of all cases
 * errors version   prints the version of the host
 */
#include "errors.h"
#include "errors_cart.h"
#include "errors_dist_graph.h"
#include "errors_graph.h"
#include "errors_queries.h"

static void print_version(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    if (world_rank == 0)
        printf("%s\n", version);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "version") == 0) {
        print_version();
        MPI_Finalize();
        return 0;
    }
    listing = argc > 1 && strcmp(argv[1], "list") == 0;
    only = argc > 1 && !listing ? argv[1] : NULL;
    prepare();
    dims_cases();
    cart_create_cases();
    cart_create_alone_cases();
    cart_sub_and_map_cases();
    cart_query_cases();
    graph_create_cases();
    graph_create_alone_cases();
    graph_query_cases();
    for (int everywhere = 1; everywhere >= 0; everywhere--) {
        dist_graph_create_cases(everywhere);
        adjacent_cases(everywhere);
    }
    edges_cases();
    dist_graph_query_cases();
    map_and_test_cases();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        query_cases(&queries[i]);
    if (listing || only) {
        int unknown = only && !name;
        if (unknown && world_rank == 0)
            fprintf(stderr, "errors: there is no case '%s' on %d processes\n", only, world_size);
        MPI_Finalize();
        return unknown;
    }
    free_places();
    return finish();
}
