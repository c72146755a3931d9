//! Finds the processes that a call names. The host is asked once for each rank of a communicator.

use std::ffi::c_int;
use std::sync::{Arc, MutexGuard};

use rustc_hash::FxHashMap;

use super::numbers;
use super::state::{Tally, tally};
use crate::peers::{self, Peers};
use crate::sent::Block;
use crate::sys::{self, MPI_Comm};

/// The tally, and the index of a rank in `others`; `None` for processes of another world.
#[inline]
pub(super) fn locate(peers: Peers, rank: c_int) -> (MutexGuard<'static, Tally>, Option<u32>) {
    let table = numbers::table(peers);
    let tally_now = tally();
    if let Some(found) = tally_now.tables.find(table, rank) {
        return (tally_now, found);
    }
    drop(tally_now);
    let found = resolve(peers, &[Block { rank, bytes: 0, fetched: false }]);
    (tally(), found.first().map(|(other, _)| *other))
}

/// The index in `others` of the source of a receive, whose rank may be a wildcard; `None` if nothing is received.
pub(super) fn source(
    comm: MPI_Comm,
    rank: c_int,
) -> Option<(MutexGuard<'static, Tally>, Option<u32>)> {
    match rank {
        sys::CR_PROC_NULL => None,
        sys::CR_ANY_SOURCE => Some((tally(), None)),
        _ => Some(locate(Peers::Comm(comm), rank)),
    }
}

/// The blocks for processes of this world, with the indices of these in `others`.
pub(super) fn resolve(peers: Peers, blocks: &[Block]) -> Vec<(u32, Block)> {
    let table = numbers::table(peers);
    let mut tally_now = tally();
    let known = |tally: &Tally, rank| tally.tables.find(table, rank);
    let mut unknown: Vec<c_int> = blocks
        .iter()
        .map(|block| block.rank)
        .filter(|rank| *rank >= 0 && known(&tally_now, *rank).is_none())
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    let mut asked = FxHashMap::default();
    if !unknown.is_empty() {
        drop(tally_now);
        let world = peers.in_world(&unknown);
        tally_now = tally();
        for (rank, world) in unknown.into_iter().zip(world) {
            let other = world.map(|world| tally_now.other(world));
            asked.insert(rank, other);
            tally_now.tables.table(table).ranks.insert(rank, other);
        }
    }
    let place = |block: &Block| {
        let found = asked.get(&block.rank).copied().or_else(|| known(&tally_now, block.rank));
        Some((found??, *block))
    };
    blocks.iter().filter_map(place).collect()
}

/// The destinations of a neighborhood collective, as ranks of its communicator.
pub(crate) fn neighbors(comm: MPI_Comm) -> Arc<[c_int]> {
    let table = numbers::table(Peers::Comm(comm));
    let known = tally().tables.table(table).neighbors.clone();
    known.unwrap_or_else(|| {
        let ranks: Arc<[c_int]> = peers::destinations(comm).into();
        tally().tables.table(table).neighbors = Some(ranks.clone());
        ranks
    })
}
