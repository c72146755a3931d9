//! The pairing of blocks if a process is a neighbor more than once.
//!
//! The standard pairs them by direction (MPI 4.1, 8.6), hosts by their order or its reverse, which depends on the
//! collective. Programs that work around that get it back: with `CARTOGRAPH_PAIRING=host`, or because they are known.
//! Processes agree on the pairing when they create a communicator: one may be unable to read its program's file, or to try
//! the host.

use std::ffi::c_int;
use std::sync::OnceLock;

use super::blocks::{Operation, Run, Start};
use crate::host::process::program_has;
use crate::host::settings::Settings;
use crate::host::sys;
use crate::settings::Pairing;
use crate::topology::{Direction, Topology};

/// For each block as received by the standard, the block in whose place it goes, if that differs.
pub(super) struct HostPairing {
    /// The pairing of the host, as a number of [`wanted`].
    host: c_int,
    in_order: Vec<usize>,
    reversed: Vec<usize>,
}

/// Functions of SPARC 1.0.0 and 2.0.0 (`src/lapVecRoutines.c`, `src/gradVecRoutines.c`), which swaps the blocks of
/// dimensions of one or two processes itself before a neighborhood collective. With the standard's pairing its forces are
/// wrong.
const SPARC: [&str; 3] = ["Gradient_vec_dir", "Lap_plus_diag_vec_mult_orth", "Lap_vec_mult_orth"];

/// True if the program is SPARC; `None` if its file cannot be read.
fn is_sparc() -> Option<bool> {
    static IS: OnceLock<Option<bool>> = OnceLock::new();
    *IS.get_or_init(|| program_has(&SPARC).ok())
}

/// The pairing that this process wants on a new communicator; `repeated` is true if a process is a neighbor of a process
/// more than once. 0 is the standard's; otherwise the digits in base [`BASE`] are those of the host's collectives, after a
/// first digit 1. Negative if the program's file cannot be read. Local.
pub(in crate::host) fn wanted(repeated: &dyn Fn() -> bool) -> c_int {
    let wanted = match Settings::get().pairing {
        Some(Pairing::Standard) => false,
        Some(Pairing::Host) => repeated(),
        None if repeated() => match is_sparc() {
            Some(is) => is,
            None => return -1,
        },
        None => false,
    };
    // SAFETY: asks the host for its state, which is allowed at any time.
    if wanted && unsafe { sys::cg_is_active() } != 0 { host() } else { 0 }
}

/// The number of kinds of pairings.
const BASE: c_int = sys::CG_PAIRS_REVERSED as c_int + 1;

impl HostPairing {
    /// The pairing of process `rank`, and its reason for the report; `None` if the agreed one is the standard's, or is the
    /// same on this topology. Local.
    pub(super) fn of(
        topology: &Topology,
        rank: i32,
        agreed: c_int,
    ) -> Option<(Self, &'static str)> {
        if agreed == 0 {
            return None;
        }
        let peers = topology.peers(rank, Direction::Receive);
        if peers.iter().all(|peer| peer.blocks.len() == 1) {
            return None;
        }
        let why = match Settings::get().pairing {
            Some(Pairing::Host) => "CARTOGRAPH_PAIRING is host",
            _ => "SPARC swaps them itself",
        };
        let places = || (0..topology.degree(rank, Direction::Receive)).collect::<Vec<_>>();
        let mut pairing = Self { host: agreed, in_order: places(), reversed: places() };
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
        match (self.host / BASE.pow((first + form) as u32) % BASE) as sys::cg_pairing {
            sys::CG_PAIRS_IN_ORDER => Some(&self.in_order),
            sys::CG_PAIRS_REVERSED => Some(&self.reversed),
            _ => None,
        }
    }
}

/// The host's pairing of blocks in each collective, as a number of [`wanted`]. Tested once per process, while other threads
/// wait: in a constructor, since it creates a communicator, which may wait for others that are being created.
fn host() -> c_int {
    static FOUND: OnceLock<c_int> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut found = [sys::CG_PAIRS_BY_DIRECTION; sys::CG_PAIRED as usize];
        // SAFETY: a place for the results, by one thread.
        unsafe { sys::cg_find_pairing(found.as_mut_ptr()) };
        found.iter().rev().fold(1, |number, one| number * BASE + *one as c_int)
    })
}
