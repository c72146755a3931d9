//! The limits of a recording that `cartograph run` makes in a user's job: its cost and its size.
//!
//! The cost is measured in the job: for about one of sixteen calls, the time that the recorder adds. A recorder that
//! takes more than 0.5 % of the time since `MPI_Init` keeps no further calls in order, one that takes more than 0.7 %
//! counts only work, and one that takes more than 1 % stops.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use cartograph_traffic::Limits;

use crate::ticks;

/// The variable that sets limits: `calls`, or `work` for recordings with nothing else.
const VARIABLE: &str = "CARTOGRAPH_RECORD_LIMITED";

/// The fractions of the time that the recorder may take before it keeps no further calls, before it counts only work,
/// and before it stops.
const FRACTIONS: [u64; 3] = [200, 140, 100];

/// The recorder may take this many ticks (some milliseconds) before a limit applies: most programs send much at the start.
const FREE: u64 = 15_000_000;

/// The most ticks of a call that count as its cost: if there are more, the process was interrupted.
const LONGEST: u64 = 30_000;

/// The limits, if there are any, and the rank of the process.
static LIMITS: OnceLock<(Limits, u32)> = OnceLock::new();
/// The number of [`FRACTIONS`] that the recorder has exceeded.
static EXCEEDED: AtomicU8 = AtomicU8::new(0);

/// The ticks at the start, the ticks that the recorder has taken in calls since, and the nanoseconds of single events.
static START: AtomicU64 = AtomicU64::new(0);
static COST: AtomicU64 = AtomicU64::new(0);
static ONCE: AtomicU64 = AtomicU64::new(0);

/// What a recording with limits keeps.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Keeps {
    /// The first calls in order, and sums.
    Calls,
    /// The work.
    Work,
}

/// What the recording keeps; `None` without limits.
fn setting() -> Option<Keeps> {
    match std::env::var(VARIABLE).as_deref() {
        Ok("calls") => Some(Keeps::Calls),
        Ok("work") => Some(Keeps::Work),
        _ => None,
    }
}

/// True if there are limits.
pub(crate) fn are_set() -> bool {
    setting().is_some()
}

/// Sets the limits of a process of a job of this size, if there are any, and returns the kept data.
pub(crate) fn begin(rank: u32, size: u32) -> Option<Keeps> {
    let keeps = setting()?;
    START.store(ticks::now(), Ordering::Relaxed);
    LIMITS.get_or_init(|| (Limits::new(size), rank));
    Some(keeps)
}

/// The limits, if there are any, and the rank of the process.
pub(crate) fn limits() -> Option<&'static (Limits, u32)> {
    LIMITS.get()
}

/// True if no further calls are kept because that took too long.
pub(crate) fn calls_have_stopped() -> bool {
    EXCEEDED.load(Ordering::Relaxed) >= 1
}

/// True if only work is counted because more took too long.
pub(crate) fn partners_have_stopped() -> bool {
    EXCEEDED.load(Ordering::Relaxed) >= 2
}

/// True if the recorder has stopped because it took too long.
pub(crate) fn has_stopped() -> bool {
    EXCEEDED.load(Ordering::Relaxed) >= 3
}

/// The nanoseconds that the recorder took; 0 without limits.
pub(crate) fn nanoseconds() -> u64 {
    if LIMITS.get().is_none() {
        return 0;
    }
    let of_calls = (COST.load(Ordering::Relaxed) as f64 * ticks::nanoseconds()) as u64;
    of_calls + ONCE.load(Ordering::Relaxed)
}

/// Counts the recorder's time in a call that represents this many, and checks whether it is too long.
pub(crate) fn count(ticks: u64, calls: u64) {
    let more = ticks.min(LONGEST) * calls;
    let cost = COST.fetch_add(more, Ordering::Relaxed) + more;
    let passed = ticks::now().saturating_sub(START.load(Ordering::Relaxed));
    let over = |(number, part)| cost > passed / part + number * FREE;
    let exceeded = (1..).zip(FRACTIONS).take_while(|of| over(*of)).count();
    EXCEEDED.fetch_max(exceeded as u8, Ordering::Relaxed);
}

/// Counts the nanoseconds of a single event.
pub(crate) fn count_once(nanoseconds: u64) {
    ONCE.fetch_add(nanoseconds, Ordering::Relaxed);
}
