//! From a communicator or window to the number of its table.
//!
//! The handle carries the number as an attribute. Host and tables are never asked at once: the host may hold locks of
//! its own when it calls [`gone`].

use std::cell::Cell;
use std::ffi::c_ulong;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::state::tally;
use super::tables::WORLD;
use crate::next;
use crate::peers::{Peers, slot};
use crate::sys;

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

/// The number of the table; `None` where there can be none, or another thread is making one.
#[inline]
pub(super) fn table(peers: Peers) -> Option<u32> {
    // SAFETY: compares handles.
    if matches!(peers, Peers::Comm(comm) if unsafe { sys::cr_is_world(comm) } != 0) {
        return Some(WORLD);
    }
    let generation = GENERATION.load(Ordering::Acquire);
    let handle = peers.handle();
    let place = slot(handle, REMEMBERED_BITS);
    let (known, then, table) = KNOWN.with(|known| known[place].get());
    if known == handle && then == generation {
        return Some(table);
    }
    let table = carried(peers)?;
    KNOWN.with(|known| known[place].set((handle, generation, table)));
    Some(table)
}

/// The number that the handle carries, if need be a new one.
#[cold]
fn carried(peers: Peers) -> Option<u32> {
    let number = || -> Option<u32> {
        // SAFETY: a handle with which the host has just succeeded.
        let number = unsafe {
            match peers {
                Peers::Comm(comm) => sys::cr_comm_number(comm),
                Peers::Win(win) => sys::cr_win_number(win),
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
    let made = tally().tables.add(&gone);
    // SAFETY: as above.
    let kept = unsafe {
        match peers {
            Peers::Comm(comm) => sys::cr_comm_set_number(comm, made.into()),
            Peers::Win(win) => sys::cr_win_set_number(win, made.into()),
        }
    };
    if kept == 0 {
        give_back(made);
        return None;
    }
    Some(made)
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
