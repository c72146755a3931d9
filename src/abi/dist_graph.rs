//! Distributed graphs: `MPI_Dist_graph_*`.

use std::ffi::c_int;

use super::pointers::{
    CachedTopology, CheckedResult, as_kind, clear_on, copy, input, length, out, output, weights,
    weights_output,
};
use crate::engine::arguments::{AdjacentArguments, EdgeArguments, Function};
use crate::engine::dist_graph;
use crate::host::advisor::HostAdvisor;
use crate::host::call_settings::call_settings_with_info;
use crate::host::create::Call;
use crate::host::sentinel::{self, Sentinels};
use crate::host::sys::{self, MPI_Comm, MPI_Info};
use crate::host::{Result, comm};
use crate::topology::{Edges, Error, as_dist_graph, dist_graph::check_not_negative};

export! {
    /// Creates a communicator with a distributed graph; every process passes its own edges. MPI 4.1, 8.5.4. Collective.
    fn MPI_Dist_graph_create_adjacent(
        comm_old: MPI_Comm,
        indegree: c_int,
        sources: *const c_int,
        sourceweights: *const c_int,
        outdegree: c_int,
        destinations: *const c_int,
        destweights: *const c_int,
        info: MPI_Info,
        reorder: c_int,
        comm_dist_graph: *mut MPI_Comm,
    ) = dist_graph_create_adjacent, raising on Some(comm_old);

    /// Creates a communicator with a distributed graph; every process may pass any edges. MPI 4.1, 8.5.4. Collective.
    fn MPI_Dist_graph_create(
        comm_old: MPI_Comm,
        n: c_int,
        sources: *const c_int,
        degrees: *const c_int,
        destinations: *const c_int,
        weights: *const c_int,
        info: MPI_Info,
        reorder: c_int,
        comm_dist_graph: *mut MPI_Comm,
    ) = dist_graph_create, raising on Some(comm_old);
}

query! {
    /// The numbers of edges into and out of this process, and a flag for weights. MPI 4.1, 8.5.5. Local.
    fn MPI_Dist_graph_neighbors_count(
        comm: MPI_Comm,
        indegree: *mut c_int,
        outdegree: *mut c_int,
        weighted: *mut c_int,
    ) = dist_graph_neighbors_count, ByTopology;

    /// The other ends of the edges into and out of this process, as many as fit, and their weights if they have any.
    /// MPI 4.1, 8.5.5. Local.
    fn MPI_Dist_graph_neighbors(
        comm: MPI_Comm,
        maxindegree: c_int,
        sources: *mut c_int,
        sourceweights: *mut c_int,
        maxoutdegree: c_int,
        destinations: *mut c_int,
        destweights: *mut c_int,
    ) = dist_graph_neighbors, ByTopology;
}

/// The body of `MPI_Dist_graph_create_adjacent`, in C and Fortran.
///
/// # Safety
///
/// The standard's: arrays of `indegree` and `outdegree` ints, or sentinels for the weights, and a
/// handle that can be written.
pub(crate) unsafe fn dist_graph_create_adjacent(
    comm_old: MPI_Comm,
    indegree: c_int,
    sources: *const c_int,
    sourceweights: *const c_int,
    outdegree: c_int,
    destinations: *const c_int,
    destweights: *const c_int,
    info: MPI_Info,
    reorder: c_int,
    comm_dist_graph: *mut MPI_Comm,
) -> Result {
    // SAFETY: the caller's place for the result.
    unsafe { clear_on(sys::CG_FAMILY_ABI, comm_dist_graph) };
    let comm = comm::intra(comm_old)?;
    let arguments = || {
        let indegree = length("indegree", indegree)?;
        let outdegree = length("outdegree", outdegree)?;
        // SAFETY: the caller's arrays.
        unsafe {
            out("comm_dist_graph", comm_dist_graph)?;
            Ok(AdjacentArguments {
                sources: input("sources", sources, indegree)?,
                source_weights: weights("sourceweights", sourceweights, indegree)?,
                destinations: input("destinations", destinations, outdegree)?,
                dest_weights: weights("destweights", destweights, outdegree)?,
                reorder: reorder != 0,
            })
        }
    };
    let function = Function::DistGraphCreateAdjacent;
    let call = Call::new(function, &comm, comm_dist_graph);
    let settings = call_settings_with_info(function, info);
    let advisor = HostAdvisor(&comm);
    call.publish(dist_graph::dist_graph_create_adjacent(&comm, &advisor, settings, arguments())?)
}

