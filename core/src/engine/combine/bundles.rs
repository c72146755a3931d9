//! One message from node to node: the edges between two nodes are a `Bundle`.
//!
//! One of the processes at which these edges start gathers their blocks and sends them in one message to one of the
//! processes at which they end, which distributes them. The bundles of a node are spread over its processes. All other
//! blocks are sent as usual.

use std::collections::BTreeMap;

use super::edge::{Edge, NO_RANK};
use super::schedule::{Payload, Schedule, ScheduleBuilder};
use crate::engine::{Comm, keep};

/// The setting of combining.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Combine {
    /// Never.
    #[default]
    Off,
    /// Combine if that saves enough messages to pay.
    On,
    /// Combine whenever that reduces the number of messages, for tests.
    #[cfg(test)]
    All,
}

/// All edges from one node to another, in order.
#[derive(Debug, Clone)]
struct Bundle {
    edges: Vec<Edge>,
    /// The process that gathers and sends the bundle.
    gatherer: i32,
    /// The process that receives and distributes it.
    distributor: i32,
}

impl Bundle {
    /// True if the bundle travels in one message.
    fn is_combined(&self, combine: Combine) -> bool {
        match combine {
            Combine::Off => false,
            Combine::On => self.pays(),
            #[cfg(test)]
            Combine::All => self.edges.len() > 1,
        }
    }

    /// True if it saves enough messages to pay for the detour through two more processes: at least [`PAYING`] edges per
    /// process.
    fn pays(&self) -> bool {
        let different = |end: fn(&Edge) -> i32| {
            let mut ranks: Vec<i32> = self.edges.iter().map(end).collect();
            ranks.sort_unstable();
            ranks.dedup();
            ranks.len()
        };
        self.edges.len() >= PAYING * different(|edge| edge.from).max(different(|edge| edge.to))
    }
}

/// The number of edges per process from which a bundle pays: with three, it takes little more than half of the
/// messages. With two, a sparse graph takes longer combined if a message costs as much inside a node as between nodes
/// (docs/design/combining.md).
const PAYING: usize = 3;

/// True if `edges` from a node of one size to a node of another travel in one message, regardless of which of their
/// processes have them.
pub fn bundle_pays(edges: i64, from: usize, to: usize) -> bool {
    edges > 1 && edges >= (PAYING * from.max(to)) as i64
}

/// The most edges between two nodes of which some are combined: all parts then fit one message.
pub(super) const MOST_EDGES: i64 = 1 << 20;

/// The bundles of one node that travel in one message.
pub(super) struct Bundles {
    rank: i32,
    /// The bundles that leave the node, and those that arrive there.
    out: Vec<Bundle>,
    into: Vec<Bundle>,
}

impl Bundles {
    /// Determines which processes gather and distribute which bundles. `node` is a number shared by exactly the
    /// processes of one node. Collective.
    pub(super) fn agree<C: Comm>(
        comm: &C,
        node: i64,
        combine: Combine,
        [leaving, arriving]: [&[Edge]; 2],
    ) -> Result<Self, C::Error> {
        let rank = comm.rank()?;
        let nodes = all(comm, &[node as i32, (node >> 32) as i32])?;
        let nodes = first_ranks(nodes.as_chunks::<2>().0);
        let own_node = nodes[rank as usize];
        let far = |edge: &&Edge| nodes[edge.from as usize] != nodes[edge.to as usize];

        let node_peers = comm.split(Some(own_node), rank)?.expect("a color was given");
        let gathered =
            gather_edges(&node_peers, leaving.iter().filter(far), arriving.iter().filter(far));
        let (node_peers, [out, into]) = keep(node_peers, gathered)?;
        node_peers.free()?;
        let by_node = |edges: Vec<Edge>, other: fn(&Edge) -> i32| {
            let mut by_node: BTreeMap<i32, Vec<Edge>> = BTreeMap::new();
            for edge in edges {
                by_node.entry(nodes[other(&edge) as usize]).or_default().push(edge);
            }
            by_node.retain(|_, edges| edges.len() > 1);
            by_node.values_mut().for_each(|edges| edges.sort_unstable());
            by_node
        };
        let (out, into) = (by_node(out, |edge| edge.to), by_node(into, |edge| edge.from));

        let mut load = BTreeMap::new();
        let gatherers = leaders(&out, |edge| edge.from, &mut load);
        let distributors = leaders(&into, |edge| edge.to, &mut load);
        // One process of each node contributes for all.
        let says = rank == own_node;
        let gather = gatherers.iter().map(|(to, leader)| [own_node, *to, *leader, NO_RANK]);
        let distribute =
            distributors.iter().map(|(from, leader)| [*from, own_node, NO_RANK, *leader]);
        let words: Vec<i32> = gather.chain(distribute).filter(|_| says).flatten().collect();
        let mut leaders: BTreeMap<[i32; 2], [i32; 2]> = BTreeMap::new();
        for [from, to, gatherer, distributor] in all(comm, &words)?.as_chunks::<4>().0 {
            let both = leaders.entry([*from, *to]).or_insert([NO_RANK; 2]);
            *both = [both[0].max(*gatherer), both[1].max(*distributor)];
        }
        let bundle = |from, to, edges| {
            let [gatherer, distributor] = *leaders.get(&[from, to])?;
            let bundle = Bundle { edges, gatherer, distributor };
            bundle.is_combined(combine).then_some(bundle)
        };
        let out = out.into_iter().filter_map(|(to, edges)| bundle(own_node, to, edges)).collect();
        let into =
            into.into_iter().filter_map(|(from, edges)| bundle(from, own_node, edges)).collect();
        Ok(Self { rank, out, into })
    }

