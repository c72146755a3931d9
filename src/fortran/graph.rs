//! `MPI_GRAPH_*` and `MPI_GRAPHDIMS_GET`.

use super::pointers::{Fint, Logical, comm_from, new_comm};
use crate::abi::{graph, pointers::CachedTopology};

fortran! {
    fn mpi_graph_create | MPI_Graph_create(
        comm_old: *const Fint, nnodes: *const Fint, index: *const Fint, edges: *const Fint,
        reorder: *const Logical, comm_graph: *mut Fint,
    ) raising on Some(comm_from(comm_old)); {
        new_comm(comm_graph, |made| {
            graph::graph_create(comm_from(comm_old), *nnodes, index, edges, *reorder, made)
        })
    }

    fn mpi_graph_map | MPI_Graph_map(
        comm: *const Fint, nnodes: *const Fint, index: *const Fint, edges: *const Fint,
        newrank: *mut Fint,
    ) raising on Some(comm_from(comm)); {
        graph::graph_map(comm_from(comm), *nnodes, index, edges, newrank)
    }
}

fortran_query! {
    fn mpi_graphdims_get | MPI_Graphdims_get(
        comm: *const Fint, nnodes: *mut Fint, nedges: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        graph::graphdims_get(found, nnodes, nedges)
    }

    fn mpi_graph_get | MPI_Graph_get(
        comm: *const Fint, maxindex: *const Fint, maxedges: *const Fint, index: *mut Fint,
        edges: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        graph::graph_get(found, *maxindex, *maxedges, index, edges)
    }

    fn mpi_graph_neighbors_count | MPI_Graph_neighbors_count(
        comm: *const Fint, rank: *const Fint, nneighbors: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        graph::graph_neighbors_count(found, *rank, nneighbors)
    }

    fn mpi_graph_neighbors | MPI_Graph_neighbors(
        comm: *const Fint, rank: *const Fint, maxneighbors: *const Fint, neighbors: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        graph::graph_neighbors(found, *rank, *maxneighbors, neighbors)
    }
}
