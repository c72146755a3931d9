//! From ranks of communicators and windows to ranks of `MPI_COMM_WORLD`.
//!
//! A communicator carries the number of a table as an attribute. A table has those ranks that were sent
//! to, so it takes memory for them alone; the host is asked for each once. Host and tables are never asked at
//! once: the host may hold locks of its own when it calls [`gone`].

use std::cell::Cell;
use std::ffi::{c_int, c_ulong};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHasher;

use crate::next;
use crate::sys::{self, MPI_Comm, MPI_Win};
use crate::tally;

/// The table of `MPI_COMM_WORLD`, which carries no number.
pub(crate) const WORLD: u32 = 0;

/// Tables of communicators that are gone.
static GONE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The number of communicators and windows that are gone. What was remembered of a handle before may be another's.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// Held while a table is made; a thread that does not get it goes without.
static MAKING: Mutex<()> = Mutex::new(());

/// Handles that a thread remembers, as a power of two: 24 bytes each.
const REMEMBERED_BITS: u32 = 6;
const REMEMBERED: usize = 1 << REMEMBERED_BITS;

thread_local! {
    /// Handles with the generation in which they had a table.
    static KNOWN: [Cell<(usize, u64, u32)>; REMEMBERED] =
        const { [const { Cell::new((0, 0, 0)) }; REMEMBERED] };
}

/// A handle as a number: in some headers it is an int, in some a pointer, in some a structure of one int.
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

/// The communicator or window that ranks belong to.
#[derive(Clone, Copy)]
pub(crate) enum Peers {
    Comm(MPI_Comm),
    Win(MPI_Win),
}

impl Peers {
    fn handle(self) -> usize {
        match self {
            Self::Comm(comm) => bits(comm),
            Self::Win(win) => bits(win),
        }
    }

    /// The table; `None` where there can be none, or another thread is making one.
    #[inline]
    pub(crate) fn table(self) -> Option<u32> {
        // SAFETY: compares handles.
        if matches!(self, Self::Comm(comm) if unsafe { sys::cr_is_world(comm) } != 0) {
            return Some(WORLD);
        }
        let generation = GENERATION.load(Ordering::Acquire);
        let handle = self.handle();
        // Multiplied by the golden ratio, neighbors are far from each other.
        let mixed = (handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> (u64::BITS - REMEMBERED_BITS)) as usize;
        let (known, then, table) = KNOWN.with(|known| known[place].get());
        if known == handle && then == generation {
            return Some(table);
        }
        let table = self.carried()?;
        KNOWN.with(|known| known[place].set((handle, generation, table)));
        Some(table)
    }

    /// The table whose number the handle carries, if need be a new one.
    #[cold]
    fn carried(self) -> Option<u32> {
        let number = || -> Option<u32> {
            // SAFETY: a handle with which the host has just succeeded.
            let number = unsafe {
                match self {
                    Self::Comm(comm) => sys::cr_comm_number(comm),
                    Self::Win(win) => sys::cr_win_number(win),
                }
            };
            u32::try_from(number).ok().filter(|number| *number != WORLD)
        };
        if let Some(number) = number() {
            return Some(number);
        }
        let _making = MAKING.try_lock().ok()?;
        if let Some(number) = number() {
            return Some(number);
        }
        let gone = std::mem::take(&mut *GONE.lock().unwrap_or_else(PoisonError::into_inner));
        let made = tally::new_table(&gone);
        // SAFETY: as above.
        let kept = unsafe {
            match self {
                Self::Comm(comm) => sys::cr_comm_set_number(comm, made.into()),
                Self::Win(win) => sys::cr_win_set_number(win, made.into()),
            }
        };
        if kept == 0 {
            give_back(made);
            return None;
        }
        Some(made)
    }

    /// The ranks in `MPI_COMM_WORLD`, where there are such.
    pub(crate) fn in_world(self, ranks: &[c_int]) -> Vec<Option<u32>> {
        let mut world = vec![-1; ranks.len()];
        let count = ranks.len() as c_int;
        // SAFETY: a handle with which the host has just succeeded, ranks of it, and as many places.
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

fn give_back(table: u32) {
    GONE.lock().unwrap_or_else(PoisonError::into_inner).push(table);
}

/// The host calls this when a communicator or window that carries a number is freed. It may hold locks
/// that others wait for, so no host is called here.
unsafe extern "C" fn gone(number: c_ulong) {
    GENERATION.fetch_add(1, Ordering::AcqRel);
    give_back(number as u32);
}

/// Makes the keys under which communicators and windows carry numbers. Once, before anything is counted.
pub(crate) fn make_keys() {
    // SAFETY: a function that stays: the library is linked with -z nodelete.
    unsafe { sys::cr_make_keys(Some(gone), Some(next::find_next)) };
}

/// The destinations of a neighborhood collective, as ranks of its communicator.
pub(crate) fn neighbors(comm: MPI_Comm) -> Arc<[c_int]> {
    let table = Peers::Comm(comm).table();
    if let Some(known) = table.and_then(tally::neighbors) {
        return known;
    }
    // SAFETY: a communicator with which the host has just succeeded.
    let count = unsafe { sys::cr_outdegree(comm) };
    let mut ranks = vec![-1; count.max(0) as usize];
    // SAFETY: as above, and as many places as there are destinations.
    if unsafe { sys::cr_destinations(comm, count, ranks.as_mut_ptr()) } == 0 {
        ranks.clear();
    }
    let ranks: Arc<[c_int]> = ranks.into();
    if let Some(table) = table {
        tally::set_neighbors(table, ranks.clone());
    }
    ranks
}

/// The sources of a neighborhood collective, as ranks of its communicator.
pub(crate) fn sources(comm: MPI_Comm) -> Vec<c_int> {
    // SAFETY: a communicator with which the host has just succeeded.
    let count = unsafe { sys::cr_indegree(comm) };
    let mut ranks = vec![-1; count.max(0) as usize];
    // SAFETY: as above, and as many places as there are sources.
    if unsafe { sys::cr_sources(comm, count, ranks.as_mut_ptr()) } == 0 {
        ranks.clear();
    }
    ranks
}

/// A number for the processes of a communicator, the same in all of them, and how many they are; `None` for two groups.
pub(crate) fn group(comm: MPI_Comm) -> Option<(u64, u32)> {
    /// The number of processes of larger groups that are looked at.
    const MOST_LOOKED_AT: c_int = 64;
    let mut own = -1;
    // SAFETY: a communicator with which the host has just succeeded, and a place for a rank.
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
