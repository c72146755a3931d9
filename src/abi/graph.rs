//! Graphs that every process knows completely: `MPI_Graph_*` and `MPI_Graphdims_get`.

use std::ffi::c_int;

use super::pointers::{
    CachedTopology, CheckedResult, as_kind, clear_on, copy, input, length, out, output,
};
use crate::engine::Comm;
use crate::engine::arguments::Function;
use crate::engine::arguments::GraphArguments;
use crate::engine::create;
use crate::host::advisor::HostAdvisor;
use crate::host::call_settings::call_settings;
use crate::host::create::Call;
use crate::host::sys::{self, MPI_Comm};
use crate::host::{Result, comm, map};
use crate::mapping::{Csr, last_plan};
use crate::topology::{self, Error, Graph, as_graph};

export! {
    /// Creates a communicator with a graph. MPI 4.1, 8.5.3. Collective.
    fn MPI_Graph_create(
        comm_old: MPI_Comm,
        nnodes: c_int,
        index: *const c_int,
        edges: *const c_int,
        reorder: c_int,
        comm_graph: *mut MPI_Comm,
    ) = graph_create, raising on Some(comm_old);

    /// The rank that the caller would have in a reordered graph. MPI 4.1, 8.5.9. Local.
    fn MPI_Graph_map(
        comm: MPI_Comm,
        nnodes: c_int,
        index: *const c_int,
        edges: *const c_int,
        newrank: *mut c_int,
    ) = graph_map, raising on Some(comm);
}

query! {
    /// The numbers of nodes and edges of the graph. MPI 4.1, 8.5.5. Local.
    fn MPI_Graphdims_get(comm: MPI_Comm, nnodes: *mut c_int, nedges: *mut c_int)
        = graphdims_get, ByTopology;

    /// The graph as it was passed, as much as fits. MPI 4.1, 8.5.5. Local.
    fn MPI_Graph_get(
        comm: MPI_Comm,
        maxindex: c_int,
        maxedges: c_int,
        index: *mut c_int,
        edges: *mut c_int,
    ) = graph_get, ByTopology;

    /// The number of neighbors of `rank`. MPI 4.1, 8.5.5. Local.
    fn MPI_Graph_neighbors_count(comm: MPI_Comm, rank: c_int, nneighbors: *mut c_int)
        = graph_neighbors_count, ByTopology;

    /// The neighbors of `rank` in the order passed, as many as fit. MPI 4.1, 8.5.5. Local.
    fn MPI_Graph_neighbors(comm: MPI_Comm, rank: c_int, maxneighbors: c_int, neighbors: *mut c_int)
        = graph_neighbors, ByTopology;
}

/// The arrays of a graph for a communicator of `size` processes.
///
/// # Safety
///
/// `index` has `nnodes` ints, and `edges` as many as its last entry.
unsafe fn arrays<'a>(
    size: c_int,
    nnodes: c_int,
    index: *const c_int,
    edges: *const c_int,
) -> Result<(&'a [c_int], &'a [c_int]), topology::Error> {
    let length = length("nnodes", nnodes)?;
    if nnodes > size {
        return Err(Error::GraphTooLarge { nnodes, size });
    }
    // SAFETY: as the caller promises.
    unsafe {
        let index = input("index", index, length)?;
        Ok((index, input("edges", edges, Graph::nedges(index)?)?))
    }
}

/// The body of `MPI_Graph_create`, in C and Fortran.
///
/// # Safety
///
/// The standard's: `index` has `nnodes` ints, `edges` as many as the last of these, and the handle can be written.
pub(crate) unsafe fn graph_create(
    comm_old: MPI_Comm,
    nnodes: c_int,
    index: *const c_int,
    edges: *const c_int,
    reorder: c_int,
    comm_graph: *mut MPI_Comm,
) -> Result {
    // SAFETY: the caller's place for the result.
    unsafe { clear_on(sys::CG_FAMILY_ABI, comm_graph) };
    let comm = comm::intra(comm_old)?;
    let size = comm.size()?;
    // SAFETY: the caller's arrays. A fault here must reach the agreement, not return early.
    let arguments =
        unsafe { out("comm_graph", comm_graph).and_then(|_| arrays(size, nnodes, index, edges)) };
    let reorder = reorder != 0;
    let arguments = arguments.map(|(index, edges)| GraphArguments { index, edges, reorder });
    let call = Call::new(Function::GraphCreate, &comm, comm_graph);
    let settings = call_settings(Function::GraphCreate);
    call.publish(create::graph_create(&comm, &HostAdvisor(&comm), settings, arguments)?)
}