    /// The number of edges.
    pub(super) fn edges(&self) -> usize {
        self.out.iter().chain(&self.into).map(|bundle| bundle.edges.len()).sum()
    }

    /// The messages to the gathering processes of the node, those between nodes, and those from the distributing
    /// processes.
    pub(super) fn schedule(&self, payload: Payload, ends: [&[Edge]; 2]) -> Schedule {
        const GATHER: usize = 0;
        const ACROSS: usize = 1;
        const DISTRIBUTE: usize = 2;
        let rank = self.rank;
        let mut builder = ScheduleBuilder::new(rank, payload);
        for Bundle { edges, gatherer, distributor } in &self.out {
            for edge in edges {
                if edge.from == rank {
                    builder.send(GATHER, *gatherer, edge);
                }
                if *gatherer == rank {
                    builder.receive(GATHER, edge.from, edge);
                    builder.send(ACROSS, *distributor, edge);
                }
            }
        }
        for Bundle { edges, gatherer, distributor } in &self.into {
            for edge in edges {
                if *distributor == rank {
                    builder.receive(ACROSS, *gatherer, edge);
                    builder.send(DISTRIBUTE, edge.to, edge);
                }
                if edge.to == rank {
                    builder.receive(DISTRIBUTE, *distributor, edge);
                }
            }
        }
        builder.finish(ends)
    }
}

/// For each process, the first process on the same node.
fn first_ranks(nodes: &[[i32; 2]]) -> Vec<i32> {
    let mut first = BTreeMap::new();
    (0..).zip(nodes).map(|(rank, node)| *first.entry(*node).or_insert(rank)).collect()
}

/// The edges that leave the node, and those that arrive there, for all of its processes. Collective.
fn gather_edges<'a, C: Comm>(
    node_peers: &C,
    leaving: impl Iterator<Item = &'a Edge>,
    arriving: impl Iterator<Item = &'a Edge>,
) -> Result<[Vec<Edge>; 2], C::Error> {
    const LEAVING: i32 = 0;
    const ARRIVING: i32 = 1;
    let leaving = leaving.map(|edge| (LEAVING, edge));
    let words: Vec<i32> = leaving
        .chain(arriving.map(|edge| (ARRIVING, edge)))
        .flat_map(|(way, edge)| [way, edge.from, edge.to, edge.pairing, edge.copy])
        .collect();
    let mut found = [Vec::new(), Vec::new()];
    for [way, from, to, pairing, copy] in all(node_peers, &words)?.as_chunks::<5>().0 {
        let edge = Edge { from: *from, to: *to, pairing: *pairing, copy: *copy };
        found[usize::from(*way == ARRIVING)].push(edge);
    }
    Ok(found)
}

/// For each node at the other end, the process of this node that gathers or distributes: the one with the least load
/// among those that have an edge there. `load` is the number of bundles of each.
fn leaders(
    bundles: &BTreeMap<i32, Vec<Edge>>,
    end: fn(&Edge) -> i32,
    load: &mut BTreeMap<i32, usize>,
) -> Vec<(i32, i32)> {
    let mut choose = |edges: &[Edge]| {
        let ranks = edges.iter().map(end);
        let leader = ranks.min_by_key(|rank| (load.get(rank).copied().unwrap_or(0), *rank));
        let leader = leader.expect("a bundle has edges");
        *load.entry(leader).or_default() += 1;
        leader
    };
    bundles.iter().map(|(node, edges)| (*node, choose(edges))).collect()
}

/// Gathers the words of all processes, in rank order, on all of them. Collective.
fn all<C: Comm>(comm: &C, words: &[i32]) -> Result<Vec<i32>, C::Error> {
    let all = comm.gather(words)?;
    let mut length = (all.len() as u64).to_le_bytes();
    comm.broadcast(0, &mut length)?;
    let mut bytes: Vec<u8> = all.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(4 * u64::from_le_bytes(length) as usize, 0);
    if !bytes.is_empty() {
        comm.broadcast(0, &mut bytes)?;
    }
    Ok(bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word)).collect())
}
