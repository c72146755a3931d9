//! The neighbors of the calling process, computed once per communicator.

use crate::topology::{Direction, Topology};

/// The other end of one block that is really exchanged: neighbors beyond the end of a dimension are omitted.
pub(super) struct End {
    /// The number of the block.
    pub(super) number: usize,
    /// Its rank.
    pub(super) rank: i32,
    /// The number that distinguishes blocks between one pair of processes.
    pub(super) pairing: i32,
}

/// All ends of the calling process.
pub(super) struct Ends {
    /// The process that they belong to.
    pub(super) rank: i32,
    receive: Side,
    send: Side,
    own: Vec<Own>,
}

/// The numbers of a block that the process sends to itself.
pub(super) struct Own {
    pub(super) send: usize,
    pub(super) receive: usize,
}

struct Side {
    degree: usize,
    /// The ends at other processes, then the process's own, each by pairing and then in the order of the blocks.
    ends: Vec<End>,
    /// The number of ends at other processes.
    others: usize,
}

impl Ends {
    /// The ends of process `rank`.
    pub(super) fn new(topology: &Topology, rank: i32) -> Self {
        let [mut receive, mut send] = [Direction::Receive, Direction::Send].map(|direction| {
            let degree = topology.degree(rank, direction);
            let (mut others, mut own): (Vec<End>, Vec<End>) = (0..degree)
                .filter_map(|number| {
                    let neighbor = topology.neighbor(rank, direction, number);
                    let pairing = neighbor.pairing;
                    neighbor.rank.map(|rank| End { number, rank, pairing })
                })
                .partition(|end| end.rank != rank);
            // Stable: blocks of one pairing are matched in order.
            others.sort_by_key(|end| end.pairing);
            own.sort_by_key(|end| end.pairing);
            let count = others.len();
            Side { degree, ends: others.into_iter().chain(own).collect(), others: count }
        });
        let (to, from) = (&send.ends[send.others..], &receive.ends[receive.others..]);
        let own = if to.iter().map(|end| end.pairing).eq(from.iter().map(|end| end.pairing)) {
            let own = |(to, from): (&End, &End)| Own { send: to.number, receive: from.number };
            to.iter().zip(from).map(own).collect()
        } else {
            // An invalid graph: an edge without its other end waits for it, as it would between two processes.
            (receive.others, send.others) = (receive.ends.len(), send.ends.len());
            Vec::new()
        };
        Self { rank, receive, send, own }
    }

    fn side(&self, direction: Direction) -> &Side {
        match direction {
            Direction::Receive => &self.receive,
            Direction::Send => &self.send,
        }
    }

    /// The number of blocks, including those of neighbors beyond an end.
    pub(super) fn degree(&self, direction: Direction) -> usize {
        self.side(direction).degree
    }

    /// The blocks that the process sends to itself.
    pub(super) fn own(&self) -> &[Own] {
        &self.own
    }

    /// The number of ends, with or without the process's own.
    #[inline]
    pub(super) fn count(&self, with_own: bool) -> usize {
        self.of(Direction::Receive, with_own).len() + self.of(Direction::Send, with_own).len()
    }

    /// The ends of one side, with or without the process's own.
    pub(super) fn of(&self, direction: Direction, with_own: bool) -> &[End] {
        let side = self.side(direction);
        if with_own { &side.ends } else { &side.ends[..side.others] }
    }
}
