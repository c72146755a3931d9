//! Distinguishes the program's calls from nested ones, made by a host's Fortran library, a tool, or Cartograph.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::limits::{self, Keeps};
use crate::ticks;

/// All flags below in one word, which each call reads.
static FLAGS: AtomicU8 = AtomicU8::new(0);

/// Set while calls are counted: from the start of MPI to its end.
const ON: u8 = 1;
/// Set if the start of each call is timed.
const TIMED: u8 = 2;
/// Set if the recorder's cost is measured.
const MEASURED: u8 = 4;
/// Set if only work is counted.
const ONLY_WORK: u8 = 8;
/// Set if several threads may call MPI at once.
const THREADS: u8 = 16;

/// Sets or clears a flag.
fn set(flag: u8, on: bool) {
    if on {
        FLAGS.fetch_or(flag, Ordering::Release);
    } else {
        FLAGS.fetch_and(!flag, Ordering::Release);
    }
}

/// The state of a thread.
struct State {
    inside: Cell<bool>,
    began: Cell<u64>,
    /// Calls until the recorder's cost is measured again, and the calls that the next measurement stands for.
    left: Cell<u32>,
    weight: Cell<u32>,
    /// For a measured call: the ticks before the host's function, and the time of its return.
    before: Cell<u64>,
    returned: Cell<u64>,
    /// Spreads the measured calls, so that they are not always the same call of a loop.
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
    /// True if the recorder's cost is measured in this call.
    #[inline]
    fn measures(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        left == 0
    }

    /// Counts the cost of a measured call, and chooses the next call to measure.
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
        if limits::partners_have_stopped() {
            set(ONLY_WORK, true);
        }
        if limits::has_stopped() {
            switch(false);
        }
    }
}

/// Notes that several threads may call MPI at once.
pub(crate) fn have_threads() {
    set(THREADS, true);
}

/// True if several threads may call MPI at once.
#[inline]
pub(crate) fn has_threads() -> bool {
    FLAGS.load(Ordering::Relaxed) & THREADS != 0
}

/// Starts or stops counting.
pub(crate) fn switch(on: bool) {
    set(ON, on);
}

/// True while calls are counted.
#[inline]
pub(crate) fn is_on() -> bool {
    FLAGS.load(Ordering::Acquire) & ON != 0
}

/// Measures the recorder's cost from now on, and counts nothing but work if that is all that is kept.
pub(crate) fn limit(keeps: Keeps) {
    set(MEASURED, true);
    set(ONLY_WORK, keeps == Keeps::Work);
}

/// True if only work is counted.
#[inline]
pub(crate) fn counts_only_work() -> bool {
    FLAGS.load(Ordering::Relaxed) & ONLY_WORK != 0
}

/// Starts or stops timing the start of each call.
pub(crate) fn time_all(on: bool) {
    set(TIMED, on);
}

/// True if the start of each call is timed.
#[inline]
pub(crate) fn times_all() -> bool {
    FLAGS.load(Ordering::Relaxed) & TIMED != 0
}

/// Exists as long as a call runs.
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

/// The kind of a function.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A function that sends, or does something else that is counted.
    Call,
    /// A function that sends, and whose time counts as waiting.
    TimedCall,
    /// A function that receives or waits, which is not work.
    Receive,
    /// A function that receives, and whose time counts as waiting.
    TimedReceive,
}

/// Starts a call. `None` if another wrapped function made it, or there is nothing to count. Its start is timed if its
/// time counts as waiting, or if every call is timed.
#[inline]
pub(crate) fn enter(kind: Kind) -> Option<Outermost> {
    let flags = FLAGS.load(Ordering::Acquire);
    let is_receive = matches!(kind, Kind::Receive | Kind::TimedReceive);
    if flags & ON == 0 || is_receive && flags & ONLY_WORK != 0 {
        return None;
    }
    STATE.with(|state| {
        if state.inside.replace(true) {
            return None;
        }
        let is_measured = flags & MEASURED != 0 && state.measures();
        let start = if is_measured { ticks::now() } else { 0 };
        let is_timed = matches!(kind, Kind::TimedCall | Kind::TimedReceive);
        if is_timed && flags & ONLY_WORK == 0 || flags & TIMED != 0 {
            state.began.set(ticks::now());
        }
        if is_measured {
            state.before.set(ticks::now().saturating_sub(start));
        }
        Some(Outermost { is_measured })
    })
}

/// The start of this thread's call, if it is timed.
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