/// The body of `MPI_Dist_graph_create`, in C and Fortran.
///
/// # Safety
///
/// The standard's: arrays of `n` ints, arrays of the sum of `degrees`, or a sentinel for the weights, and a handle that
/// can be written.
pub(crate) unsafe fn dist_graph_create(
    comm_old: MPI_Comm,
    n: c_int,
    sources: *const c_int,
    degrees: *const c_int,
    destinations: *const c_int,
    edge_weights: *const c_int,
    info: MPI_Info,
    reorder: c_int,
    comm_dist_graph: *mut MPI_Comm,
) -> Result {
    // SAFETY: the caller's place for the result.
    unsafe { clear_on(sys::CG_FAMILY_ABI, comm_dist_graph) };
    let comm = comm::intra(comm_old)?;
    let arguments = || {
        let n = length("n", n)?;
        // SAFETY: the caller's arrays.
        unsafe {
            out("comm_dist_graph", comm_dist_graph)?;
            let degrees = input("degrees", degrees, n)?;
            let edges = total(degrees)?;
            Ok(EdgeArguments {
                sources: input("sources", sources, n)?,
                degrees,
                destinations: input("destinations", destinations, edges)?,
                weights: weights("weights", edge_weights, edges)?,
                reorder: reorder != 0,
            })
        }
    };
    let function = Function::DistGraphCreate;
    let call = Call::new(function, &comm, comm_dist_graph);
    let settings = call_settings_with_info(function, info);
    let advisor = HostAdvisor(&comm);
    call.publish(dist_graph::dist_graph_create(&comm, &advisor, settings, arguments())?)
}

/// The number of all edges.
fn total(degrees: &[c_int]) -> Result<usize, Error> {
    check_not_negative("degrees", degrees)?;
    let edges: i64 = degrees.iter().map(|degree| i64::from(*degree)).sum();
    match c_int::try_from(edges) {
        Ok(edges) => Ok(edges as usize),
        Err(_) => Err(Error::TooManyEdges { edges }),
    }
}

/// The body of `MPI_Dist_graph_neighbors_count`, in C and Fortran.
///
/// # Safety
///
/// The standard's: the results can be written.
#[inline(always)]
pub(crate) unsafe fn dist_graph_neighbors_count(
    found: CachedTopology,
    indegree: *mut c_int,
    outdegree: *mut c_int,
    weighted: *mut c_int,
) -> CheckedResult {
    let graph = as_kind(found, as_dist_graph)?;
    // SAFETY: the caller's places for the results.
    let (into, away, has_weights) = unsafe {
        (out("indegree", indegree)?, out("outdegree", outdegree)?, out("weighted", weighted)?)
    };
    *into = graph.sources.degree();
    *away = graph.destinations.degree();
    *has_weights = c_int::from(graph.weighted);
    Ok(())
}

/// # Safety
///
/// The standard's: arrays with room for `maxindegree` and `maxoutdegree` ints, or sentinels of C for
/// the weights.
#[inline(always)]
unsafe fn dist_graph_neighbors(
    found: CachedTopology,
    maxindegree: c_int,
    sources: *mut c_int,
    sourceweights: *mut c_int,
    maxoutdegree: c_int,
    destinations: *mut c_int,
    destweights: *mut c_int,
) -> CheckedResult {
    let into = NeighborArrays { room: maxindegree, ranks: sources, weights: sourceweights };
    let away = NeighborArrays { room: maxoutdegree, ranks: destinations, weights: destweights };
    // SAFETY: as the caller promises.
    unsafe { give_neighbors(found, into, away, &sentinel::OF_C) }
}

/// The arrays into which `MPI_Dist_graph_neighbors` writes the edges of one direction.
pub(crate) struct NeighborArrays {
    /// The length of both arrays.
    pub(crate) room: c_int,
    pub(crate) ranks: *mut c_int,
    /// The array of weights, or a sentinel if none are wanted.
    pub(crate) weights: *mut c_int,
}

/// # Safety
///
/// The arrays have room for the ints given, or are sentinels of that language.
#[inline(always)]
pub(crate) unsafe fn give_neighbors<const N: usize>(
    found: CachedTopology,
    into: NeighborArrays,
    away: NeighborArrays,
    sentinels: &Sentinels<N>,
) -> CheckedResult {
    let graph = as_kind(found, as_dist_graph)?;
    let in_room = length("maxindegree", into.room)?.min(graph.sources.ranks.len());
    let out_room = length("maxoutdegree", away.room)?.min(graph.destinations.ranks.len());
    // Unweighted graphs write no weights, so these pointers are unused.
    let weights = |room| if graph.weighted { room } else { 0 };
    // SAFETY: the caller's arrays have room for all of them.
    let (sources, source_weights, destinations, dest_weights) = unsafe {
        (
            output("sources", into.ranks, in_room)?,
            weights_output("sourceweights", into.weights, weights(in_room), sentinels)?,
            output("destinations", away.ranks, out_room)?,
            weights_output("destweights", away.weights, weights(out_room), sentinels)?,
        )
    };
    give(&graph.sources, sources, source_weights);
    give(&graph.destinations, destinations, dest_weights);
    Ok(())
}

#[inline(always)]
fn give(edges: &Edges, ranks: &mut [c_int], weights: Option<&mut [c_int]>) {
    copy(ranks, &edges.ranks[..ranks.len()]);
    if let Some(weights) = weights {
        copy(weights, &edges.weights[..weights.len()]);
    }
}
