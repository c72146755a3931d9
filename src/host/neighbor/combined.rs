//! The data of a communicator with combined blocks, for [`combine`](super::combine).

use std::sync::Mutex;

use super::waitall::Requests;
use crate::engine::combine::{Message, Payload, Schedule};

/// The data of a communicator with combined blocks.
pub(super) struct Combined {
    pub(super) each: BufferLayout,
    pub(super) same: BufferLayout,
    /// The buffers of a call, kept for the next. A running call owns them.
    pub(super) buffers: Mutex<Buffers>,
}

/// A schedule, with the positions of its parts and messages in a buffer.
pub(super) struct BufferLayout {
    pub(super) schedule: Schedule,
    pub(super) filled: Vec<usize>,
    /// For each stage, the positions of the messages to send and to receive.
    pub(super) stages: Vec<[Vec<usize>; 2]>,
    /// The most bytes in a block.
    pub(super) most: usize,
    pub(super) bytes: usize,
}

#[derive(Default)]
pub(super) struct Buffers {
    pub(super) bytes: Vec<u8>,
    pub(super) parts: Vec<Part>,
    pub(super) requests: Requests,
}

/// The contents of a slot.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    /// The start in the buffer.
    pub(super) start: usize,
    /// The number of bytes.
    pub(super) length: usize,
}

/// The number of bytes of a length field.
pub(super) const LENGTH: usize = size_of::<u32>();

impl BufferLayout {
    /// The layout of a schedule for blocks of this kind.
    pub(super) fn new(schedule: Schedule, payload: Payload) -> Self {
        let most = payload.most_bytes();
        let mut bytes = 0;
        let mut take = |parts: usize, head: usize| {
            let start = bytes;
            bytes += parts * (head + most);
            start
        };
        let filled = schedule.filled.iter().map(|_| take(1, 0)).collect();
        let mut starts = |messages: &[Message]| {
            messages.iter().map(|message| take(message.slots.len(), LENGTH)).collect()
        };
        let stages = schedule.stages.iter();
        let stages = stages.map(|stage| [starts(&stage.sends), starts(&stage.receives)]).collect();
        Self { schedule, filled, stages, most, bytes }
    }
}
