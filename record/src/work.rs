//! The work of the process: how much it sends, regardless of the destination. In a recording of `work`, nothing else is
//! counted: a call then costs little more than reading a flag.

use std::sync::atomic::{AtomicU64, Ordering};

use cartograph_traffic::Work;

use crate::outermost;
use crate::sent::{Block, Sent};

static MESSAGES: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static COLLECTIVES: AtomicU64 = AtomicU64::new(0);

/// The work of a call.
pub(crate) fn of(sent: &Sent) -> Work {
    match sent {
        Sent::One(_, block) => blocks(std::slice::from_ref(block)),
        Sent::Many(_, all) | Sent::Neighbors(_, _, all) | Sent::All(_, _, all) => blocks(all),
        Sent::Calls(_) => Work { collectives: 1, ..Work::default() },
    }
}

fn blocks(blocks: &[Block]) -> Work {
    let sent = || blocks.iter().filter(|block| block.rank >= 0);
    let bytes = sent().fold(0, |sum: u64, block| sum.saturating_add(block.bytes));
    Work { messages: sent().count() as u64, bytes, collectives: 0 }
}

/// Counts work.
#[inline]
pub(crate) fn add(work: Work) {
    for (sum, more) in
        [(&MESSAGES, work.messages), (&BYTES, work.bytes), (&COLLECTIVES, work.collectives)]
    {
        if more == 0 {
            continue;
        }
        if outermost::has_threads() {
            sum.fetch_add(more, Ordering::Relaxed);
        } else {
            // An atomic addition would wait for what the program has written.
            sum.store(sum.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        }
    }
}

/// The messages and collectives since the last call of [`take`].
pub(crate) fn messages_and_collectives() -> [u64; 2] {
    [&MESSAGES, &COLLECTIVES].map(|sum| sum.load(Ordering::Relaxed))
}

/// Takes the work since the last call of this function.
pub(crate) fn take() -> Work {
    let [messages, bytes, collectives] =
        [&MESSAGES, &BYTES, &COLLECTIVES].map(|sum| sum.swap(0, Ordering::Relaxed));
    Work { messages, bytes, collectives }
}
