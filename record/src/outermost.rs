//! Which call is the program's own: a host's Fortran library, a tool, or Cartograph may make others in it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether anything is counted: from the start of MPI to its end.
static ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Begins or ends to count.
pub(crate) fn switch(on: bool) {
    ON.store(on, Ordering::Release);
}

/// Whether anything is counted.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

/// For as long as a call lasts.
pub(crate) struct Outermost;

/// A call begins. `None` if it is made by another that is wrapped, or nothing is counted.
#[inline]
pub(crate) fn enter() -> Option<Outermost> {
    // Not then_some: what it would make and drop for a call within another would end that one.
    (is_on() && !INSIDE.replace(true)).then(|| Outermost)
}

impl Drop for Outermost {
    #[inline]
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}
