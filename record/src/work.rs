//! The work of the process: how much it sends, and to which processes as one number. In a recording of `work`, nothing
//! else is counted: a call then costs little more than reading a flag.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use cartograph_traffic::Work;

use crate::outermost;

static MESSAGES: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static COLLECTIVES: AtomicU64 = AtomicU64::new(0);
static PATTERN: AtomicI64 = AtomicI64::new(0);

/// The amount that a call sends.
#[derive(Clone, Copy, Default)]
pub(crate) struct Amount {
    pub(crate) work: Work,
    /// Its bytes, weighted by the process that they go to or come from.
    pub(crate) pattern: i64,
}

/// Counts an amount.
#[inline]
pub(crate) fn add(Amount { work, pattern }: Amount) {
    for (sum, more) in
        [(&MESSAGES, work.messages), (&BYTES, work.bytes), (&COLLECTIVES, work.collectives)]
    {
        if more == 0 {
            continue;
        }
        if outermost::has_threads() {
            sum.fetch_add(more, Ordering::Relaxed);
        } else {
            // An atomic addition would wait for the program's earlier writes.
            sum.store(sum.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        }
    }
    if outermost::has_threads() {
        PATTERN.fetch_add(pattern, Ordering::Relaxed);
    } else {
        PATTERN.store(PATTERN.load(Ordering::Relaxed).wrapping_add(pattern), Ordering::Relaxed);
    }
}

/// The messages and collectives since the last call of [`take`].
pub(crate) fn messages_and_collectives() -> [u64; 2] {
    [&MESSAGES, &COLLECTIVES].map(|sum| sum.load(Ordering::Relaxed))
}

/// Takes the amount since the last call of this function.
pub(crate) fn take() -> Amount {
    let [messages, bytes, collectives] =
        [&MESSAGES, &BYTES, &COLLECTIVES].map(|sum| sum.swap(0, Ordering::Relaxed));
    let pattern = PATTERN.swap(0, Ordering::Relaxed);
    Amount { work: Work { messages, bytes, collectives }, pattern }
}
