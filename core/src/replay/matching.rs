//! Messages and receives that have not found each other.

use super::lists::List;

/// A message that has arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    pub(super) from: u32,
    pub(super) tag: i32,
    pub(super) at: u64,
}

/// A receive that waits for a message; without the index of a request it is blocking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posted {
    pub(super) from: Option<u32>,
    pub(super) tag: Option<i32>,
    pub(super) at: u64,
    pub(super) request: Option<u32>,
}

impl Posted {
    /// True if it takes a message.
    pub(super) fn takes(&self, message: &Arrived) -> bool {
        self.from.is_none_or(|from| from == message.from)
            && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// What has not been matched of a pair of ranks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Queue {
    pub(super) posted: List,
    pub(super) arrived: List,
    /// The time at which the last message of this pair arrived: none overtakes another.
    pub(super) last: u64,
}
