//! The topologies that this process remembers, and its identity in them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

use crate::engine::Comm;
use crate::engine::decision::ReorderDecision;
use crate::engine::history::{History, Identities};
use crate::host::attributes::lifetime;
use crate::host::machine::{is_active, ranks_in_world};
use crate::host::{HostComm, Result, family, sys};

/// Entries belong to the processes of a communicator, not to its handle, so they remain valid while the program runs.
static HISTORY: History = History::new();

/// The topologies, remembered until the host ends.
pub(in crate::host) fn history() -> &'static History {
    // On SMPI other ranks of this process may still run.
    if !family::is_smpi() {
        lifetime::calls_at_the_end(|| HISTORY.clear());
    }
    &HISTORY
}

/// The rank in `MPI_COMM_WORLD` if rank 0 of the communicator is in it too, otherwise a random number: processes of
/// different worlds may have the same rank.
pub(in crate::host) fn identity(comm: &HostComm) -> u64 {
    static CHANCE: OnceLock<u64> = OnceLock::new();
    // SAFETY: a communicator of the program, and an existing world.
    let rank = is_active().then(|| unsafe { sys::cg_rank_in_shared_world(comm.0) });
    match rank.filter(|rank| *rank != sys::CG_UNDEFINED) {
        Some(rank) => rank as u64,
        None => *CHANCE.get_or_init(|| RandomState::new().build_hasher().finish() | 1 << 63),
    }
}

/// The rank in `MPI_COMM_WORLD` if all processes share their memory.
pub(in crate::host) fn process() -> u64 {
    match family::is_smpi() {
        true => HostComm::world().rank().map_or(0, |rank| rank as u64),
        false => 0,
    }
}

/// The most steps that the host may take to find the ranks in `MPI_COMM_WORLD`, some milliseconds.
const MOST_STEPS: i64 = 1 << 23;

/// The ranks of all processes in `MPI_COMM_WORLD`, unless one is not in it or the host would take too long. Local.
pub(in crate::host) fn identities(comm: &HostComm) -> Option<Identities> {
    if !is_active() {
        return None;
    }
    let world = HostComm::world();
    let (size, of_world) = (comm.size().ok()?, world.size().ok()?);
    let of_ranks = match comm.0 == world.0 {
        true => (0..size as u64).collect(),
        false if i64::from(size) * i64::from(of_world) > MOST_STEPS => return None,
        false => ranks_in_world(comm).ok()??.into_iter().map(|rank| rank as u64).collect(),
    };
    Some(Identities { of_ranks, of_world })
}

/// The rank of the calling process in the communicator that a constructor would create on `comm`, if earlier topologies
/// determine it; `None` inside if the process would be left out. Local.
pub(in crate::host) fn decided(
    comm: &HostComm,
    dims: Option<&[i32]>,
    decision: ReorderDecision,
) -> Result<Option<Option<i32>>> {
    if HISTORY.is_empty() {
        return Ok(None);
    }
    let (rank, size) = (comm.rank()?, comm.size()?);
    let Some(known) = identities(comm) else { return Ok(None) };
    let (order, process) = (known.order(), process());
    let earlier = dims.and_then(|dims| HISTORY.new_rank(order, size, dims, process));
    let is_in_place = || HISTORY.has_made(order) || known.are_part(&HISTORY, process);
    let kept = || (decision.keeps_in_place && is_in_place()).then_some(Some(rank));
    Ok(earlier.or_else(kept))
}
