//! Which nonblocking and persistent collectives are the [host's own](super::graph), where it is right, and which
//! [an all-to-all](super::request).
//!
//! On large communicators all are the host's own. On small ones an all-to-all takes less time, most of all where a process
//! is a neighbor of a process more than once and blocks between them are merged into one message: but not where they are
//! large, since hosts copy a contiguous block at once and pack others, nor if there is more room than is sent,
//! since what is sent must not lie one after the other then. Which way a call goes all processes must know alike, so it
//! rests on what the standard has alike on all: the size of `alltoall`'s and `allgather`'s blocks.

use super::types::Sizes;
use super::{Block, Neighborhood, Operation, Side, graph};
use crate::engine::HostGraph;
use crate::host::settings::{Neighbor, Settings};
use crate::host::sys;
use crate::topology::Direction;

/// From so many processes on it takes fewer instructions than an all-to-all, on MPICH 4.0.2 and 5.0.2, Open MPI 4.1.4
/// and 5.0.11: `scripts/bench-neighbor-count.sh`.
const FEWEST: i32 = 64;

/// Blocks of one size of at most so many bytes are merged where they go to one process, on communicators of fewer
/// processes. On MPICH a merged message of more than some KiB waits for its receiver, where single ones do not:
/// docs/neighborhood.md has the measurements.
fn most_merged() -> usize {
    // SAFETY: a constant of the C part.
    match unsafe { sys::cg_family_built } {
        sys::CG_FAMILY_OPEN_MPI => 8192,
        _ => 512,
    }
}

/// What this process would have be the host's own on a new communicator of so many processes, on which a process is a
/// neighbor of a process more than once or not. Local.
pub(in crate::host) fn wanted(processes: i32, repeated: &dyn Fn() -> bool) -> HostGraph {
    let wanted = match Settings::get().neighbor {
        _ if processes < 2 => HostGraph::None,
        Neighbor::AllToAll => HostGraph::None,
        Neighbor::Graph => HostGraph::All,
        Neighbor::BySize if processes >= FEWEST => HostGraph::All,
        Neighbor::BySize if repeated() => HostGraph::AllButSmall,
        Neighbor::BySize => HostGraph::None,
    };
    if wanted != HostGraph::None && graph::is_right() { wanted } else { HostGraph::None }
}

/// The most bytes of blocks of one size that are merged although others go by the host's own.
pub(crate) fn merged_up_to(host_graph: HostGraph) -> Option<u32> {
    (host_graph == HostGraph::AllButSmall).then(|| most_merged() as u32)
}

/// Whether a collective is the host's own. All processes come to the same.
pub(super) fn is_by_host(
    of: &Neighborhood<'_>,
    operation: Operation,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
) -> bool {
    match of.host_graph() {
        HostGraph::None => false,
        HostGraph::AllButSmall => !is_small(of, operation, send, receive),
        HostGraph::All => true,
    }
}

/// Whether all blocks are of one size, which is small. By the room for them: programs may have one process send less
/// than others.
fn is_small(
    of: &Neighborhood<'_>,
    operation: Operation,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
) -> bool {
    if !operation.is_uniform() {
        return false;
    }
    let block = match of.degree(Direction::Receive) {
        0 => (send.block)(0),
        _ => (receive.block)(0),
    };
    Sizes::default().of(&block).is_some_and(|bytes| bytes <= most_merged())
}
