//! The links of nodes. Pairs of ranks share a link equally, like connections; messages of a pair follow each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One direction of a node's link. Its clock counts the transfer time that each pair has received, and so moves slower
/// the more pairs there are: messages leave in the order of this clock.
#[derive(Debug, Clone, Default)]
struct Link {
    clock: u64,
    /// When the clock was last read.
    read: u64,
    /// The pairs with messages in the link.
    pairs: u64,
    /// Messages by the clock's time at which they leave, and by their number in the link; each with its pair.
    messages: BinaryHeap<Reverse<(u64, u32, u32, u32)>>,
    entered: u32,
    /// The time for which an event is queued.
    due: Option<u64>,
}

impl Link {
    fn read_clock(&mut self, now: u64) {
        let passed = now.saturating_sub(self.read);
        self.clock = self.clock.saturating_add(passed.checked_div(self.pairs).unwrap_or(0));
        self.read = self.read.max(now);
    }
}

/// The links of all nodes.
pub(super) struct Links {
    /// Outgoing and incoming, node by node.
    links: Vec<Link>,
    /// For each pair, when its last message leaves each of its two links, by their clocks; 0 if there is none.
    last: Vec<[u64; 2]>,
}

impl Links {
    pub(super) fn new(nodes: usize, pairs: usize) -> Self {
        // A clock starts above 0, which marks a pair without messages.
        let link = Link { clock: 1, ..Link::default() };
        Self { links: vec![link; 2 * nodes], last: vec![[0; 2]; pairs] }
    }

    /// The number of links.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    pub(super) fn out_of(node: u32) -> u32 {
        2 * node
    }

    pub(super) fn into(node: u32) -> u32 {
        2 * node + 1
    }

    /// A message with this transfer time enters a link, which may have another next event then.
    pub(super) fn enter(
        &mut self,
        link: u32,
        (pair, message): (u32, u32),
        transfer: u64,
        now: u64,
    ) {
        let last = &mut self.last[pair as usize][link as usize % 2];
        let link = &mut self.links[link as usize];
        link.read_clock(now);
        link.pairs += u64::from(*last == 0);
        *last = link.clock.max(*last).saturating_add(transfer);
        link.entered = link.entered.wrapping_add(1);
        link.messages.push(Reverse((*last, link.entered, pair, message)));
    }

    /// The next message that has left a link at the time of an event.
    pub(super) fn leave(&mut self, link: u32, now: u64) -> Option<u32> {
        let side = link as usize % 2;
        let link = &mut self.links[link as usize];
        link.read_clock(now);
        let Reverse((leaves, _, pair, message)) = *link.messages.peek()?;
        // At the end of time all leave.
        if leaves > link.clock && now != u64::MAX {
            return None;
        }
        link.messages.pop();
        let last = &mut self.last[pair as usize][side];
        if *last == leaves {
            *last = 0;
            link.pairs -= 1;
        }
        Some(message)
    }

    /// True if this is the time of the link's event. Others were replaced by earlier ones.
    pub(super) fn is_due(&mut self, link: u32, now: u64) -> bool {
        let due = &mut self.links[link as usize].due;
        let is_due = *due == Some(now);
        if is_due {
            *due = None;
        }
        is_due
    }

    /// The time of the next event of a link to queue, unless an earlier one is queued. That one is too early if pairs
    /// have come since.
    pub(super) fn next_event(&mut self, link: u32) -> Option<u64> {
        let link = &mut self.links[link as usize];
        let Reverse((leaves, ..)) = link.messages.peek()?;
        let transfer = leaves.saturating_sub(link.clock).saturating_mul(link.pairs);
        let at = link.read.saturating_add(transfer);
        if link.due.is_some_and(|due| due <= at) {
            return None;
        }
        link.due = Some(at);
        link.due
    }
}
