//! Messages in flight.

/// A message in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) tag: i32,
    pub(super) bytes: u64,
    pub(super) completes: Completes,
    /// The number of links that it has not left, of the sender's node and of the receiver's.
    pub(super) links: u8,
    /// The time at which it arrives if no other link delays it.
    pub(super) arrives: u64,
}

/// What completes when a message has left its node.
#[derive(Debug, Clone, Copy)]
pub(super) enum Completes {
    /// Nothing: the send of a small message has completed before.
    Nothing,
    Request(u32),
    /// The blocking send.
    Call,
}

/// All messages in flight, by number.
#[derive(Debug, Default)]
pub(super) struct Messages {
    all: Vec<Message>,
    /// The numbers of messages that have arrived, for reuse.
    free: Vec<u32>,
}

impl Messages {
    pub(super) fn add(&mut self, message: Message) -> u32 {
        let number = self.free.pop().unwrap_or(self.all.len() as u32);
        match self.all.get_mut(number as usize) {
            Some(place) => *place = message,
            None => self.all.push(message),
        }
        number
    }

    pub(super) fn get(&mut self, number: u32) -> &mut Message {
        &mut self.all[number as usize]
    }

    pub(super) fn remove(&mut self, number: u32) -> Message {
        self.free.push(number);
        self.all[number as usize]
    }
}
