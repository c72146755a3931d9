//! Unmatched messages and receives.

use super::lists::List;

/// A message that has arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    pub(super) from: u32,
    pub(super) tag: i32,
    pub(super) at: u64,
}

/// A receive that waits for a message; without the index of a request, it is blocking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posted {
    pub(super) from: Option<u32>,
    pub(super) tag: Option<i32>,
    pub(super) at: u64,
    pub(super) request: Option<u32>,
}

impl Posted {
    /// True if it matches a message.
    pub(super) fn takes(&self, message: &Arrived) -> bool {
        self.from.is_none_or(|from| from == message.from)
            && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// The unmatched messages and receives of a pair of ranks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Queue {
    pub(super) posted: List,
    pub(super) arrived: List,
    /// The time at which the last message of this pair arrived: messages do not overtake each other.
    pub(super) last: u64,
}
