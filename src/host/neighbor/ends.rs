//! The neighbors of the calling process, worked out once a communicator.

use crate::topology::{Direction, Topology};

/// The other end of one block that is really exchanged: neighbors beyond the end of a dimension
/// are left out.
pub(super) struct End {
    /// The block.
    pub(super) number: usize,
    /// The process.
    pub(super) rank: i32,
    /// What tells blocks between the same two processes apart.
    pub(super) pairing: i32,
}

/// All ends of the calling process, in the order of its blocks.
pub(super) struct Ends {
    /// The process that they belong to.
    pub(super) rank: i32,
    receive: Side,
    send: Side,
}

struct Side {
    degree: usize,
    ends: Vec<End>,
}

impl Ends {
    /// Those of process `rank`.
    pub(super) fn new(topology: &Topology, rank: i32) -> Self {
        let side = |direction| {
            let degree = topology.degree(rank, direction);
            let ends = (0..degree).filter_map(|number| {
                let neighbor = topology.neighbor(rank, direction, number);
                let pairing = neighbor.pairing;
                neighbor.rank.map(|rank| End { number, rank, pairing })
            });
            Side { degree, ends: ends.collect() }
        };
        Self { rank, receive: side(Direction::Receive), send: side(Direction::Send) }
    }

    fn side(&self, direction: Direction) -> &Side {
        match direction {
            Direction::Receive => &self.receive,
            Direction::Send => &self.send,
        }
    }

    /// How many blocks there are, those of neighbors beyond an end included.
    pub(super) fn degree(&self, direction: Direction) -> usize {
        self.side(direction).degree
    }

    /// The ends of one side.
    pub(super) fn of(&self, direction: Direction) -> &[End] {
        &self.side(direction).ends
    }
}
