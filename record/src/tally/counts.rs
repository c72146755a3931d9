//! Counts the messages of calls, and writes parts of the recording.

use cartograph_traffic::{Grid, Line, MOST_EVENTS, MOST_GRIDS};

use super::amounts;
use super::locate::{locate, resolve};
use super::state::{tally, tally_patiently};
use crate::limits::{self, Keeps};
use crate::part::{self, Schedule};
use crate::peers::Peers;
use crate::sent::{Block, Calls, Sent};
use crate::window::Window;
use crate::{outermost, ticks, work};

/// The number of lines, including that of a window.
fn lines((mut lines, window): (Vec<Line>, Option<Window>)) -> Vec<Line> {
    lines.extend(window.map(|window| Line::Window(window.written())));
    lines
}

/// Starts checking whether a part is due.
pub(crate) fn begin(rank: u32, size: u32) {
    amounts::begin(rank);
    if let Some(keeps) = limits::begin(rank, size) {
        outermost::limit(keeps);
        if keeps == Keeps::Work {
            return;
        }
    }
    let mut tally = tally();
    let limits = limits::limits();
    // In a job with limits that is killed, no counts are used.
    if limits.is_none() {
        tally.schedule = Schedule::of_rank(rank);
    }
    tally.window.open(limits.map_or(MOST_EVENTS, |(limits, _)| limits.calls));
}

/// Writes the counts since the last part, if one is due.
pub(super) fn write_if(is_due: bool) {
    if is_due {
        part::write(|| {
            let taken = tally().take(false);
            lines(taken)
        });
    }
}

/// Writes the last part; `complete` if no further counts can follow.
pub(crate) fn finish(complete: bool) {
    part::finish(complete, || {
        let start = ticks::of_thread();
        let taken = tally_patiently()?.take(true);
        let lines = lines(taken);
        limits::count_once(ticks::of_thread().saturating_sub(start));
        Some(lines)
    });
}

/// Counts the messages of a call.
#[inline]
pub(crate) fn count(sent: Sent) {
    work::add(amounts::of(&sent));
    if outermost::counts_only_work() {
        return;
    }
    let is_due = match sent {
        Sent::One(_, block) if block.rank < 0 => false,
        Sent::One(peers, block) => {
            let (mut tally, other) = locate(peers, block.rank);
            other.is_some_and(|other| {
                tally.add(other, block);
                tally.schedule.is_due()
            })
        }
        Sent::Many(peers, blocks) => many(peers, &blocks),
        Sent::Neighbors(comm, blocks) | Sent::All(Calls { comm, .. }, blocks) => {
            many(Peers::Comm(comm), &blocks)
        }
        Sent::Calls(calls) => {
            let mut tally = tally();
            tally.call(calls.function, 0);
            tally.schedule.is_due()
        }
    };
    write_if(is_due);
}

fn many(peers: Peers, blocks: &[Block]) -> bool {
    let found = resolve(peers, blocks);
    let mut tally = tally();
    found.into_iter().for_each(|(other, block)| tally.add(other, block));
    tally.schedule.is_due()
}

/// Counts a grid of the process.
pub(crate) fn grid(grid: Grid) {
    if outermost::counts_only_work() {
        return;
    }
    let mut tally = tally();
    let most = limits::limits().map_or(MOST_GRIDS, |(limits, _)| limits.grids.min(MOST_GRIDS));
    if tally.grids.len() < most && !tally.grids.contains(&grid) {
        tally.grids.push(grid);
    }
}
