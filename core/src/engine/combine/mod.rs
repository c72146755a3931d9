//! Neighborhood collectives in which small blocks travel together: those from node to node in one message (`bundles`).
//!
//! Processes only know their own edges, and learn the rest here, once per communicator: [`agree`]. What each has to
//! do in a collective is its [`Schedule`].

mod bundles;
mod schedule;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use schedule::{Message, OwnPart, Payload, Schedule, Stage};

pub use self::bundles::bundle_pays;
use self::bundles::{Bundles, MOST_EDGES};
use super::comm::Comm;
use super::digest::Digest;

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
    let leaving =
        edges(sends, |end, copy| Edge { from: rank, to: end.rank, pairing: end.pairing, copy });
    let arriving =
        edges(receives, |end, copy| Edge { from: end.rank, to: rank, pairing: end.pairing, copy });
    let ends = [&leaving[..], &arriving[..]];
    let node = node.filter(|_| combine != Combine::Off);
    let [low, high] = imbalance(&leaving, &arriving);
    let mut sums = [low, high, i64::from(node.is_none())];
    comm.sum(&mut sums)?;
    let Some(node) = node.filter(|_| sums == [0; 3]) else { return Ok(None) };

    let bundles = Bundles::agree(comm, node, combine, ends)?;
    // If no process combines anything, nothing is kept.
    let mut least = [-(bundles.edges() as i64)];
    comm.min(&mut least)?;
    if !(1..=MOST_EDGES).contains(&-least[0]) {
        return Ok(None);
    }
    let [each, same] =
        [Payload::Each, Payload::Same].map(|payload| bundles.schedule(payload, ends));
    Ok(Some(Schedules { each, same }))
}

/// The value for no process.
const NO_RANK: i32 = -1;

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
    let mut bytes: Vec<u8> = all.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(4 * u64::from_le_bytes(length) as usize, 0);
    if !bytes.is_empty() {
        comm.broadcast(0, &mut bytes)?;
    }
    Ok(bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word)).collect())
}
