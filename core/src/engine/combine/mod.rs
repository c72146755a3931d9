//! Neighborhood collectives in which small blocks travel together: those from node to node in one message (`bundles`).
//!
//! Processes only know their own edges, and learn the rest here, once per communicator: [`agree`]. What each has to
//! do in a collective is its [`Schedule`].

mod bundles;
mod edge;
mod schedule;
#[cfg(test)]
mod tests;

pub use schedule::{Message, OwnPart, Payload, Schedule, Stage};

use self::bundles::{Bundles, MOST_EDGES};
pub use self::bundles::{Combine, bundle_pays};
pub use self::edge::Endpoint;
use self::edge::{Edge, edges, imbalance};
use super::comm::Comm;

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
