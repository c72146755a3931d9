//! Distinguishes the program's calls from nested ones, which a host's Fortran library, a tool, or Cartograph may make.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ticks;

/// True if anything is counted: from the start of MPI to its end.
static ON: AtomicBool = AtomicBool::new(false);

/// True if the beginning of each call is noted.
static TIMED: AtomicBool = AtomicBool::new(false);

/// The state of a thread.
struct State {
    inside: Cell<bool>,
    began: Cell<u64>,
}

thread_local! {
    static STATE: State = const { State { inside: Cell::new(false), began: Cell::new(0) } };
}

/// Begins or ends to count.
pub(crate) fn switch(on: bool) {
    ON.store(on, Ordering::Release);
}

/// Returns whether anything is counted.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

/// Starts or stops noting the time at which each call begins.
pub(crate) fn time_all(on: bool) {
    TIMED.store(on, Ordering::Relaxed);
}

/// Returns whether the beginning of each call is timed.
#[inline]
pub(crate) fn times_all() -> bool {
    TIMED.load(Ordering::Relaxed)
}

/// For as long as a call lasts.
pub(crate) struct Outermost;

/// A call begins. `None` if it is made by another that is wrapped, or nothing is counted. Its beginning is noted
/// if it is `timed`, or that of each call is.
#[inline]
pub(crate) fn enter(timed: bool) -> Option<Outermost> {
    if !is_on() {
        return None;
    }
    STATE.with(|state| {
        if state.inside.replace(true) {
            return None;
        }
        if timed || times_all() {
            state.began.set(ticks::now());
        }
        Some(Outermost)
    })
}

/// When the call of this thread began, if that is noted.
#[inline]
pub(crate) fn began() -> u64 {
    STATE.with(|state| state.began.get())
}

/// A number for the thread.
pub(crate) fn thread() -> usize {
    STATE.with(|state| ptr::from_ref(state) as usize)
}

impl Drop for Outermost {
    #[inline]
    fn drop(&mut self) {
        STATE.with(|state| state.inside.set(false));
    }
}
