//! Counts collectives, and records them in the window.

use cartograph_traffic::{Call, Collective};

use super::amounts;
use super::counts::{count, write_if};
use super::locate::{locate, resolve};
use super::numbers;
use super::state::tally;
use crate::peers::{self, Peers};
use crate::sent::{Block, Calls, Sent};
use crate::sys::MPI_Comm;
use crate::window;
use crate::{outermost, ticks, work};

/// The tag of messages of neighborhood collectives, which no program uses.
const NEIGHBORHOOD: i32 = -1;

/// Counts the messages of a blocking collective.
pub(crate) fn collective(sent: Sent) {
    if outermost::counts_only_work() {
        return count(sent);
    }
    let ticks = ticks::now().saturating_sub(outermost::began());
    if window::is_open() {
        match &sent {
            Sent::Neighbors(comm, blocks) => exchange_with_neighbors(*comm, blocks),
            Sent::All(calls, _) | Sent::Calls(calls) => meet(*calls),
            Sent::One(..) | Sent::Many(..) => {}
        }
    }
    match sent {
        Sent::Calls(calls) => {
            work::add(amounts::of(&sent));
            let mut tally = tally();
            tally.call(calls.function, ticks);
            let is_due = tally.schedule.is_due();
            drop(tally);
            write_if(is_due);
        }
        sent => {
            tally().wait(None, ticks);
            count(sent);
        }
    }
}

/// Records a collective in the window.
fn meet(Calls { function, comm, root, bytes }: Calls) {
    let peers = Peers::Comm(comm);
    let table = numbers::table(peers);
    let known = tally().tables.table(table).group;
    let group = known.unwrap_or_else(|| peers::group(comm));
    let root = root.and_then(|root| Some(root).filter(|root| *root >= 0));
    let root = root.and_then(|root| {
        let (tally, other) = locate(peers, root);
        other.map(|other| tally.rank(other))
    });
    let mut tally = tally();
    tally.tables.table(table).group = Some(group);
    let Some((group, size)) = group else { return };
    if tally.window.takes() {
        let call = Collective { function: function.into(), group, size, root, bytes };
        tally.window.push(Call::Collective(call));
    }
}

/// Records a neighborhood collective in the window, as messages.
fn exchange_with_neighbors(comm: MPI_Comm, blocks: &[Block]) {
    let peers = Peers::Comm(comm);
    let sources: Vec<Block> = peers::sources(comm)
        .into_iter()
        .map(|rank| Block { rank, bytes: 0, fetched: false })
        .collect();
    let [to, from] = [blocks, &sources].map(|blocks| resolve(peers, blocks));
    let mut tally = tally();
    let first = tally.window.next_post();
    for (other, _) in from {
        let call = Call::Irecv(Some(tally.rank(other)), Some(NEIGHBORHOOD));
        tally.post(None, None, Some(call));
    }
    for (other, block) in to {
        let call = Call::Isend(tally.rank(other), block.bytes, NEIGHBORHOOD);
        tally.post(None, None, Some(call));
    }
    let count = tally.window.next_post() - first;
    if count > 0 {
        tally.window.push(Call::Wait(count, count));
    }
}
