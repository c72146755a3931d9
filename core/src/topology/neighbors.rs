//! The neighbors of a process in any topology, in the order of the blocks that neighborhood
//! collectives exchange: MPI 4.1, 8.6.

use super::{Cart, Topology};

/// The process to which one block of a neighborhood collective is sent, or from which it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbor {
    /// Its rank; `None` beyond the end of a dimension that is not periodic. The block of such a neighbor has its place
    /// in the buffer and is not touched.
    pub rank: Option<i32>,
    /// The number that distinguishes blocks between one pair of processes: a block is received as the one with the same
    /// sender and pairing, and several of these are received in order.
    pub pairing: i32,
}

/// The direction of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Into this process: sources.
    Receive,
    /// Out of this process: destinations.
    Send,
}

impl Topology {
    /// The number of blocks that process `rank` receives or sends in a neighborhood collective (MPI 4.1, 8.6); 0 for a
    /// rank outside the topology.
    pub fn degree(&self, rank: i32, direction: Direction) -> usize {
        match self {
            Self::Cart(grid) => 2 * grid.ndims(),
            Self::Graph(graph) => graph.neighbors(rank).map_or(0, <[i32]>::len),
            Self::DistGraph(graph) => match direction {
                Direction::Receive => graph.sources.ranks.len(),
                Direction::Send => graph.destinations.ranks.len(),
            },
        }
    }

    /// The neighbor of block `block` of process `rank`; blocks are numbered from 0 up to its [`Topology::degree`].
    ///
    /// On a grid, blocks are ordered by dimension, and in each first the negative and then the positive direction. A
    /// block sent in one direction is received from the other, even if both neighbors are the same process, or this
    /// one. In graphs, the k-th of several edges between two processes is the same edge at both ends.
    pub fn neighbor(&self, rank: i32, direction: Direction, block: usize) -> Neighbor {
        match self {
            Self::Cart(grid) => grid_neighbor(grid, rank, direction, block),
            Self::Graph(graph) => {
                let ranks = graph.neighbors(rank).unwrap_or(&[]);
                Neighbor { rank: ranks.get(block).copied(), pairing: 0 }
            }
            Self::DistGraph(graph) => {
                let edges = match direction {
                    Direction::Receive => &graph.sources,
                    Direction::Send => &graph.destinations,
                };
                Neighbor { rank: edges.ranks.get(block).copied(), pairing: 0 }
            }
        }
    }
}

fn grid_neighbor(grid: &Cart, rank: i32, direction: Direction, block: usize) -> Neighbor {
    // Blocks come in pairs, the negative direction first; the neighbor that sends to us in the negative direction is
    // the one in the positive direction.
    let dimension = (block / 2) as i32;
    let (negative, positive) = grid.shift(rank, dimension, 1).unwrap_or((None, None));
    let rank = if block.is_multiple_of(2) { negative } else { positive };
    let pairing = match direction {
        Direction::Send => block,
        Direction::Receive => block ^ 1,
    };
    Neighbor { rank, pairing: pairing as i32 }
}

/// All blocks exchanged with one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Its rank.
    pub rank: i32,
    /// Its blocks, in the same order at both ends.
    pub blocks: Vec<usize>,
}

