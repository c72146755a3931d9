//! Distinguishes the program's calls from nested ones, which a host's Fortran library, a tool, or Cartograph may make.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{limits, ticks};

/// True if anything is counted: from the start of MPI to its end.
static ON: AtomicBool = AtomicBool::new(false);

/// True if the beginning of each call is noted.
static TIMED: AtomicBool = AtomicBool::new(false);

/// The state of a thread.
struct State {
    inside: Cell<bool>,
    began: Cell<u64>,
    /// Calls until the recorder's cost is measured again, and the calls that the next measurement stands for.
    left: Cell<u32>,
    weight: Cell<u32>,
    /// Of a measured call: the ticks before the host's function, and when it returned.
    before: Cell<u64>,
    returned: Cell<u64>,
    /// Spreads the measured calls, so that they are not always the same one of a loop.
    spread: Cell<u32>,
}

thread_local! {
    static STATE: State = const {
        State {
            inside: Cell::new(false),
            began: Cell::new(0),
            left: Cell::new(0),
            weight: Cell::new(1),
            before: Cell::new(0),
            returned: Cell::new(0),
            spread: Cell::new(0),
        }
    };
}

impl State {
    /// Returns whether the recorder's cost is measured in this call.
    #[inline]
    fn measures(&self) -> bool {
        if !limits::is_measured() {
            return false;
        }
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        left == 0
    }

    /// Counts the cost of a measured call, and chooses the next one to be measured.
    #[cold]
    fn count(&self) {
        let after = ticks::now().saturating_sub(self.returned.get());
        let weight = self.weight.get();
        let spread = self.spread.get().wrapping_add(0x9e37_79b9);
        let next = 8 + (spread >> 28);
        self.spread.set(spread);
        self.weight.set(next);
        self.left.set(next - 1);
        limits::count(self.before.get() + after, weight.into());
        if limits::calls_have_stopped() {
            time_all(false);
        }
        if limits::has_stopped() {
            switch(false);
        }
    }
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
pub(crate) struct Outermost {
    is_measured: bool,
}

impl Outermost {
    /// The host's function has returned.
    #[inline]
    pub(crate) fn returned(&self) {
        if self.is_measured {
            STATE.with(|state| state.returned.set(ticks::now()));
        }
    }
}

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
        let is_measured = state.measures();
        let start = if is_measured { ticks::now() } else { 0 };
        if timed || times_all() {
            state.began.set(ticks::now());
        }
        if is_measured {
            state.before.set(ticks::now().saturating_sub(start));
        }
        Some(Outermost { is_measured })
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
        STATE.with(|state| {
            state.inside.set(false);
            if self.is_measured {
                state.count();
            }
        });
    }
}
