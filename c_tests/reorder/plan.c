/* cartograph_plan: the ranks that constructors would assign, without MPI; its errors; several threads at once.
 *
 * For 16 processes, four on each of four nodes; without the argument "ranks", for one process, which checks the whole
 * function. If the program is not linked with Cartograph, it looks the function up as a name of a preloaded library. */
#define _GNU_SOURCE
#include "../../include/cartograph.h"
#include "../check.h"
#include <dlfcn.h>
#include <pthread.h>

enum { SIDE = 4, CELLS = SIDE * SIDE, EDGES = 4 * SIDE * (SIDE - 1), THREADS = 4 };

#pragma weak cartograph_plan
static int (*plan)(const cartograph_problem *, int *);

static const int dims[2] = { SIDE, SIDE };
static const int64_t equal[EDGES] = { 1, 1 };
static int64_t places[2 * CELLS];
static int from[EDGES], to[EDGES];

/* All edges of the grid, each in both directions, row by row. */
static void connect(void)
{
    int edge = 0;
    for (int v = 0; v < CELLS; v++) {
        const int near[4] = { v - SIDE, v % SIDE ? v - 1 : -1, v % SIDE < SIDE - 1 ? v + 1 : -1, v + SIDE };
        for (int i = 0; i < 4; i++)
            if (near[i] >= 0 && near[i] < CELLS) {
                from[edge] = v;
                to[edge++] = near[i];
            }
    }
    CHECK(edge == EDGES);
}

static cartograph_problem grid_problem(void)
{
    cartograph_problem problem = { .size = sizeof problem, .ndims = 2, .dims = dims, .weights = equal };
    problem.processes = CELLS;
    problem.levels = 1;
    problem.places = places;
    return problem;
}

static cartograph_problem graph_problem(void)
{
    cartograph_problem problem = grid_problem();
    problem.ndims = 0;
    problem.weights = NULL;
    problem.vertices = CELLS;
    problem.edges = EDGES;
    problem.from = from;
    problem.to = to;
    return problem;
}

/* The number of edges between nodes if vertex v is on process[v]. */
static int cut(const int *process)
{
    int between = 0;
    for (int i = 0; i < EDGES; i++)
        between += places[process[from[i]]] != places[process[to[i]]];
    return between;
}

static int is_permutation(const int *process)
{
    int seen = 0;
    for (int v = 0; v < CELLS; v++)
        seen |= 1 << process[v];
    return seen == (1 << CELLS) - 1 && process[0] == 0;
}

static void check_plans(void)
{
    static const int periods[2] = { 1, 0 };
    int process[CELLS], again[CELLS];
    cartograph_problem grid = grid_problem(), graph = graph_problem();
    CHECK(plan(&grid, process) == CARTOGRAPH_SUCCESS);
    /* Blocks of 2 x 2 cells instead of rows. */
    CHECK(is_permutation(process) && cut(process) == 16);
    CHECK(plan(&graph, again) == CARTOGRAPH_SUCCESS);
    CHECK(is_permutation(again) && cut(again) == 16);
    /* Rows are best if edges along them weigh more; without weights, it is unknown whether they are equal. */
    const int64_t heavy[2] = { 1, 16 };
    grid.weights = heavy;
    CHECK(plan(&grid, process) == CARTOGRAPH_SUCCESS && cut(process) == 24);
    grid.weights = NULL;
    CHECK(plan(&grid, process) == CARTOGRAPH_SUCCESS && cut(process) == 24);
    grid.periods = periods;
    CHECK(plan(&grid, process) == CARTOGRAPH_SUCCESS && is_permutation(process));
    /* A heavy edge from 0 to 15 is inside a node. */
    int64_t weights[EDGES];
    for (int i = 0; i < EDGES; i++)
        weights[i] = 1;
    weights[0] = 1000;
    const int last = to[0];
    to[0] = CELLS - 1;
    graph.weights = weights;
    CHECK(plan(&graph, process) == CARTOGRAPH_SUCCESS && places[process[0]] == places[process[CELLS - 1]]);
    to[0] = last;
    /* Two switches; nodes are assigned to them round-robin. */
    int64_t levels[2 * CELLS];
    for (int p = 0; p < CELLS; p++) {
        levels[p] = p / SIDE % 2;
        levels[CELLS + p] = p / SIDE;
    }
    graph = graph_problem();
    graph.levels = 2;
    graph.places = levels;
    CHECK(plan(&graph, process) == CARTOGRAPH_SUCCESS && is_permutation(process));
    int between = 0;
    for (int i = 0; i < EDGES; i++)
        between += levels[process[from[i]]] != levels[process[to[i]]];
    CHECK(between == 2 * SIDE);
    /* More processes than vertices: one node holds all vertices. */
    graph = graph_problem();
    graph.vertices = 3;
    graph.edges = 3;
    const int a[3] = { 0, 1, 2 }, b[3] = { 1, 2, 0 };
    graph.from = a;
    graph.to = b;
    CHECK(plan(&graph, process) == CARTOGRAPH_SUCCESS);
    CHECK(places[process[0]] == places[process[1]] && places[process[0]] == places[process[2]]);
}

#define FAILS(kind, change, code)                                                                                      \
    do {                                                                                                               \
        cartograph_problem problem = kind();                                                                           \
        int process[CELLS] = { -7 };                                                                                   \
        change;                                                                                                        \
        CHECK(plan(&problem, process) == code && process[0] == -7);                                                    \
    } while (0)

