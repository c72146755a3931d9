//! The messages of neighborhood collectives, in the order in which src/host/neighbor posts them and waits for them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::steps::{Step, Waiting, all_end, explore};
use super::{Explored, all_dims};
use crate::topology::neighbors::Neighbor;
use crate::topology::{self, Cart, Direction, DistGraph, Topology};

/// A message of one process in a collective: the other process, its tag, the step that posts it, and the step that
/// waits for it.
#[derive(Debug, Clone, Copy)]
struct Posted {
    peer: usize,
    tag: i32,
    at: usize,
    until: usize,
}

/// The other process of a block, and the number by which the two ends are matched.
struct Endpoint {
    rank: i32,
    pairing: i32,
}

/// The messages of one process, and its steps.
#[derive(Debug, Clone, Default)]
struct Part {
    sends: Vec<Posted>,
    receives: Vec<Posted>,
    steps: usize,
}

impl Part {
    /// All messages at once, and one wait, as in src/host/neighbor/blocking.rs.
    fn at_once([sends, receives]: &[Vec<Endpoint>; 2]) -> Self {
        let posted =
            |end: &Endpoint| Posted { peer: end.rank as usize, tag: end.pairing, at: 0, until: 0 };
        let [sends, receives] = [sends, receives].map(|ends| ends.iter().map(posted).collect());
        Self { sends, receives, steps: 1 }
    }

    /// Receives one after the other, so that an error can be attributed to one communicator; a single message each way
    /// is sent at once.
    fn in_turn(ends: &[Vec<Endpoint>; 2]) -> Self {
        let mut part = Self::at_once(ends);
        if part.sends.len() != 1 || part.receives.len() != 1 {
            part.steps = part.receives.len() + 1;
            for (step, receive) in part.receives.iter_mut().enumerate() {
                (receive.at, receive.until) = (step, step);
            }
            part.sends.iter_mut().for_each(|send| send.until = part.steps - 1);
        }
        part
    }
}

/// The steps of two such collectives, one after the other: a process may be in the second while others are in the first.
fn steps_of(parts: &[Part], waiting: Waiting) -> Vec<Vec<Step>> {
    let mut steps: Vec<Vec<Step>> =
        parts.iter().map(|part| vec![Step::new(); 2 * part.steps]).collect();
    // The k-th of several messages between the same two processes with one tag is the k-th at both ends.
    type Ends = BTreeMap<(usize, usize, i32), Vec<Posted>>;
    let (mut sent, mut received) = (Ends::new(), Ends::new());
    for (rank, part) in parts.iter().enumerate() {
        for send in &part.sends {
            sent.entry((rank, send.peer, send.tag)).or_default().push(*send);
        }
        for receive in &part.receives {
            received.entry((receive.peer, rank, receive.tag)).or_default().push(*receive);
        }
    }
    let counts = |ends: &Ends| ends.iter().map(|(key, all)| (*key, all.len())).collect::<Vec<_>>();
    assert_eq!(counts(&sent), counts(&received), "each message has both ends");
    for ((from, to, _), sends) in &sent {
        for (send, receive) in sends.iter().zip(&received[&(*from, *to, sends[0].tag)]) {
            for call in 0..2 {
                let [begun, done] = [call * parts[*from].steps, call * parts[*to].steps];
                steps[*to][done + receive.until].push((*from, begun + send.at));
                if waiting == Waiting::Longest {
                    steps[*from][begun + send.until].push((*to, done + receive.at));
                }
            }
        }
    }
    steps
}

/// The ends of all processes of a topology.
fn ends(size: usize, topology: impl Fn(i32) -> Topology) -> Vec<[Vec<Endpoint>; 2]> {
    let of = |rank: i32| {
        let topology = topology(rank);
        [Direction::Send, Direction::Receive].map(|way| {
            let blocks = 0..topology.degree(rank, way);
            let end = |n: Neighbor| n.rank.map(|rank| Endpoint { rank, pairing: n.pairing });
            blocks.filter_map(|block| end(topology.neighbor(rank, way, block))).collect()
        })
    };
    (0..size as i32).map(of).collect()
}

/// Collectives along these ends.
fn try_collectives(explored: &mut Explored, ends: &[[Vec<Endpoint>; 2]]) {
    const BOTH: [Waiting; 2] = [Waiting::Longest, Waiting::Shortest];
    for part in [Part::at_once, Part::in_turn] {
        let parts: Vec<Part> = ends.iter().map(part).collect();
        for waiting in BOTH {
            explored.add(steps_of(&parts, waiting));
        }
        // The processes of one job all use the same variant, but mixing both must work as well.
        let mixed: Vec<Part> = ends
            .iter()
            .enumerate()
            .map(|(rank, ends)| if rank % 2 == 0 { part(ends) } else { Part::at_once(ends) })
            .collect();
        for waiting in BOTH {
            explored.add(steps_of(&mixed, waiting));
        }
    }
}

pub(super) fn collectives(sizes: RangeInclusive<usize>, thinned: usize) {
    for size in sizes {
        let mut explored = Explored::default();
        for dims in all_dims(size).iter().filter(|d| d.iter().product::<i32>() == size as i32) {
            for periodic in 0..1 << dims.len() {
                let periods: Vec<bool> = (0..dims.len()).map(|d| periodic >> d & 1 == 1).collect();
                let grid = Topology::Cart(Cart::new(dims, &periods, size as i32).unwrap());
                try_collectives(&mut explored, &ends(size, |_| grid.clone()));
            }
        }
        // Every edge once, and then all of them twice.
        for bits in (0..1u64 << (size * size)).step_by(if size < 3 { 1 } else { thinned }) {
            for times in [1, 2] {
                let topology = |rank: i32| {
                    let others = |side: u32| {
                        let is_edge = |other: &i32| {
                            let [from, to] =
                                if side == 0 { [rank, *other] } else { [*other, rank] };
                            bits >> (from * size as i32 + to) & 1 == 1
                        };
                        let ranks: Vec<i32> = (0..size as i32).filter(is_edge).collect();
                        topology::Edges { ranks: ranks.repeat(times).into(), weights: [].into() }
                    };
                    let (sources, destinations) = (others(1), others(0));
                    Topology::DistGraph(DistGraph { sources, destinations, weighted: false })
                };
                try_collectives(&mut explored, &ends(size, topology));
            }
        }
        explored.tell(&format!("collectives of {size} processes"));
    }
}

/// A search that never finds a deadlock proves nothing.
#[test]
fn two_receives_before_sends_deadlock() {
    let part = |peer| Part {
        sends: vec![Posted { peer, tag: 0, at: 1, until: 1 }],
        receives: vec![Posted { peer, tag: 0, at: 0, until: 0 }],
        steps: 2,
    };
    let steps = steps_of(&[part(1), part(0)], Waiting::Shortest);
    assert!(explore(&steps).is_none() && !all_end(&steps));
}

#[test]
fn two_sends_before_receives_deadlock_if_sends_wait() {
    let part = |peer| Part {
        sends: vec![Posted { peer, tag: 0, at: 0, until: 0 }],
        receives: vec![Posted { peer, tag: 0, at: 1, until: 1 }],
        steps: 2,
    };
    let parts = [part(1), part(0)];
    assert!(explore(&steps_of(&parts, Waiting::Shortest)).is_some_and(|states| states > 1));
    let steps = steps_of(&parts, Waiting::Longest);
    assert!(explore(&steps).is_none() && !all_end(&steps));
}
