//! The lifetime of our keys.
//!
//! A host may end with its world or its last session and start again with another session, and then give the number of
//! our key to other code. So without a world, a key is freed with the last of its attributes, and the next function
//! that needs one creates another. MPI_COMM_WORLD is not re-created, so with a world, keys stay until it ends.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

#[cfg(mpi_sessions)]
use super::cache;
use super::key::{Key, Retirement, no_copy};
use crate::host::sys::{self, MPI_Comm};
use crate::host::{HostComm, errors, family};

/// Carried by `MPI_COMM_SELF`, so that the host signals the end of the world.
static HOOK: Key = Key::new(no_copy, world_ends);

/// The world exists, or its end was not noticed.
const BEFORE: u8 = 0;
/// The world has ended, and communicators with attributes of ours remained.
const LEFT: u8 = 1;
/// The world has ended, and its keys with it.
const AFTER: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(BEFORE);

/// The number of communicators that carry a topology.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Releases the keys of a module.
type Retire = fn(Retirement);

/// The retiring functions of the modules that have keys: of topologies and of datatypes.
static OWNERS: Mutex<[Option<Retire>; 2]> = Mutex::new([None; 2]);

/// Registers `retire`, which is called whenever keys must be freed; a second registration has no effect.
pub(in crate::host) fn retires_with_the_last(retire: Retire) {
    let mut owners = OWNERS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |owner: &Option<Retire>| owner.is_none_or(|owner| ptr::fn_addr_eq(owner, retire));
    *owners.iter_mut().find(|owner| is_it(owner)).expect("a place for each module") = Some(retire);
}

/// Frees the objects that a module has in the host, which is ending.
type AtEnd = fn();

/// The functions that modules have called at the start of `MPI_Finalize`: for datatypes, persistent requests, private
/// communicators, the process's own communicator, and earlier topologies.
static AT_THE_END: Mutex<[Option<AtEnd>; 5]> = Mutex::new([None; 5]);

/// Registers `end`, which is called when the world ends; a second registration has no effect.
pub(in crate::host) fn calls_at_the_end(end: AtEnd) {
    let mut ends = AT_THE_END.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |known: &Option<AtEnd>| known.is_none_or(|known| ptr::fn_addr_eq(known, end));
    *ends.iter_mut().find(|known| is_it(known)).expect("an entry for each module") = Some(end);
}

/// Counts one more communicator with an attribute. Called before the attribute is set: otherwise a thread that
/// frees the last such communicator could free the key in between.
pub(in crate::host) fn count_up() {
    LIVE.fetch_add(1, Ordering::Relaxed);
}

/// Decrements the number of communicators with an attribute, which excludes those discarded at the host's end.
pub(in crate::host) fn count_down() {
    let less = |live: usize| live.checked_sub(1);
    if LIVE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) == Ok(1) {
        nothing_is_live();
    }
}

/// Ensures that the end of `MPI_COMM_WORLD` is noticed, if there is one; true if it is. Called for each new topology.
pub(in crate::host) fn watch() -> bool {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    // SAFETY: asks the host for its state, which is allowed at any time.
    let is_active = || unsafe { sys::cg_is_active() } != 0;
    // SMPI frees the attributes of MPI_COMM_SELF after MPI has ended.
    if WATCHED.load(Ordering::Relaxed) {
        return true;
    }
    let value = ptr::from_ref(&HOOK).cast_mut().cast();
    let may = !family::is_smpi() && is_active();
    let watched = may && HOOK.put_if_absent(HostComm::itself().0, value).is_ok();
    WATCHED.store(watched, Ordering::Relaxed);
    watched
}

/// The host calls this in `MPI_Finalize`.
unsafe extern "C" fn world_ends(
    _comm: MPI_Comm,
    _keyval: c_int,
    _value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: no wait of ours is in progress while MPI ends.
    unsafe { sys::cg_free_relay() };
    host_ends();
    if LIVE.load(Ordering::Relaxed) != 0 {
        STATE.store(LEFT, Ordering::Relaxed);
    } else {
        STATE.store(AFTER, Ordering::Relaxed);
        retire(Retirement::Freed);
    }
    sys::CG_SUCCESS
}

/// Releases the keys if that is safe, when the last communicator with an attribute of ours is gone.
fn nothing_is_live() {
    // SAFETY: asks the host for its state, which is allowed at any time.
    let [world_was_there, is_active] =
        unsafe { [sys::cg_world_is_initialized() != 0, sys::cg_is_active() != 0] };
    match STATE.load(Ordering::Relaxed) {
        BEFORE if is_active => {}
        // A program that uses only sessions frees communicators while the host is active.
        BEFORE if !world_was_there => retire(Retirement::Freed),
        AFTER => retire(Retirement::Freed),
        // The host may be freeing the remaining communicators in MPI_Finalize, and may no longer be called.
        _ => {
            STATE.store(AFTER, Ordering::Relaxed);
            retire(Retirement::Abandoned);
        }
    }
}

/// Frees the objects of modules in a host that is about to end.
pub(in crate::host) fn host_ends() {
    // Not under the lock, since the host is called.
    let ends = *AT_THE_END.lock().unwrap_or_else(PoisonError::into_inner);
    ends.into_iter().flatten().for_each(|end| end());
}

/// Forgets a host that has ended, with everything that it left: handles of communicators, numbers of keys, and error
/// codes.
#[cfg(mpi_sessions)]
pub(in crate::host) fn host_has_ended() {
    cache::clear();
    LIVE.store(0, Ordering::Relaxed);
    if STATE.load(Ordering::Relaxed) == LEFT {
        STATE.store(AFTER, Ordering::Relaxed);
    }
    retire(Retirement::Abandoned);
}

fn retire(way: Retirement) {
    errors::forget_codes();
    // Not under the lock, since the host is called.
    let owners = *OWNERS.lock().unwrap_or_else(PoisonError::into_inner);
    for retire in owners.into_iter().flatten() {
        retire(way);
    }
}
