//! Neighborhood collectives in which small blocks from node to node travel in one message.
//!
//! The edges that lead from the processes of one node to those of another are a `Bundle`. One of the
//! processes that they start at gathers their blocks and sends them in one message to one of the processes that
//! they lead to, which distributes them. The bundles of a node are spread over its processes. All other blocks are
//! sent as always.
//!
//! Processes know the edges of their own node alone, and learn the rest here, once a communicator:
//! [`agree`]. What each has to do in a collective is its [`Schedule`].

mod schedule;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use schedule::{Message, Own, Payload, Schedule, Stage};

use super::Comm;
use super::agree::keep;
use super::digest::Digest;

/// Which bundles travel in one message. The least of all processes counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Combine {
    /// None.
    #[default]
    Off,
    /// Those of which it makes messages fewer for the processes themselves.
    Paying,
    /// All of more than one edge.
    All,
}

impl Combine {
    const ALL: [Self; 3] = [Self::Off, Self::Paying, Self::All];

    fn has(self, bundle: &Bundle) -> bool {
        match self {
            Self::Off => false,
            Self::Paying => bundle.pays(),
            Self::All => bundle.edges.len() > 1,
        }
    }
}

/// The other end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The process.
    pub rank: i32,
    /// What tells blocks between the same two processes apart.
    pub pairing: i32,
}

/// A block that goes from one process to another: of those with the same pairing the `copy`-th, which is the
/// same at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: i32,
    to: i32,
    pairing: i32,
    copy: i32,
}

/// All edges from one node to another, in order.
#[derive(Debug, Clone)]
struct Bundle {
    edges: Vec<Edge>,
    /// The process that they start at which sends what they carry.
    gatherer: i32,
    /// The process that they lead to which receives it.
    distributor: i32,
}

impl Bundle {
    /// Whether processes have so much fewer messages that the way over two more of them pays: [`PAYING`] edges
    /// a process and more.
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

/// What this process does where blocks are combined, by what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedules {
    /// Each block is another.
    pub each: Schedule,
    /// A process sends the same block to all.
    pub same: Schedule,
    /// Which bundles they combine, the same on all processes.
    pub combine: Combine,
}

/// How many edges a process has in a bundle that pays: so it takes less than half of the messages. With two each, a
/// sparse graph takes longer combined on simulated nodes; with nine, the 26 neighbors in a torus take less
/// (docs/combining.md).
const PAYING: usize = 4;

/// The most edges from and to one node of which some are combined: then all parts of it fit one message.
const MOST_EDGES: usize = 1 << 20;

/// Determines which processes gather and distribute which bundles. `node` is a number that the processes of one node share and no others have,
/// or none where this process is not able to combine; `sends` and `receives` are the ends of its blocks.
/// Collective; `None` on all processes or on none, where nothing is combined, or edges are not given alike at
/// both ends.
///
/// # Errors
///
/// What the communicator's methods return.
pub fn agree<C: Comm>(
    comm: &C,
    node: Option<i64>,
    combine: Combine,
    sends: &[End],
    receives: &[End],
) -> Result<Option<Schedules>, C::Error> {
    let rank = comm.rank()?;
    let leaving = edges(sends, |end, copy| edge(rank, end, copy));
    let arriving =
        edges(receives, |end, copy| Edge { from: end.rank, to: rank, pairing: end.pairing, copy });
    let combine = if node.is_some() { combine } else { Combine::Off };
    let mut sums = imbalance(&leaving, &arriving);
    comm.sum(&mut sums)?;
    let mut least = [combine as i64];
    comm.min(&mut least)?;
    let combine = Combine::ALL[least[0].clamp(0, 2) as usize];
    if sums != [0; 2] || combine == Combine::Off {
        return Ok(None);
    }
    let node = node.unwrap_or_default();
    let nodes = all(comm, &[node as i32, (node >> 32) as i32])?;
    let nodes = first_ranks(nodes.as_chunks::<2>().0);
    let own_node = nodes[rank as usize];
    let far = |edge: &&Edge| nodes[edge.from as usize] != nodes[edge.to as usize];

    let mates = comm.split(Some(own_node), rank)?.expect("a color was given");
    let told = tell_mates(&mates, leaving.iter().filter(far), arriving.iter().filter(far));
    let (mates, [out, into]) = keep(mates, told)?;
    mates.free()?;
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
    let gatherers = carriers(&out, |edge| edge.from, &mut load);
    let distributors = carriers(&into, |edge| edge.to, &mut load);
    // One process of each node says for all.
    let says = rank == own_node;
    let gather = gatherers.iter().map(|(to, carrier)| [own_node, *to, *carrier, NOBODY]);
    let distribute = distributors.iter().map(|(from, carrier)| [*from, own_node, NOBODY, *carrier]);
    let words: Vec<i32> = gather.chain(distribute).filter(|_| says).flatten().collect();
    let mut carriers: BTreeMap<[i32; 2], [i32; 2]> = BTreeMap::new();
    for [from, to, gatherer, distributor] in all(comm, &words)?.as_chunks::<4>().0 {
        let both = carriers.entry([*from, *to]).or_insert([NOBODY; 2]);
        *both = [both[0].max(*gatherer), both[1].max(*distributor)];
    }
    let bundle = |from, to, edges| {
        let [gatherer, distributor] = *carriers.get(&[from, to])?;
        let bundle = Bundle { edges, gatherer, distributor };
        combine.has(&bundle).then_some(bundle)
    };
    let out: Vec<Bundle> =
        out.into_iter().filter_map(|(to, edges)| bundle(own_node, to, edges)).collect();
    let into: Vec<Bundle> =
        into.into_iter().filter_map(|(from, edges)| bundle(from, own_node, edges)).collect();
    let make = |payload| Schedule::new(rank, payload, [&out, &into], [&leaving, &arriving]);
    let schedules = Schedules { each: make(Payload::Each), same: make(Payload::Same), combine };

    // Where nothing is combined anywhere nothing is kept.
    let edges = |bundles: &[Bundle]| bundles.iter().map(|bundle| bundle.edges.len()).sum::<usize>();
    let combined = edges(&out) + edges(&into);
    let mut sums = [combined as i64, i64::from(combined > MOST_EDGES)];
    comm.sum(&mut sums)?;
    Ok((sums[0] != 0 && sums[1] == 0).then_some(schedules))
}

