//! Communicators and windows, and their ranks in `MPI_COMM_WORLD`, from the host.

use std::ffi::c_int;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::sys::{self, MPI_Comm, MPI_Win};

/// A handle as a number: an int in some headers, a pointer in others, or a structure of one int.
#[inline]
pub(crate) fn bits<H: Copy>(handle: H) -> usize {
    const { assert!(size_of::<H>() == size_of::<c_int>() || size_of::<H>() == size_of::<usize>()) };
    if size_of::<H>() == size_of::<usize>() {
        // SAFETY: of the same size, and any bits are a number.
        unsafe { std::mem::transmute_copy(&handle) }
    } else {
        // SAFETY: as above.
        let number: u32 = unsafe { std::mem::transmute_copy(&handle) };
        number as usize
    }
}

/// The slot of a handle among two to the power of `bits`.
#[inline]
pub(crate) fn slot(handle: usize, bits: u32) -> usize {
    // Multiplied by the golden ratio, consecutive handles are far from each other.
    ((handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - bits)) as usize
}

/// The communicator or window of a rank.
#[derive(Clone, Copy)]
pub(crate) enum Peers {
    Comm(MPI_Comm),
    Win(MPI_Win),
}

impl Peers {
    /// The handle as a number.
    pub(crate) fn handle(self) -> usize {
        match self {
            Self::Comm(comm) => bits(comm),
            Self::Win(win) => bits(win),
        }
    }

    /// True for `MPI_COMM_WORLD`.
    #[inline]
    pub(crate) fn are_world(self) -> bool {
        // SAFETY: compares handles.
        matches!(self, Self::Comm(comm) if unsafe { sys::cr_is_world(comm) } != 0)
    }

    /// The ranks in `MPI_COMM_WORLD`, if any.
    pub(crate) fn in_world(self, ranks: &[c_int]) -> Vec<Option<u32>> {
        let mut world = vec![-1; ranks.len()];
        let count = ranks.len() as c_int;
        // SAFETY: the host has just accepted the handle; the ranks are valid for it, and there is room for all of them.
        let done = unsafe {
            match self {
                Self::Comm(comm) => {
                    sys::cr_comm_in_world(comm, count, ranks.as_ptr(), world.as_mut_ptr())
                }
                Self::Win(win) => {
                    sys::cr_win_in_world(win, count, ranks.as_ptr(), world.as_mut_ptr())
                }
            }
        };
        world.iter().map(|rank| u32::try_from(*rank).ok().filter(|_| done != 0)).collect()
    }
}

/// The destinations of a neighborhood collective, as ranks of its communicator.
pub(crate) fn destinations(comm: MPI_Comm) -> Vec<c_int> {
    // SAFETY: the host has just accepted the communicator.
    let count = unsafe { sys::cr_outdegree(comm) };
    let mut ranks = vec![-1; count.max(0) as usize];
    // SAFETY: as above, and room for all destinations.
    if unsafe { sys::cr_destinations(comm, count, ranks.as_mut_ptr()) } == 0 {
        ranks.clear();
    }
    ranks
}

/// The sources of a neighborhood collective, as ranks of its communicator.
pub(crate) fn sources(comm: MPI_Comm) -> Vec<c_int> {
    // SAFETY: the host has just accepted the communicator.
    let count = unsafe { sys::cr_indegree(comm) };
    let mut ranks = vec![-1; count.max(0) as usize];
    // SAFETY: as above, and room for all sources.
    if unsafe { sys::cr_sources(comm, count, ranks.as_mut_ptr()) } == 0 {
        ranks.clear();
    }
    ranks
}

/// The number of processes to which an all-to-all sends.
pub(crate) fn size(comm: MPI_Comm) -> c_int {
    let mut own = 0;
    // SAFETY: the host has just accepted the communicator, and there is a place for a rank.
    unsafe { sys::cr_all(comm, &raw mut own) }
}

/// A hash of the processes of a communicator, the same in all of them, and their number; `None` for an
/// inter-communicator.
pub(crate) fn group(comm: MPI_Comm) -> Option<(u64, u32)> {
    /// For larger groups, only this number of processes is hashed.
    const MOST_LOOKED_AT: c_int = 64;
    let mut own = -1;
    // SAFETY: the host has just accepted the communicator, and there is a place for a rank.
    let size = unsafe { sys::cr_all(comm, &raw mut own) };
    if own < 0 || size <= 0 {
        return None;
    }
    let looked = size.min(MOST_LOOKED_AT);
    let ranks: Vec<c_int> = (0..looked)
        .map(|at| (i64::from(at) * i64::from(size) / i64::from(looked)) as c_int)
        .collect();
    let mut hasher = FxHasher::default();
    (size, Peers::Comm(comm).in_world(&ranks)).hash(&mut hasher);
    Some((hasher.finish(), size as u32))
}