/// The body of `MPI_Graphdims_get`, in C and Fortran.
///
/// # Safety
///
/// The standard's: both results can be written.
#[inline(always)]
pub(crate) unsafe fn graphdims_get(
    found: CachedTopology,
    nnodes: *mut c_int,
    nedges: *mut c_int,
) -> CheckedResult {
    let graph = as_kind(found, as_graph)?;
    // SAFETY: the caller's places for the results.
    let places = unsafe { (out("nnodes", nnodes)?, out("nedges", nedges)?) };
    *places.0 = graph.nnodes();
    *places.1 = graph.edges().len() as c_int;
    Ok(())
}

/// The body of `MPI_Graph_get`, in C and Fortran.
///
/// # Safety
///
/// The standard's: arrays with room for `maxindex` and `maxedges` ints.
#[inline(always)]
pub(crate) unsafe fn graph_get(
    found: CachedTopology,
    maxindex: c_int,
    maxedges: c_int,
    index: *mut c_int,
    edges: *mut c_int,
) -> CheckedResult {
    let graph = as_kind(found, as_graph)?;
    let nodes = length("maxindex", maxindex)?.min(graph.index().len());
    let nedges = length("maxedges", maxedges)?.min(graph.edges().len());
    // SAFETY: the caller's arrays have room for all of them.
    let places = unsafe { (output("index", index, nodes)?, output("edges", edges, nedges)?) };
    copy(places.0, &graph.index()[..nodes]);
    copy(places.1, &graph.edges()[..nedges]);
    Ok(())
}

/// The body of `MPI_Graph_neighbors_count`, in C and Fortran.
///
/// # Safety
///
/// The standard's: `nneighbors` can be written.
#[inline(always)]
pub(crate) unsafe fn graph_neighbors_count(
    found: CachedTopology,
    rank: c_int,
    nneighbors: *mut c_int,
) -> CheckedResult {
    let neighbors = as_kind(found, as_graph)?.neighbors(rank)?;
    // SAFETY: the caller's place for the result.
    *unsafe { out("nneighbors", nneighbors)? } = neighbors.len() as c_int;
    Ok(())
}

/// The body of `MPI_Graph_neighbors`, in C and Fortran.
///
/// # Safety
///
/// The standard's: an array with room for `maxneighbors` ints.
#[inline(always)]
pub(crate) unsafe fn graph_neighbors(
    found: CachedTopology,
    rank: c_int,
    maxneighbors: c_int,
    neighbors: *mut c_int,
) -> CheckedResult {
    let found = as_kind(found, as_graph)?.neighbors(rank)?;
    let room = length("maxneighbors", maxneighbors)?.min(found.len());
    // SAFETY: the caller's array has room for all of them.
    copy(unsafe { output("neighbors", neighbors, room)? }, &found[..room]);
    Ok(())
}

/// The body of `MPI_Graph_map`, in C and Fortran.
///
/// # Safety
///
/// The standard's: as [`graph_create`], and `newrank` can be written.
pub(crate) unsafe fn graph_map(
    comm: MPI_Comm,
    nnodes: c_int,
    index: *const c_int,
    edges: *const c_int,
    newrank: *mut c_int,
) -> Result {
    let comm = comm::intra(comm)?;
    // SAFETY: the caller's arrays.
    let (index, edges) = unsafe { arrays(comm.size()?, nnodes, index, edges)? };
    let graph = Graph::new(index, edges)?;
    let found = map::new_rank(&comm, Function::GraphCreate, (nnodes, None), |machine, options| {
        last_plan::plan_graph(&Csr::from(&graph), machine, options)
    })?;
    // SAFETY: the caller's place for the result.
    *unsafe { out("newrank", newrank)? } = found;
    Ok(())
}
