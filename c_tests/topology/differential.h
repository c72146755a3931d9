/* All queries of a topology on all ranks, printed, so that two runs of a program can be compared. If a query
 * fails, the class of its error is printed. */
#ifndef CARTOGRAPH_DIFFERENTIAL_H
#define CARTOGRAPH_DIFFERENTIAL_H

#include "../check.h"

enum { MOST_NDIMS = 8, NAME_LENGTH = 96, UNTOUCHED = -7777 };

/* Set by the argument "ours": the program runs under Cartograph, and also checks results that some hosts get
 * wrong. */
static int ours;
#define CHECK_OURS(condition) ((void)(!ours || CHECK(condition)))

static inline void begin_ours(int *argc, char ***argv)
{
    begin(argc, argv);
    ours = *argc > 1 && !strcmp((*argv)[1], "ours");
}

/* "LABEL: values", or "LABEL: MPI_ERR_NAME". */
__attribute__((format(printf, 4, 5))) static inline int told(int code, const int *values,
                                                              int count, const char *format, ...)
{
    char label[NAME_LENGTH];
    va_list list;
    va_start(list, format);
    vsnprintf(label, sizeof label, format, list);
    va_end(list);
    if (code == MPI_SUCCESS)
        say_ints(label, values, count);
    else
        say("%s: %s\n", label, class_name(class_of(code)));
    return code;
}

static inline const char *kind_name(int kind)
{
    return kind == MPI_CART         ? "cart"
           : kind == MPI_GRAPH      ? "graph"
           : kind == MPI_DIST_GRAPH ? "dist_graph"
           : kind == MPI_UNDEFINED  ? "none"
                                    : "unknown";
}

static inline int kind_of(MPI_Comm comm)
{
    int kind = UNTOUCHED;
    CHECK(MPI_Topo_test(comm, &kind) == MPI_SUCCESS);
    return kind;
}

/* Prints the rank and size of a communicator, and its kind of topology. */
static inline void say_place(const char *name, MPI_Comm comm)
{
    int place[2] = { UNTOUCHED, UNTOUCHED }, kind = UNTOUCHED;
    MPI_Comm_rank(comm, &place[0]);
    MPI_Comm_size(comm, &place[1]);
    MPI_Topo_test(comm, &kind);
    say("%s topology: %s\n", name, kind_name(kind));
    say("%s place: rank %d of %d\n", name, place[0], place[1]);
}

/* Prints the ranks at coordinates that are off by whole turns in periodic dimensions. */
static inline void say_wrapped(const char *name, MPI_Comm comm, int ndims, const int *dims,
                               const int *periods)
{
    int size, coords[MOST_NDIMS], rank;
    MPI_Comm_size(comm, &size);
    for (int turns = -2; turns <= 2; turns++) {
        say("%s ranks %d turns off:", name, turns);
        for (int r = 0; r < size; r++) {
            if (MPI_Cart_coords(comm, r, ndims, coords) != MPI_SUCCESS)
                break;
            for (int d = 0; d < ndims; d++)
                coords[d] += periods[d] ? turns * dims[d] : 0;
            rank = UNTOUCHED;
            CHECK(MPI_Cart_rank(comm, coords, &rank) == MPI_SUCCESS && rank == r);
            say(" %d", rank);
        }
        say("\n");
    }
}

static inline void say_cart(const char *name, MPI_Comm comm)
{
    int ndims = 0, size = 0, coords[MOST_NDIMS], code;
    int dims[MOST_NDIMS], periods[MOST_NDIMS];
    MPI_Comm_size(comm, &size);
    say_place(name, comm);
    told(MPI_Cartdim_get(comm, &ndims), &ndims, 1, "%s ndims", name);
    code = MPI_Cart_get(comm, ndims, dims, periods, coords);
    told(code, dims, ndims, "%s dims", name);
    told(code, periods, ndims, "%s periods", name);
    told(code, coords, ndims, "%s coords", name);
    for (int r = 0; r < size; r++)
        told(MPI_Cart_coords(comm, r, ndims, coords), coords, ndims, "%s coords of %d", name, r);
    if (code == MPI_SUCCESS && ndims > 0)
        say_wrapped(name, comm, ndims, dims, periods);
    for (int d = 0; d < ndims; d++)
        for (int disp = -dims[d] - 1; disp <= dims[d] + 1; disp++) {
            int ends[2] = { UNTOUCHED, UNTOUCHED };
            told(MPI_Cart_shift(comm, d, disp, &ends[0], &ends[1]), ends, 2, "%s shift %d by %d",
                 name, d, disp);
        }
}