/// No process, beside ranks.
const NOBODY: i32 = -1;

fn edge(from: i32, end: &End, copy: i32) -> Edge {
    Edge { from, to: end.rank, pairing: end.pairing, copy }
}

/// The edges of one side, in the order of the ends.
fn edges(ends: &[End], edge: impl Fn(&End, i32) -> Edge) -> Vec<Edge> {
    let mut copies: BTreeMap<(i32, i32), i32> = BTreeMap::new();
    let number = |end: &End| {
        let copy = copies.entry((end.rank, end.pairing)).or_default();
        *copy += 1;
        edge(end, *copy - 1)
    };
    ends.iter().map(number).collect()
}

/// Numbers that are 0 in the sum over all processes where both ends give each edge: in 2^62 cases of others one
/// passes.
fn imbalance(leaving: &[Edge], arriving: &[Edge]) -> [i64; 2] {
    const HALF: u64 = (1 << 31) - 1;
    let mut sums = [0; 2];
    for (edges, sign) in [(leaving, 1), (arriving, -1)] {
        for Edge { from, to, pairing, copy } in edges {
            let number = Digest::default().array(&[*from, *to, *pairing, *copy]).finish();
            sums[0] += sign * (number & HALF) as i64;
            sums[1] += sign * (number >> 33) as i64;
        }
    }
    sums
}

/// The words of all processes, in the order of their ranks, on all of them. Collective.
fn all<C: Comm>(comm: &C, words: &[i32]) -> Result<Vec<i32>, C::Error> {
    let mut all = comm.gather(words)?;
    let mut length = (all.len() as u64).to_le_bytes();
    comm.broadcast(0, &mut length)?;
    let mut bytes: Vec<u8> = all.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(4 * u64::from_le_bytes(length) as usize, 0);
    comm.broadcast(0, &mut bytes)?;
    all.clear();
    all.extend(bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word)));
    Ok(all)
}

/// For each process the first that is on the same node.
fn first_ranks(nodes: &[[i32; 2]]) -> Vec<i32> {
    let mut first = BTreeMap::new();
    (0..).zip(nodes).map(|(rank, node)| *first.entry(*node).or_insert(rank)).collect()
}

/// The edges that leave the node, and those that arrive there, from and to any of its processes. Collective.
fn tell_mates<'a, C: Comm>(
    mates: &C,
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
    for [way, from, to, pairing, copy] in all(mates, &words)?.as_chunks::<5>().0 {
        let edge = Edge { from: *from, to: *to, pairing: *pairing, copy: *copy };
        found[usize::from(*way == ARRIVING)].push(edge);
    }
    Ok(found)
}

/// For each node at the other end the process of this one that gathers or hands out: of those that have an edge
/// there, the one with the least to do so far. `load` is how many bundles each has.
fn carriers(
    bundles: &BTreeMap<i32, Vec<Edge>>,
    end: fn(&Edge) -> i32,
    load: &mut BTreeMap<i32, usize>,
) -> Vec<(i32, i32)> {
    let mut choose = |edges: &[Edge]| {
        let ranks = edges.iter().map(end);
        let carrier = ranks.min_by_key(|rank| (load.get(rank).copied().unwrap_or(0), *rank));
        let carrier = carrier.expect("a bundle has edges");
        *load.entry(carrier).or_default() += 1;
        carrier
    };
    bundles.iter().map(|(node, edges)| (*node, choose(edges))).collect()
}
