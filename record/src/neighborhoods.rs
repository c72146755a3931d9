//! Determines the blocks that a neighborhood collective sends, from its arguments.

use std::ffi::c_int;

use crate::sent::{Block, Sent, bytes};
use crate::sys::{MPI_Comm, MPI_Datatype};
use crate::tally;

/// One block for all neighbors.
pub(crate) fn neighbors(comm: MPI_Comm, count: impl Into<i64>, datatype: MPI_Datatype) -> Sent {
    let ranks = tally::neighbors(comm);
    let bytes = if ranks.is_empty() { 0 } else { bytes(count, datatype) };
    Sent::Neighbors(comm, ranks.iter().map(|rank| Block::to(*rank, bytes)).collect())
}

/// A separate block to each neighbor.
///
/// # Safety
///
/// `counts` has an entry for each neighbor, and so does `datatypes`, unless `stride` is 0: then it has one.
unsafe fn neighbor_blocks<C: Copy + Into<i64>>(
    comm: MPI_Comm,
    counts: *const C,
    datatypes: *const MPI_Datatype,
    stride: usize,
) -> Sent {
    let ranks = tally::neighbors(comm);
    let block = |(at, rank): (usize, &c_int)| {
        // SAFETY: as the caller promises.
        let (count, datatype) = unsafe { (*counts.add(at), *datatypes.add(at * stride)) };
        Block::of(*rank, count, datatype)
    };
    Sent::Neighbors(comm, ranks.iter().enumerate().map(block).collect())
}

/// A separate block to each neighbor, with one datatype.
///
/// # Safety
///
/// `counts` has an entry for each neighbor.
pub(crate) unsafe fn neighbors_v<C: Copy + Into<i64>>(
    comm: MPI_Comm,
    counts: *const C,
    datatype: MPI_Datatype,
) -> Sent {
    // SAFETY: as the caller promises.
    unsafe { neighbor_blocks(comm, counts, &raw const datatype, 0) }
}

/// A separate block to each neighbor, each with its own datatype.
///
/// # Safety
///
/// The arrays have an entry for each neighbor.
pub(crate) unsafe fn neighbors_w<C: Copy + Into<i64>>(
    comm: MPI_Comm,
    counts: *const C,
    datatypes: *const MPI_Datatype,
) -> Sent {
    // SAFETY: as the caller promises.
    unsafe { neighbor_blocks(comm, counts, datatypes, 1) }
}
