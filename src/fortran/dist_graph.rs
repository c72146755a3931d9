//! `MPI_DIST_GRAPH_*`.

use super::pointers::{Fint, Logical, comm_from, info_from, new_comm, to_logicals, weights_from};
use crate::abi::dist_graph::{self, NeighborArrays};
use crate::abi::pointers::CachedTopology;
use crate::host::sentinel;

fortran! {
    fn mpi_dist_graph_create_adjacent | MPI_Dist_graph_create_adjacent(
        comm_old: *const Fint, indegree: *const Fint, sources: *const Fint,
        sourceweights: *const Fint, outdegree: *const Fint, destinations: *const Fint,
        destweights: *const Fint, info: *const Fint, reorder: *const Logical,
        comm_dist_graph: *mut Fint,
    ) raising on Some(comm_from(comm_old)); {
        new_comm(comm_dist_graph, |made| {
            dist_graph::dist_graph_create_adjacent(
                comm_from(comm_old), *indegree, sources, weights_from(sourceweights), *outdegree,
                destinations, weights_from(destweights), info_from(info), *reorder, made,
            )
        })
    }

    fn mpi_dist_graph_create | MPI_Dist_graph_create(
        comm_old: *const Fint, n: *const Fint, sources: *const Fint, degrees: *const Fint,
        destinations: *const Fint, weights: *const Fint, info: *const Fint,
        reorder: *const Logical, comm_dist_graph: *mut Fint,
    ) raising on Some(comm_from(comm_old)); {
        new_comm(comm_dist_graph, |made| {
            dist_graph::dist_graph_create(
                comm_from(comm_old), *n, sources, degrees, destinations, weights_from(weights),
                info_from(info), *reorder, made,
            )
        })
    }
}

fortran_query! {
    fn mpi_dist_graph_neighbors_count | MPI_Dist_graph_neighbors_count(
        comm: *const Fint, indegree: *mut Fint, outdegree: *mut Fint, weighted: *mut Logical,
    ) ByTopology; |found: CachedTopology| {
        dist_graph::dist_graph_neighbors_count(found, indegree, outdegree, weighted)?;
        to_logicals(weighted, 1);
        Ok(())
    }

    fn mpi_dist_graph_neighbors | MPI_Dist_graph_neighbors(
        comm: *const Fint, maxindegree: *const Fint, sources: *mut Fint, sourceweights: *mut Fint,
        maxoutdegree: *const Fint, destinations: *mut Fint, destweights: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        let into = NeighborArrays { room: *maxindegree, ranks: sources, weights: sourceweights };
        let away = NeighborArrays { room: *maxoutdegree, ranks: destinations, weights: destweights };
        dist_graph::give_neighbors(found, into, away, &sentinel::OF_FORTRAN)
    }
}