static inline void say_graph(const char *name, MPI_Comm comm)
{
    int size = 0, counts[2] = { 0, 0 };
    MPI_Comm_size(comm, &size);
    say_place(name, comm);
    told(MPI_Graphdims_get(comm, &counts[0], &counts[1]), counts, 2, "%s nnodes nedges", name);
    int index[counts[0] + 1], edges[counts[1] + 1];
    int code = MPI_Graph_get(comm, counts[0], counts[1], index, edges);
    told(code, index, counts[0], "%s index", name);
    told(code, edges, counts[1], "%s edges", name);
    for (int r = 0; r < size; r++) {
        int degree = 0;
        told(MPI_Graph_neighbors_count(comm, r, &degree), &degree, 1, "%s degree of %d", name, r);
        int neighbors[degree + 1];
        told(MPI_Graph_neighbors(comm, r, degree, neighbors), neighbors, degree,
             "%s neighbors of %d", name, r);
    }
}

static inline int compare_edges(const void *one, const void *other)
{
    const int *a = one, *b = other;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Prints edges as pairs of rank and weight, sorted if the standard leaves the order open. */
static inline void say_edges(const char *name, const int *ranks, const int *weights, int degree,
                             int sorted)
{
    int pairs[degree + 1][2];
    for (int i = 0; i < degree; i++)
        pairs[i][0] = ranks[i], pairs[i][1] = weights[i];
    if (sorted)
        qsort(pairs, degree, sizeof pairs[0], compare_edges);
    say("%s:", name);
    for (int i = 0; i < degree; i++)
        if (pairs[i][1] == UNTOUCHED)
            say(" %d", pairs[i][0]);
        else
            say(" %d*%d", pairs[i][0], pairs[i][1]);
    say("\n");
}

/* Weights of an unweighted graph stay untouched, and are not printed. */
static inline void say_dist_graph(const char *name, MPI_Comm comm, int sorted)
{
    int counts[3] = { 0, 0, 0 }, code;
    char label[NAME_LENGTH];
    say_place(name, comm);
    code = MPI_Dist_graph_neighbors_count(comm, &counts[0], &counts[1], &counts[2]);
    told(code, counts, 3, "%s degrees weighted", name);
    int sources[counts[0] + 1], sourceweights[counts[0] + 1];
    int destinations[counts[1] + 1], destweights[counts[1] + 1];
    for (int i = 0; i <= counts[0]; i++)
        sources[i] = sourceweights[i] = UNTOUCHED;
    for (int i = 0; i <= counts[1]; i++)
        destinations[i] = destweights[i] = UNTOUCHED;
    code = MPI_Dist_graph_neighbors(comm, counts[0], sources, sourceweights, counts[1],
                                    destinations, destweights);
    told(code, NULL, 0, "%s neighbors", name);
    snprintf(label, sizeof label, "%s sources", name);
    say_edges(label, sources, sourceweights, counts[0], sorted);
    snprintf(label, sizeof label, "%s destinations", name);
    say_edges(label, destinations, destweights, counts[1], sorted);
    CHECK(sources[counts[0]] == UNTOUCHED && sourceweights[counts[0]] == UNTOUCHED);
    CHECK(destinations[counts[1]] == UNTOUCHED && destweights[counts[1]] == UNTOUCHED);
}

/* Prints a topology of any kind. Only MPI_Dist_graph_create leaves the order open: `sorted`. */
static inline void say_topology(const char *name, MPI_Comm comm, int sorted)
{
    int kind = kind_of(comm);
    if (kind == MPI_GRAPH)
        say_graph(name, comm);
    else if (kind == MPI_DIST_GRAPH)
        say_dist_graph(name, comm, sorted);
    else
        say_cart(name, comm);
}

/* ---- Requirements for all constructors ---- */

/* Duplicates have the topology. */
static inline void say_duplicates(const char *name, MPI_Comm comm, int sorted)
{
    MPI_Comm copy;
    char label[NAME_LENGTH];
    CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
    snprintf(label, sizeof label, "%s dup", name);
    say_topology(label, copy, sorted);
    CHECK(kind_of(copy) == kind_of(comm));
    MPI_Comm_free(&copy);
    CHECK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy) == MPI_SUCCESS);
    snprintf(label, sizeof label, "%s dup_with_info", name);
    say_topology(label, copy, sorted);
    CHECK(kind_of(copy) == kind_of(comm));
    MPI_Comm_free(&copy);
    CHECK(duplicate_later(comm, &copy) == MPI_SUCCESS);
    snprintf(label, sizeof label, "%s idup", name);
    say_topology(label, copy, sorted);
    CHECK(kind_of(copy) == kind_of(comm));
    MPI_Comm_free(&copy);