impl Topology {
    /// The distinct processes from which `rank` receives or to which it sends, in the order of their first blocks.
    /// O(degree log degree).
    pub fn peers(&self, rank: i32, direction: Direction) -> Vec<Peer> {
        let mut ends: Vec<(i32, i32, usize)> = (0..self.degree(rank, direction))
            .filter_map(|block| {
                let Neighbor { rank, pairing } = self.neighbor(rank, direction, block);
                rank.map(|peer| (peer, pairing, block))
            })
            .collect();
        ends.sort_unstable();
        let mut peers: Vec<Peer> = ends
            .chunk_by(|one, other| one.0 == other.0)
            .map(|ends| Peer { rank: ends[0].0, blocks: ends.iter().map(|end| end.2).collect() })
            .collect();
        peers.sort_by_key(|peer| *peer.blocks.iter().min().expect("at least one"));
        peers
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{DistGraph, Edges, Graph};
    use super::*;

    /// Every block that is sent, as (sender, block), by its destination: (receiver, block). Blocks between two
    /// processes are matched by pairing, and then in order.
    fn arrivals(topologies: &[Topology]) -> BTreeMap<(i32, usize), (i32, usize)> {
        let mut waiting: BTreeMap<(i32, i32, i32), Vec<usize>> = BTreeMap::new();
        for (rank, topology) in (0..).zip(topologies) {
            for block in 0..topology.degree(rank, Direction::Send) {
                let Neighbor { rank: to, pairing } =
                    topology.neighbor(rank, Direction::Send, block);
                if let Some(to) = to {
                    waiting.entry((rank, to, pairing)).or_default().push(block);
                }
            }
        }
        let mut found = BTreeMap::new();
        for (rank, topology) in (0..).zip(topologies) {
            for block in 0..topology.degree(rank, Direction::Receive) {
                let Neighbor { rank: from, pairing } =
                    topology.neighbor(rank, Direction::Receive, block);
                if let Some(from) = from {
                    let sent = waiting.get_mut(&(from, rank, pairing)).unwrap().remove(0);
                    found.insert((rank, block), (from, sent));
                }
            }
        }
        assert!(waiting.values().all(Vec::is_empty), "sent and never received");
        found
    }

    #[test]
    fn on_a_grid_a_block_arrives_from_the_opposite_direction() {
        for dims in [&[1][..], &[2], &[3], &[1, 2], &[2, 2], &[2, 3, 1], &[4, 2, 2]] {
            for pattern in 0..1 << dims.len() {
                let periods: Vec<bool> = (0..dims.len()).map(|i| pattern >> i & 1 == 1).collect();
                let grid = Cart::new(dims, &periods, 64).unwrap();
                let all = vec![Topology::Cart(grid.clone()); grid.size() as usize];
                let arrivals = arrivals(&all);
                for rank in 0..grid.size() {
                    for block in 0..2 * dims.len() {
                        // By the definition: block 2d comes from the process at one less in dimension d, which sent it
                        // to its neighbor at one more.
                        let step = if block % 2 == 0 { -1 } else { 1 };
                        let (_, from) = grid.shift(rank, block as i32 / 2, step).unwrap();
                        let expected = from.map(|from| (from, block ^ 1));
                        assert_eq!(arrivals.get(&(rank, block)).copied(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn in_graphs_the_kth_edge_is_the_kth_at_both_ends() {
        let edges = |ranks: &[i32]| Edges { ranks: ranks.into(), weights: Box::default() };
        let graph = |sources: &[i32], destinations: &[i32]| {
            let (sources, destinations) = (edges(sources), edges(destinations));
            Topology::DistGraph(DistGraph { sources, destinations, weighted: false })
        };
        let all = [graph(&[1, 0, 1, 0], &[0, 1, 0]), graph(&[0], &[0, 0])];
        let expected = [
            ((0, 0), (1, 0)),
            ((0, 1), (0, 0)),
            ((0, 2), (1, 1)),
            ((0, 3), (0, 2)),
            ((1, 0), (0, 1)),
        ];
        assert_eq!(arrivals(&all), BTreeMap::from(expected));
        assert_eq!(
            all[0].peers(0, Direction::Receive),
            [Peer { rank: 1, blocks: vec![0, 2] }, Peer { rank: 0, blocks: vec![1, 3] }]
        );
    }

    #[test]
    fn peers_agree_on_the_order_of_their_blocks() {
        // A ring of two: both neighbors are the other process.
        let ring = Topology::Cart(Cart::new(&[2], &[true], 2).unwrap());
        assert_eq!(ring.peers(0, Direction::Send), [Peer { rank: 1, blocks: vec![0, 1] }]);
        assert_eq!(ring.peers(1, Direction::Receive), [Peer { rank: 0, blocks: vec![1, 0] }]);
        // The end of a line has one neighbor.
        let line = Topology::Cart(Cart::new(&[3], &[false], 3).unwrap());
        assert_eq!(line.peers(0, Direction::Send), [Peer { rank: 1, blocks: vec![1] }]);
        let graph = Topology::Graph(Graph::new(&[2, 2], &[1, 1]).unwrap());
        assert_eq!(graph.peers(0, Direction::Send), [Peer { rank: 1, blocks: vec![0, 1] }]);
        assert_eq!(graph.peers(1, Direction::Send), []);
    }
}