static void check_errors(void)
{
    static const int none[2] = { 4, 0 }, large[2] = { 65536, 65536 }, outside[EDGES] = { CELLS };
    static const int64_t negative[EDGES] = { 1, -1 }, heavy[EDGES] = { (int64_t)1 << 62, (int64_t)1 << 62 };
    static int64_t crossed[2 * CELLS];
    for (int p = 0; p < CELLS; p++)
        crossed[p] = p % 2;
    CHECK(plan(NULL, &(int){ 0 }) == CARTOGRAPH_ERR_NULL);
    FAILS(grid_problem, CHECK(plan(&problem, NULL) == CARTOGRAPH_ERR_NULL); problem.size = 8, CARTOGRAPH_ERR_SIZE);
    FAILS(grid_problem, problem.dims = NULL, CARTOGRAPH_ERR_NULL);
    FAILS(grid_problem, problem.places = NULL, CARTOGRAPH_ERR_NULL);
    FAILS(grid_problem, problem.dims = none, CARTOGRAPH_ERR_GRID);
    FAILS(grid_problem, problem.ndims = -1, CARTOGRAPH_ERR_GRID);
    FAILS(grid_problem, problem.dims = large, CARTOGRAPH_ERR_PLACES);
    FAILS(grid_problem, problem.processes = CELLS - 1, CARTOGRAPH_ERR_PLACES);
    FAILS(grid_problem, problem.processes = 0, CARTOGRAPH_ERR_PLACES);
    FAILS(grid_problem, problem.processes = -1, CARTOGRAPH_ERR_PLACES);
    FAILS(grid_problem, problem.processes = (1 << 25) + 1, CARTOGRAPH_ERR_LARGE);
    FAILS(grid_problem, problem.levels = 0, CARTOGRAPH_ERR_PLACES);
    FAILS(grid_problem, problem.levels = 13, CARTOGRAPH_ERR_PLACES);
    /* Processes of one node on two switches. */
    FAILS(grid_problem, problem.levels = 2; problem.places = crossed, CARTOGRAPH_ERR_PLACES);
    FAILS(grid_problem, problem.weights = negative, CARTOGRAPH_ERR_WEIGHTS);
    FAILS(grid_problem, problem.weights = heavy, CARTOGRAPH_ERR_WEIGHTS);
    FAILS(graph_problem, problem.vertices = 0, CARTOGRAPH_ERR_GRAPH);
    FAILS(graph_problem, problem.vertices = -1, CARTOGRAPH_ERR_GRAPH);
    FAILS(graph_problem, problem.vertices = CELLS + 1, CARTOGRAPH_ERR_PLACES);
    FAILS(graph_problem, problem.edges = -1, CARTOGRAPH_ERR_GRAPH);
    FAILS(graph_problem, problem.from = NULL, CARTOGRAPH_ERR_NULL);
    FAILS(graph_problem, problem.to = outside, CARTOGRAPH_ERR_GRAPH);
    FAILS(graph_problem, problem.vertices = CELLS - 1, CARTOGRAPH_ERR_GRAPH);
    FAILS(graph_problem, problem.weights = negative, CARTOGRAPH_ERR_WEIGHTS);
    FAILS(graph_problem, problem.weights = heavy, CARTOGRAPH_ERR_WEIGHTS);
}

static void *plan_often(void *result)
{
    for (int round = 0; round < 5; round++) {
        cartograph_problem problem = round % 2 ? grid_problem() : graph_problem();
        if (plan(&problem, result) != CARTOGRAPH_SUCCESS)
            ((int *)result)[0] = -1;
    }
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    static int results[THREADS][CELLS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, plan_often, results[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(is_permutation(results[i]) && memcmp(results[i], results[0], sizeof results[0]) == 0);
    }
}

/* The old process of each rank of a communicator. */
static void processes_of(MPI_Comm comm, int *process)
{
    int own;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Allgather(&own, 1, MPI_INT, process, 1, MPI_INT, comm);
}

int main(int argc, char **argv)
{
    plan = cartograph_plan;
    if (!plan)
        *(void **)&plan = dlsym(RTLD_DEFAULT, "cartograph_plan");
    if (!plan)
        return 1;
    for (int p = 0; p < CELLS; p++)
        places[p] = p / SIDE;
    connect();
    int initialized = 1;
    if (argc < 2 || strcmp(argv[1], "ranks") != 0) {
        check_plans();
        check_errors();
        check_threads();
    }
    MPI_Initialized(&initialized);
    CHECK(!initialized);

    int planned[CELLS], created[CELLS], index[CELLS], periods[2] = { 0, 0 };
    cartograph_problem grid = grid_problem(), graph = graph_problem();
    CHECK(plan(&grid, planned) == CARTOGRAPH_SUCCESS);
    begin(&argc, &argv);
    MPI_Comm comm;
    if (world_size == CELLS) {
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm);
        processes_of(comm, created);
        CHECK(memcmp(planned, created, sizeof planned) == 0);
        MPI_Comm_free(&comm);
        for (int i = 0; i < EDGES; i++)
            index[from[i]] = i + 1;
        MPI_Graph_create(MPI_COMM_WORLD, CELLS, index, to, 1, &comm);
        processes_of(comm, created);
        CHECK(plan(&graph, planned) == CARTOGRAPH_SUCCESS);
        CHECK(memcmp(planned, created, sizeof planned) == 0);
        MPI_Comm_free(&comm);
    }
    return finish();
}