#if MPI_VERSION >= 4
    MPI_Request request;
    CHECK(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &copy, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(kind_of(copy) == kind_of(comm));
    MPI_Comm_free(&copy);
#endif
}

static inline void check_no_topology(MPI_Comm comm)
{
    int value[4], code;
    /* MPICH's MPI_Comm_create and MPI_Comm_create_group do not pass the error handler on. */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(kind_of(comm) == MPI_UNDEFINED);
    code = MPI_Cartdim_get(comm, value);
    CHECK(class_of(code) == MPI_ERR_TOPOLOGY);
    code = MPI_Graphdims_get(comm, value, value + 1);
    CHECK(class_of(code) == MPI_ERR_TOPOLOGY);
    code = MPI_Dist_graph_neighbors_count(comm, value, value + 1, value + 2);
    CHECK(code != MPI_SUCCESS);
    CHECK_OURS(class_of(code) == MPI_ERR_TOPOLOGY);
}

/* Other communicators derived from a topology have none. */
static inline void check_not_carried(MPI_Comm comm)
{
    MPI_Comm other;
    MPI_Group group;
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_group(comm, &group);
    CHECK(MPI_Comm_split(comm, rank % 2, rank, &other) == MPI_SUCCESS);
    check_no_topology(other);
    MPI_Comm_free(&other);
    CHECK(MPI_Comm_create(comm, group, &other) == MPI_SUCCESS);
    check_no_topology(other);
    MPI_Comm_free(&other);
    CHECK(MPI_Comm_create_group(comm, group, 17, &other) == MPI_SUCCESS);
#if !defined(OPEN_MPI)
    /* Open MPI copies all attributes, as in MPI_Comm_dup. */
    check_no_topology(other);
#endif
    MPI_Comm_free(&other);
#if defined(OPEN_MPI)
    /* A group of another size differs from a duplicate; bare Open MPI crashes in it. */
    int size;
    MPI_Comm_size(comm, &size);
    if (ours && size > 1) {
        MPI_Group alone;
        MPI_Group_incl(group, 1, &rank, &alone);
        CHECK(MPI_Comm_create_group(comm, alone, 18, &other) == MPI_SUCCESS);
        check_no_topology(other);
        MPI_Comm_free(&other);
        MPI_Group_free(&alone);
    }
#endif
    MPI_Group_free(&group);
}

/* New ranks after reorder = 1: each vertex has one process, and the other processes have none. */
static inline void check_permutation(MPI_Comm made, int vertices)
{
    int rank = -1, ranks[world_size], seen = 0;
    if (made != MPI_COMM_NULL)
        MPI_Comm_rank(made, &rank);
    MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, MPI_COMM_WORLD);
    for (int vertex = 0; vertex < vertices; vertex++)
        for (int r = 0; r < world_size; r++)
            seen += ranks[r] == vertex;
    for (int r = 0; r < world_size; r++)
        seen += ranks[r] == -1;
    CHECK(seen == world_size);
}

static int handled;

static inline void count_errors(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* A parent that passes its error handler to the new communicator, but no attribute. */
struct parent {
    MPI_Comm comm;
    int keyval;
    MPI_Errhandler errhandler;
};

static inline struct parent parent_begin(void)
{
    static int value = 5;
    struct parent parent;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent.comm);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &parent.keyval, NULL);
    MPI_Comm_set_attr(parent.comm, parent.keyval, &value);
    MPI_Comm_create_errhandler(count_errors, &parent.errhandler);
    MPI_Comm_set_errhandler(parent.comm, parent.errhandler);
    return parent;
}

static inline void parent_end(const char *name, struct parent *parent, MPI_Comm *made)
{
    int flag = 1, coords[MOST_NDIMS];
    void *value;
    if (*made != MPI_COMM_NULL) {
        CHECK(MPI_Comm_get_attr(*made, parent->keyval, &value, &flag) == MPI_SUCCESS);
        say("%s attribute: %s\n", name, flag ? "propagated" : "gone");
        CHECK_OURS(!flag);
        handled = 0;
        MPI_Comm_call_errhandler(*made, MPI_ERR_OTHER);
        CHECK(handled == 1);
        /* A rank out of range, or not a grid. */
        MPI_Cart_coords(*made, -1, MOST_NDIMS, coords);
        CHECK_OURS(handled == 2);
        MPI_Comm_free(made);
    }
    MPI_Comm_free_keyval(&parent->keyval);
    MPI_Errhandler_free(&parent->errhandler);
    MPI_Comm_free(&parent->comm);
}

#endif
