//! The pairing of blocks if a process is a neighbor more than once.
//!
//! The standard pairs them by direction (MPI 4.1, 8.6), hosts by their order or its reverse, which depends on the
//! collective. Programs that work around that get it back: with `CARTOGRAPH_PAIRING=host`, or because they are
//! [known](crate::engine::incompatible_program).

use std::sync::OnceLock;

use super::blocks::{Operation, Run, Start};
use crate::host::process::backtrace;
use crate::host::settings::Settings;
use crate::host::sys;
use crate::settings::Pairing;
use crate::topology::{Direction, Topology};

/// For each block as received by the standard, the block in whose place it goes, if that differs.
pub(super) struct HostPairing {
    in_order: Vec<usize>,
    reversed: Vec<usize>,
}

/// Why blocks are paired as by the host, for the report.
pub(super) const BY_SETTING: &str = "CARTOGRAPH_PAIRING is host";

impl HostPairing {
    /// The pairing of process `rank`, and its reason; `None` if the standard's is used, or the host's is the same on
    /// this topology. Local.
    pub(super) fn of(topology: &Topology, rank: i32) -> Option<(Self, &'static str)> {
        let peers = topology.peers(rank, Direction::Receive);
        if peers.iter().all(|peer| peer.blocks.len() == 1) {
            return None;
        }
        let why = match Settings::get().pairing {
            Some(Pairing::Standard) => return None,
            Some(Pairing::Host) => BY_SETTING,
            None => backtrace::pairs_itself()?,
        };
        let places = || (0..topology.degree(rank, Direction::Receive)).collect::<Vec<_>>();
        let mut pairing = Self { in_order: places(), reversed: places() };
        // Blocks of a peer are in the order in which it sends them.
        for sent in peers.iter().map(|peer| &peer.blocks) {
            let mut listed = sent.clone();
            listed.sort_unstable();
            for (block, place) in sent.iter().zip(&listed) {
                pairing.in_order[*block] = *place;
            }
            for (block, place) in sent.iter().zip(listed.iter().rev()) {
                pairing.reversed[*block] = *place;
            }
        }
        Some((pairing, why))
    }

    /// The positions of a collective's blocks; `None` if they are the standard's.
    pub(super) fn places(&self, operation: Operation, run: Run) -> Option<&[usize]> {
        let first = match operation {
            // All blocks of a process are the same.
            Operation::Allgather | Operation::Allgatherv => return None,
            Operation::Alltoall => 0,
            Operation::AlltoallVaried => sys::CG_PAIRED as usize / 2,
        };
        let form = match run {
            Run::Blocking => 0,
            Run::Request(Start::Now, _) => 1,
            Run::Request(Start::Later(_), _) => 2,
        };
        match host()[first + form] {
            sys::CG_PAIRS_IN_ORDER => Some(&self.in_order),
            sys::CG_PAIRS_REVERSED => Some(&self.reversed),
            _ => None,
        }
    }
}

/// The host's pairing of blocks in each collective. Tested once per process, while other threads wait.
fn host() -> &'static [sys::cg_pairing; sys::CG_PAIRED as usize] {
    static FOUND: OnceLock<[sys::cg_pairing; sys::CG_PAIRED as usize]> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found = [sys::CG_PAIRS_BY_DIRECTION; sys::CG_PAIRED as usize];
        // SAFETY: a place for the results, by one thread.
        unsafe { sys::cg_find_pairing(found.as_mut_ptr()) };
        found
    })
}

/// Tests it if the user requests it: in a constructor, since it creates a communicator, which may wait for others that
/// are being created.
pub(in crate::host) fn learn() {
    if Settings::get().pairing == Some(Pairing::Host) {
        host();
    }
}
