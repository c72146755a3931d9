/* Wrong calls of the functions for graphs. The valid graph is a ring of all processes. */
#include "errors.h"

static void graph_create_cases(void)
{
    const int n = world_size;
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, more nodes than processes",
          text("nnodes is %d, but comm has only %d", n + 1, n))
        code = MPI_Graph_create(comm, n + 1, ring_index, ring_edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, nnodes -1", "nnodes is -1", "on rank 0: ")
        code = MPI_Graph_create(comm, -1, ring_index, ring_edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, index[0] -1", "index[0] is -1")
        code = MPI_Graph_create(comm, 1, (int[]){ -1 }, ring_edges, 0, &made);
    if (n > 1)
        WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, index decreasing",
              "index[1] is 1, less than the 2 before it")
            code = MPI_Graph_create(comm, 2, (int[]){ 2, 1 }, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, an edge to node -1",
          text("edges[0] is -1, outside 0 to %d", n - 1))
        code = MPI_Graph_create(comm, n, ring_index, (int[ROOM]){ -1 }, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, an edge to node n",
          text("edges[0] is %d, outside 0 to %d", n, n - 1))
        code = MPI_Graph_create(comm, n, ring_index, (int[ROOM]){ n }, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, index null", "index is a null pointer")
        code = MPI_Graph_create(comm, n, NULL, ring_edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, edges null", "edges is a null pointer")
        code = MPI_Graph_create(comm, n, ring_index, NULL, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, comm_graph null", "comm_graph is a null pointer")
        code = MPI_Graph_create(comm, n, ring_index, ring_edges, 0, NULL);
    WRONG(NOTHING, MPI_ERR_COMM, "Graph_create on MPI_COMM_NULL", "MPI_COMM_NULL")
        code = MPI_Graph_create(comm, 1, ring_index, no, 0, &made);
    if (n > 1)
        WRONG(INTER, MPI_ERR_COMM, "Graph_create on an inter-communicator", "inter-communicator")
            code = MPI_Graph_create(comm, 1, ring_index, no, 0, &made);
}

/* One rank differs from the others. */
static void graph_create_alone_cases(void)
{
    const int n = world_size;
    const char *alone = on_last();
    int index[ROOM], edges[ROOM];
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, more nodes than processes on one rank", alone,
          text("nnodes is %d", n + 1))
        code = MPI_Graph_create(comm, n + is_last, ring_index, ring_edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, nnodes -1 on one rank", alone, "nnodes is -1")
        code = MPI_Graph_create(comm, is_last ? -1 : n, ring_index, ring_edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, index null on one rank", alone, "index is a null")
        code = MPI_Graph_create(comm, n, is_last ? NULL : ring_index, ring_edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, edges null on one rank", alone, "edges is a null")
        code = MPI_Graph_create(comm, n, ring_index, is_last ? NULL : ring_edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, comm_graph null on one rank", alone,
          "comm_graph is a n")
        code = MPI_Graph_create(comm, n, ring_index, ring_edges, 0, is_last ? NULL : &made);

    memcpy(edges, ring_edges, sizeof edges);
    if (is_last)
        edges[n - 1] = n;
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, an edge to node n on one rank", alone,
          text("edges[%d] is %d, outside 0 to %d", n - 1, n, n - 1))
        code = MPI_Graph_create(comm, n, ring_index, edges, 0, &made);
    if (n == 1)
        return;

    memcpy(index, ring_index, sizeof index);
    if (is_last)
        index[1] = 0;
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, index decreasing on one rank", alone,
          "index[1] is 0, less than the 1 before it")
        code = MPI_Graph_create(comm, n, index, ring_edges, 0, &made);
    memcpy(index, ring_index, sizeof index);
    if (is_last)
        index[0] = 0;
    CHECKED("arguments", PLAIN, "Graph_create, index differs", alone,
            "index[0] is 0, but 1 on rank 0")
        code = MPI_Graph_create(comm, n, index, ring_edges, 0, &made);
    edges[n - 1] = is_last ? n - 1 : 0;
    CHECKED("arguments", PLAIN, "Graph_create, edges differ", alone,
            text("edges[%d] is %d, but 0 on rank 0", n - 1, n - 1))
        code = MPI_Graph_create(comm, n, ring_index, edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, nnodes differ", alone,
          text("nnodes is %d, but %d on rank 0", n - 1, n))
        code = MPI_Graph_create(comm, n - is_last, ring_index, no, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, nnodes 0 on one rank", alone, "nnodes is 0, but ")
        code = MPI_Graph_create(comm, is_last ? 0 : n, ring_index, ring_edges, 0, &made);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_create, reorder differs", alone,
          "reorder is 1, but 0 on rank 0")
        code = MPI_Graph_create(comm, n, ring_index, ring_edges, is_last, &made);
}

static void graph_query_cases(void)
{
    const int n = world_size;
    WRONG(GRAPH, MPI_ERR_ARG, "Graphdims_get, nnodes null", "nnodes is a null pointer")
        code = MPI_Graphdims_get(comm, NULL, result);
    WRONG(GRAPH, MPI_ERR_ARG, "Graphdims_get, nedges null", "nedges is a null pointer")
        code = MPI_Graphdims_get(comm, result, NULL);
    WRONG(GRAPH, MPI_ERR_ARG, "Graph_get, maxindex -1", "maxindex is -1")
        code = MPI_Graph_get(comm, -1, n, &result[0], &result[8]);
    WRONG(GRAPH, MPI_ERR_ARG, "Graph_get, maxedges -1", "maxedges is -1")
        code = MPI_Graph_get(comm, n, -1, &result[0], &result[8]);
    WRONG(GRAPH, MPI_ERR_ARG, "Graph_get, index null", "index is a null pointer")
        code = MPI_Graph_get(comm, n, n, NULL, &result[8]);
    WRONG(GRAPH, MPI_ERR_ARG, "Graph_get, edges null", "edges is a null pointer")
        code = MPI_Graph_get(comm, n, n, &result[0], NULL);
    WRONG(GRAPH, MPI_ERR_RANK, "Graph_neighbors_count, rank n", text("rank is %d, outside", n))
        code = MPI_Graph_neighbors_count(comm, n, result);
    WRONG(GRAPH, MPI_ERR_RANK, "Graph_neighbors_count, rank -1", "rank is -1, outside")
        code = MPI_Graph_neighbors_count(comm, -1, result);
    WRONG(GRAPH, MPI_ERR_ARG, "Graph_neighbors_count, nneighbors null", "nneighbors is a null")
        code = MPI_Graph_neighbors_count(comm, 0, NULL);
    WRONG(GRAPH, MPI_ERR_RANK, "Graph_neighbors, rank n",
          text("rank is %d, outside 0 to %d", n, n - 1))
        code = MPI_Graph_neighbors(comm, n, 1, result);
    WRONG(GRAPH, MPI_ERR_RANK, "Graph_neighbors, rank -1",
          text("rank is -1, outside 0 to %d", n - 1))
        code = MPI_Graph_neighbors(comm, -1, 1, result);
    WRONG(GRAPH, MPI_ERR_ARG, "Graph_neighbors, maxneighbors -1", "maxneighbors is -1")
        code = MPI_Graph_neighbors(comm, 0, -1, result);
    WRONG(GRAPH, MPI_ERR_ARG, "Graph_neighbors, neighbors null", "neighbors is a null pointer")
        code = MPI_Graph_neighbors(comm, 0, 1, NULL);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_map, more nodes than processes", text("nnodes is %d", n + 1))
        code = MPI_Graph_map(comm, n + 1, ring_index, ring_edges, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_map, nnodes -1", "nnodes is -1")
        code = MPI_Graph_map(comm, -1, ring_index, ring_edges, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_map, an edge to node n", text("edges[0] is %d, outside", n))
        code = MPI_Graph_map(comm, n, ring_index, (int[ROOM]){ n }, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_map, index null", "index is a null pointer")
        code = MPI_Graph_map(comm, n, NULL, ring_edges, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_map, edges null", "edges is a null pointer")
        code = MPI_Graph_map(comm, n, ring_index, NULL, result);
    WRONG(PLAIN, MPI_ERR_ARG, "Graph_map, newrank null", "newrank is a null pointer")
        code = MPI_Graph_map(comm, n, ring_index, ring_edges, NULL);
}
