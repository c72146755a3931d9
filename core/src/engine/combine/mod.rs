//! Neighborhood collectives in which small blocks travel together: those from node to node in one message (`bundles`).
//!
//! Processes know only their own edges, and learn about others here, once per communicator: [`agree`]. The part of each
//! process in a collective is its [`Schedule`].

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

/// The schedules of this process for combined blocks, by kind of payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedules {
    /// Each block is different.
    pub each: Schedule,
    /// A process sends the same block to all neighbors.
    pub same: Schedule,
}

/// Determines the routes of the blocks of all processes. `node` is a number shared by exactly the processes of one
/// node, or none if this process cannot combine; `sends` and `receives` are the ends of its blocks. Collective; `None`
/// on all processes if nothing is combined, or if edges differ at their two ends.
///
/// # Errors
///
/// The errors of the communicator's methods.
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
    // If no process combines anything, no schedule is stored.
    let mut least = [-(bundles.edges() as i64)];
    comm.min(&mut least)?;
    if !(1..=MOST_EDGES).contains(&-least[0]) {
        return Ok(None);
    }
    let [each, same] =
        [Payload::Each, Payload::Same].map(|payload| bundles.schedule(payload, ends));
    Ok(Some(Schedules { each, same }))
}
