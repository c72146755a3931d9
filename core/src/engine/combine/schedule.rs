//! What one process does in a collective whose blocks are combined.

use std::collections::{BTreeMap, BTreeSet};

use super::{Bundle, Edge, NOBODY};

/// What the blocks of a process are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Each is another.
    Each,
    /// All are the same, and travel once.
    Same,
}

impl Payload {
    /// What stands for the data of an edge: the same for edges with the same data.
    fn of(self, edge: &Edge) -> Edge {
        match self {
            Self::Each => *edge,
            Self::Same => Edge { to: NOBODY, pairing: 0, copy: 0, ..*edge },
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
pub struct Own {
    /// The slot of the part.
    pub slot: usize,
    /// The blocks, as places in the list of the ends.
    pub ends: Vec<usize>,
}

/// What one process does in a combined collective. Parts are stored in slots: a slot is filled by the process'
/// own block or from one message, and sent on from there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// How many slots there are.
    pub slots: usize,
    /// The process' own blocks that fill slots.
    pub filled: Vec<Own>,
    /// The messages to the processes of the node that gather, those from node to node, and those from the
    /// processes that distribute.
    pub stages: [Stage; 3],
    /// The blocks of this process that slots are written to at the end.
    pub emptied: Vec<Own>,
    /// Blocks that are sent as always, as places in the list of the ends.
    pub direct_sends: Vec<usize>,
    /// Blocks that are received as always.
    pub direct_receives: Vec<usize>,
}

impl Schedule {
    /// That of process `rank`, by the bundles that leave its node and those that arrive there, and its own edges
    /// that leave and arrive.
    pub(super) fn new(
        rank: i32,
        payload: Payload,
        [out, into]: [&[Bundle]; 2],
        [leaving, arriving]: [&[Edge]; 2],
    ) -> Self {
        let mut slots = Slots::default();
        // Parts by the other process; both ends have the same, in the same order.
        let mut stages: [[Parts; 2]; 3] = Default::default();
        let [gather, across, hand_out] = &mut stages;
        let [mut combined_out, mut combined_into] = [BTreeSet::new(), BTreeSet::new()];
        for Bundle { edges, gatherer, distributor } in out {
            for edge in edges {
                let part = payload.of(edge);
                if edge.from == rank {
                    combined_out.insert(*edge);
                    add(&mut gather[0], *gatherer, part, *gatherer != rank);
                }
                if *gatherer == rank {
                    add(&mut gather[1], edge.from, part, edge.from != rank);
                    add(&mut across[0], *distributor, part, true);
                }
            }
        }
        for Bundle { edges, gatherer, distributor } in into {
            for edge in edges {
                let part = payload.of(edge);
                if *distributor == rank {
                    add(&mut across[1], *gatherer, part, true);
                    add(&mut hand_out[0], edge.to, part, edge.to != rank);
                }
                if edge.to == rank {
                    combined_into.insert(*edge);
                    add(&mut hand_out[1], *distributor, part, *distributor != rank);
                }
            }
        }
        let mut own = |edges: &[Edge], combined: &BTreeSet<Edge>| {
            let mut parts: BTreeMap<Edge, Vec<usize>> = BTreeMap::new();
            let mut direct = Vec::new();
            for (place, edge) in edges.iter().enumerate() {
                match combined.contains(edge) {
                    true => parts.entry(payload.of(edge)).or_default().push(place),
                    false => direct.push(place),
                }
            }
            let own = |(part, ends)| Own { slot: slots.of(part), ends };
            (parts.into_iter().map(own).collect::<Vec<_>>(), direct)
        };
        let (filled, direct_sends) = own(leaving, &combined_out);
        let (emptied, direct_receives) = own(arriving, &combined_into);
        let mut messages = |parts: Parts| {
            let message = |(peer, parts): (i32, BTreeSet<Edge>)| Message {
                peer,
                slots: parts.into_iter().map(|part| slots.of(part)).collect(),
            };
            parts.into_iter().map(message).collect::<Vec<_>>()
        };
        let stages = stages.map(|[sends, receives]| Stage {
            sends: messages(sends),
            receives: messages(receives),
        });
        Self { slots: slots.0.len(), filled, stages, emptied, direct_sends, direct_receives }
    }
}

type Parts = BTreeMap<i32, BTreeSet<Edge>>;

/// Adds a part to the message with a process, if there is to be one.
fn add(messages: &mut Parts, peer: i32, part: Edge, wanted: bool) {
    if wanted {
        messages.entry(peer).or_default().insert(part);
    }
}

/// The slots of parts, numbered as they come.
#[derive(Default)]
struct Slots(BTreeMap<Edge, usize>);

impl Slots {
    fn of(&mut self, part: Edge) -> usize {
        let next = self.0.len();
        *self.0.entry(part).or_insert(next)
    }
}
