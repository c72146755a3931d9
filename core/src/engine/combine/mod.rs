//! Neighborhood collectives in which small blocks travel together: those from node to node in one message
//! (`bundles`), or those that go equally far along a dimension (`dimensions`).
//!
//! Processes only know their own edges, and learn the rest here, once per communicator: [`agree`]. What each has to
//! do in a collective is its [`Schedule`].

mod bundles;
mod dimensions;
mod schedule;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use schedule::{Message, OwnPart, Payload, Schedule, Stage};

pub use self::bundles::bundle_pays;
use self::bundles::{Bundles, MOST_EDGES};
use self::dimensions::TorusCandidates;
use super::digest::Digest;
use super::{Comm, keep};

/// The setting of combining.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Combine {
    /// Never.
    #[default]
    Off,
    /// If it saves enough messages to pay.
    On,
    /// Wherever it makes messages fewer, for tests.
    #[cfg(test)]
    All,
    /// As `All`, only from one node to another.
    #[cfg(test)]
    Nodes,
    /// As `All`, only along dimensions.
    #[cfg(test)]
    Dimensions,
}

impl Combine {
    /// The extents to which bundles are combined, and messages along dimensions.
    fn ways(self) -> [Extent; 2] {
        match self {
            Self::Off => [Extent::None; 2],
            Self::On => [Extent::Paying; 2],
            #[cfg(test)]
            Self::All => [Extent::All; 2],
            #[cfg(test)]
            Self::Nodes => [Extent::All, Extent::None],
            #[cfg(test)]
            Self::Dimensions => [Extent::None, Extent::All],
        }
    }
}

/// The extent of combining in one variant. The minimum over all processes counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// No combining.
    None,
    /// Bundles that pay.
    Paying,
    /// Whatever makes messages fewer, for tests.
    All,
}

impl Extent {
    const ALL: [Self; 3] = [Self::None, Self::Paying, Self::All];
}

/// The other end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// The process.
    pub rank: i32,
    /// The number that distinguishes blocks between one pair of processes.
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

/// The schedules of this process for combined blocks, by their payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedules {
    /// Each block is another.
    pub each: Schedule,
    /// A process sends the same block to all.
    pub same: Schedule,
}

/// The messages that each dimension must save for sending along dimensions to pay: waiting for one more stage takes as
/// long as four messages on simulated nodes, and blocks are sent more often (docs/design/combining.md).
const PAYING: i64 = 6;

/// Determines how the blocks of all processes travel. `node` is a number that the processes of one node share and
/// no others have, or none where this process is not able to combine; `sends` and `receives` are the ends of its
/// blocks. Collective; `None` on all processes or on none, where nothing is combined, or edges are not given alike at
/// both ends.
///
/// # Errors
///
/// What the communicator's methods return.
pub fn agree<C: Comm>(
    comm: &C,
    node: Option<i64>,
    combine: Combine,
    sends: &[Endpoint],
    receives: &[Endpoint],
) -> Result<Option<Schedules>, C::Error> {
    let rank = comm.rank()?;
    let leaving = edges(sends, |end, copy| edge(rank, end, copy));
    let arriving =
        edges(receives, |end, copy| Edge { from: end.rank, to: rank, pairing: end.pairing, copy });
    let ends = [&leaving[..], &arriving[..]];
    let ways = if node.is_some() { combine } else { Combine::Off }.ways();
    let candidates = match ways[1] {
        Extent::Paying | Extent::All if rank == 0 => {
            TorusCandidates::new(comm.size()?, ends).to_words()
        }
        _ => Vec::new(),
    };
    let [low, high] = imbalance(&leaving, &arriving);
    let mut sums = [low, high, candidates.len() as i64];
    comm.sum(&mut sums)?;
    if sums[..2] != [0; 2] {
        return Ok(None);
    }
    let candidates = TorusCandidates::from_words(&of_first(comm, &candidates, sums[2] as usize)?);

    // The minimum extent over all processes, and the tori on which all have their neighbors at the same offsets.
    let mut words: Vec<i64> = ways.iter().map(|extent| *extent as i64).collect();
    words.extend(candidates.fits(rank, ends));
    comm.min(&mut words)?;
    let [nodes, dimensions] =
        [words[0], words[1]].map(|extent| Extent::ALL[extent.clamp(0, 2) as usize]);
    let torus = words[2..].iter().position(|fits| *fits == 1);
    let torus = torus.filter(|_| dimensions != Extent::None);
    if nodes == Extent::None && torus.is_none() {
        return Ok(None);
    }

    let make = |schedule: &dyn Fn(Payload) -> Schedule| {
        let [each, same] = [Payload::Each, Payload::Same].map(schedule);
        Schedules { each, same }
    };
    let bundles = match nodes {
        Extent::None => None,
        _ => Some(Bundles::agree(comm, node.unwrap_or_default(), nodes, ends)?),
    };
    let by_node = bundles.as_ref().map(|bundles| make(&|payload| bundles.schedule(payload, ends)));
    let by_dimension = torus.map(|torus| {
        let along = candidates.accept(rank, torus);
        make(&|payload| along.schedule(payload, ends))
    });

    // The most messages of a process between nodes; without nodes, all messages.
    let far = |other: i32| bundles.as_ref().map_or(other != rank, |nodes| nodes.is_far(other));
    let messages = |schedule: &Schedule| schedule.messages(ends, &far) as i64;
    let of = |made: &Option<Schedules>| made.as_ref().map_or(0, |made| messages(&made.each));
    let bundled = bundles.as_ref().map_or(0, Bundles::edges);
    let mut least = [
        -messages(&Schedule::direct(ends)),
        -of(&by_node),
        -of(&by_dimension),
        -(bundled as i64),
        -i64::from(bundled > MOST_EDGES),
    ];
    comm.min(&mut least)?;
    let [direct, nodes_take, dimensions_take, bundled, too_many] = least.map(|least| -least);
    // If no process combines anything, nothing is kept.
    let by_node = by_node.filter(|_| bundled != 0 && too_many == 0);
    let by_dimension = by_dimension.filter(|made| {
        let saved = direct - dimensions_take;
        let paying = PAYING * made.each.stages.len() as i64;
        saved > 0 && (dimensions == Extent::All || saved >= paying)
    });
    // If both variants take equally many messages, the one by nodes sends each block between nodes only once.
    let nodes_take_more = by_node.is_none() || dimensions_take < nodes_take;
    Ok(by_dimension.filter(|_| nodes_take_more).or(by_node))
}

/// The value for no process.
const NOBODY: i32 = -1;

fn edge(from: i32, end: &Endpoint, copy: i32) -> Edge {
    Edge { from, to: end.rank, pairing: end.pairing, copy }
}

/// The edges of one side, in the order of the ends.
fn edges(ends: &[Endpoint], edge: impl Fn(&Endpoint, i32) -> Edge) -> Vec<Edge> {
    let mut copies: BTreeMap<(i32, i32), i32> = BTreeMap::new();
    let number = |end: &Endpoint| {
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
    let all = comm.gather(words)?;
    let mut length = (all.len() as u64).to_le_bytes();
    comm.broadcast(0, &mut length)?;
    of_first(comm, &all, u64::from_le_bytes(length) as usize)
}

/// The words of process 0, of which all know how many there are, on all processes. Collective.
fn of_first<C: Comm>(comm: &C, words: &[i32], length: usize) -> Result<Vec<i32>, C::Error> {
    if length == 0 {
        return Ok(Vec::new());
    }
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(4 * length, 0);
    comm.broadcast(0, &mut bytes)?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word)).collect())
}
