//! The amount that a call sends, with weights for the ranks in `MPI_COMM_WORLD` of the other processes: the same in all
//! placements, and different if a program with another input sends to other processes.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cartograph_traffic::{Work, partner_weight};

use super::locate::locate;
use super::numbers;
use super::state::tally;
use crate::peers::{self, Peers, slot};
use crate::sent::{Block, Calls, Sent};
use crate::sys::MPI_Comm;
use crate::work::Amount;

/// The number of weights that a thread caches, as a power of two: 32 bytes each.
const REMEMBERED_BITS: u32 = 6;
const REMEMBERED: usize = 1 << REMEMBERED_BITS;

thread_local! {
    /// Handles with the generation in which a rank had a weight.
    static KNOWN: [Cell<(usize, u64, c_int, i32)>; REMEMBERED] =
        const { [const { Cell::new((0, 0, 0, 0)) }; REMEMBERED] };
}

/// The rank of this process.
static OWN: AtomicU32 = AtomicU32::new(0);

/// Sets the rank of this process.
pub(super) fn begin(rank: u32) {
    OWN.store(rank, Ordering::Relaxed);
}

/// The weight of a rank of `MPI_COMM_WORLD`.
#[inline]
fn weight_in_world(rank: u32) -> i32 {
    partner_weight(OWN.load(Ordering::Relaxed), rank) as i32
}

/// The weight of a rank of a communicator or window; 0 for processes of another world.
#[inline]
fn weight(peers: Peers, rank: c_int) -> i32 {
    if peers.are_world() {
        return weight_in_world(rank as u32);
    }
    let (handle, generation) = (peers.handle(), numbers::generation());
    let place = slot(handle ^ (rank as usize).rotate_left(32), REMEMBERED_BITS);
    let (known, then, of, weight) = KNOWN.with(|known| known[place].get());
    if (known, then, of) == (handle, generation, rank) {
        return weight;
    }
    let (tally, other) = locate(peers, rank);
    let weight = other.map_or(0, |other| weight_in_world(tally.rank(other)));
    drop(tally);
    KNOWN.with(|known| known[place].set((handle, generation, rank, weight)));
    weight
}

/// The weights of all ranks of a communicator, of which there are not too many.
fn weights(comm: MPI_Comm) -> Arc<[i32]> {
    let peers = Peers::Comm(comm);
    let table = numbers::table(peers);
    let known = tally().tables.table(table).weights.clone();
    known.unwrap_or_else(|| {
        let ranks: Vec<c_int> = (0..peers::size(comm)).collect();
        let world = peers.in_world(&ranks).into_iter();
        let weights: Arc<[i32]> = world.map(|rank| rank.map_or(0, weight_in_world)).collect();
        tally().tables.table(table).weights = Some(weights.clone());
        weights
    })
}

/// The amount of a call.
#[inline]
pub(super) fn of(sent: &Sent) -> Amount {
    match sent {
        Sent::One(peers, block) => blocks(std::slice::from_ref(block), |rank| weight(*peers, rank)),
        Sent::Many(peers, all) => blocks(all, |rank| weight(*peers, rank)),
        Sent::Neighbors(comm, all) => blocks(all, |rank| weight(Peers::Comm(*comm), rank)),
        Sent::All(Calls { comm, .. }, all) => {
            let weights = weights(*comm);
            blocks(all, |rank| weights.get(rank as usize).copied().unwrap_or(0))
        }
        Sent::Calls(_) => {
            Amount { work: Work { collectives: 1, ..Work::default() }, ..Amount::default() }
        }
    }
}

#[inline]
fn blocks(blocks: &[Block], weight: impl Fn(c_int) -> i32) -> Amount {
    let mut amount = Amount::default();
    for block in blocks.iter().filter(|block| block.rank >= 0) {
        amount.work.messages += 1;
        amount.work.bytes = amount.work.bytes.saturating_add(block.bytes);
        let weighted = (block.bytes as i64).wrapping_mul(weight(block.rank).into());
        amount.pattern = amount.pattern.wrapping_add(weighted);
    }
    amount
}
