//! The part of one process in a collective with combined blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::edge::{Edge, NO_RANK};

/// The blocks of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Each block is different.
    Each,
    /// All blocks are the same, so it travels once.
    Same,
}

impl Payload {
    /// The most bytes in a block that is combined. Over TCP, 26 neighbors gain 2.9 times at 1024 bytes each, and
    /// nothing on slow links. A block that is the same for all goes to a node once: it gains 2.8 times at 4096, and 6.8
    /// on slow links (docs/design/combining.md).
    pub fn most_bytes(self) -> usize {
        match self {
            Self::Each => 1024,
            Self::Same => 4096,
        }
    }

    /// The representative of all edges that carry one block.
    fn of(self, edge: &Edge) -> Edge {
        match self {
            Self::Each => *edge,
            Self::Same => Edge { to: NO_RANK, pairing: 0, copy: 0, ..*edge },
        }
    }
}

/// A message that consists of the parts of several slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The rank of the other process.
    pub peer: i32,
    /// The slots whose parts it carries, in the same order at both ends.
    pub slots: Vec<usize>,
}

/// Messages that do not depend on others of the same stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stage {
    /// The messages to send, once those of the earlier stages have arrived.
    pub sends: Vec<Message>,
    /// The messages to receive.
    pub receives: Vec<Message>,
}

/// Blocks of this process that share one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPart {
    /// The slot of the part.
    pub slot: usize,
    /// The blocks, as indices into the list of ends.
    pub ends: Vec<usize>,
}

/// The number of stages: blocks are gathered on a process of their node, sent to the other node, and distributed there.
pub(super) const STAGES: usize = 3;

/// The steps of one process in a combined collective. Parts are stored in slots: a slot is filled by the process's own
/// block or from a message, and sent on from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The number of slots.
    pub slots: usize,
    /// The process' own blocks that fill slots.
    pub filled: Vec<OwnPart>,
    /// The messages, one stage after the other.
    pub stages: [Stage; STAGES],
    /// The blocks of this process that are copied from slots at the end.
    pub emptied: Vec<OwnPart>,
    /// Blocks that are sent as separate messages, as indices into the list of ends.
    pub direct_sends: Vec<usize>,
    /// Blocks that are received as separate messages.
    pub direct_receives: Vec<usize>,
}

/// A schedule under construction: the parts of messages, and the process' own edges whose blocks are among them.
pub(super) struct ScheduleBuilder {
    rank: i32,
    payload: Payload,
    /// For each stage the parts that are sent, and those that are received.
    stages: [[EdgesByRank; 2]; STAGES],
    /// The edges that leave, and those that arrive.
    combined: [BTreeSet<Edge>; 2],
}

/// Edges by the other process, in the same order at both ends.
type EdgesByRank = BTreeMap<i32, BTreeSet<Edge>>;

impl ScheduleBuilder {
    /// An empty schedule for process `rank`.
    pub(super) fn new(rank: i32, payload: Payload) -> Self {
        Self { rank, payload, stages: Default::default(), combined: Default::default() }
    }

    /// Sends the block of an edge to a process, unless that is this one.
    pub(super) fn send(&mut self, stage: usize, to: i32, edge: &Edge) {
        if edge.from == self.rank {
            self.combined[0].insert(*edge);
        }
        if to != self.rank {
            self.stages[stage][0].entry(to).or_default().insert(self.payload.of(edge));
        }
    }

    /// Receives the block of an edge from a process, unless that is this one.
    pub(super) fn receive(&mut self, stage: usize, from: i32, edge: &Edge) {
        if edge.to == self.rank {
            self.combined[1].insert(*edge);
        }
        if from != self.rank {
            self.stages[stage][1].entry(from).or_default().insert(self.payload.of(edge));
        }
    }

    /// The schedule of the process with these outgoing and incoming edges.
    pub(super) fn finish(self, [leaving, arriving]: [&[Edge]; 2]) -> Schedule {
        let Self { payload, stages, combined, .. } = self;
        let mut slots = Slots::default();
        let mut own = |edges: &[Edge], combined: &BTreeSet<Edge>| {
            let mut parts: BTreeMap<Edge, Vec<usize>> = BTreeMap::new();
            let mut direct = Vec::new();
            for (place, edge) in edges.iter().enumerate() {
                match combined.contains(edge) {
                    true => parts.entry(payload.of(edge)).or_default().push(place),
                    false => direct.push(place),
                }
            }
            let own = |(part, ends)| OwnPart { slot: slots.of(part), ends };
            (parts.into_iter().map(own).collect::<Vec<_>>(), direct)
        };
        let (filled, direct_sends) = own(leaving, &combined[0]);
        let (emptied, direct_receives) = own(arriving, &combined[1]);
        let mut messages = |parts: EdgesByRank| {
            let message = |(peer, parts): (i32, BTreeSet<Edge>)| Message {
                peer,
                slots: parts.into_iter().map(|part| slots.of(part)).collect(),
            };
            parts.into_iter().map(message).collect::<Vec<_>>()
        };
        let stage = |[sends, receives]: [EdgesByRank; 2]| Stage {
            sends: messages(sends),
            receives: messages(receives),
        };
        let stages = stages.map(stage);
        let slots = slots.0.len();
        Schedule { slots, filled, stages, emptied, direct_sends, direct_receives }
    }
}

/// The slots of parts, numbered in order of occurrence.
#[derive(Default)]
struct Slots(BTreeMap<Edge, usize>);

impl Slots {
    fn of(&mut self, part: Edge) -> usize {
        let next = self.0.len();
        *self.0.entry(part).or_insert(next)
    }
}
