//! The number of the table of a communicator or window.
//!
//! The table belongs to the handle until it is freed. The table is not an attribute: a program may send in its
//! callbacks while the host iterates over the attributes of the same communicator, and an attribute that is set
//! meanwhile is lost, or causes others to be lost.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::state::tally;
use super::tables::WORLD;
use crate::peers::{Peers, slot};

/// The number of freed communicators and windows. Cached results for a handle from before may belong to another.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// The number of handles that a thread caches, as a power of two: 24 bytes each.
const REMEMBERED_BITS: u32 = 6;
const REMEMBERED: usize = 1 << REMEMBERED_BITS;

thread_local! {
    /// Handles with the generation in which they had a table.
    static KNOWN: [Cell<(usize, u64, u32)>; REMEMBERED] =
        const { [const { Cell::new((0, 0, 0)) }; REMEMBERED] };
}

/// Cached results for a handle are valid in the generation in which they were found.
#[inline]
pub(super) fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// The number of the table, created if needed.
#[inline]
pub(super) fn table(peers: Peers) -> u32 {
    if peers.are_world() {
        return WORLD;
    }
    let generation = generation();
    let handle = peers.handle();
    let place = slot(handle, REMEMBERED_BITS);
    let (known, then, table) = KNOWN.with(|known| known[place].get());
    if known == handle && then == generation {
        return table;
    }
    let table = tally().tables.of(handle);
    KNOWN.with(|known| known[place].set((handle, generation, table)));
    table
}

/// Releases the table of a communicator or window that is being freed.
pub(crate) fn gone(peers: Peers) {
    if tally().tables.remove(peers.handle()) {
        GENERATION.fetch_add(1, Ordering::AcqRel);
    }
}
