//! The counts of the process, under one lock, which is held only while they are updated. The host is not called under
//! it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cartograph_traffic::{Call, Count, Grid, Line};
use rustc_hash::FxHashMap;

use super::requests::{Pending, Requests};
use super::tables::Tables;
use crate::limits;
use crate::part::{self, Schedule};
use crate::sent::Block;
use crate::ticks;
use crate::window::{self, Window};
use crate::work;

static TALLY: Mutex<Tally> = Mutex::new(Tally::new());

/// All data of one process.
pub(super) struct Tally {
    others: Vec<Other>,
    /// The index in `others` of each rank of `MPI_COMM_WORLD`.
    by_rank: Option<FxHashMap<u32, u32>>,
    pub(super) tables: Tables,
    pub(super) requests: Requests,
    /// The number of calls of collectives, and the ticks in them.
    collectives: BTreeMap<&'static str, (u64, u64)>,
    /// The ticks of waiting for an unknown process.
    waited: u64,
    pub(super) window: Window,
    pub(super) grids: Vec<Grid>,
    /// The number of `grids` that are already in a part.
    noted: usize,
    pub(super) schedule: Schedule,
}

/// The traffic to another process, and the data fetched from it, since the last part.
struct Other {
    rank: u32,
    sent: Count,
    got: Count,
    /// The ticks of waiting for its messages.
    waited: u64,
}

/// Locks the counts.
pub(super) fn tally() -> MutexGuard<'static, Tally> {
    TALLY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the counts when the process ends; `None` if that would wait forever.
pub(super) fn tally_patiently() -> Option<MutexGuard<'static, Tally>> {
    part::lock_patiently(&TALLY)
}

impl Tally {
    const fn new() -> Self {
        Self {
            others: Vec::new(),
            by_rank: None,
            tables: Tables::new(),
            requests: Requests::new(),
            collectives: BTreeMap::new(),
            waited: 0,
            window: Window::closed(),
            grids: Vec::new(),
            noted: 0,
            schedule: Schedule::never(),
        }
    }

    /// The index in `others` of a rank of `MPI_COMM_WORLD`.
    pub(super) fn other(&mut self, rank: u32) -> u32 {
        let others = &mut self.others;
        *self.by_rank.get_or_insert_default().entry(rank).or_insert_with(|| {
            let (sent, got) = Default::default();
            others.push(Other { rank, sent, got, waited: 0 });
            (others.len() - 1) as u32
        })
    }

    /// The rank in `MPI_COMM_WORLD` of one of `others`.
    pub(super) fn rank(&self, other: u32) -> u32 {
        self.others[other as usize].rank
    }

    /// Counts a block.
    #[inline]
    pub(super) fn add(&mut self, other: u32, block: Block) {
        let other = &mut self.others[other as usize];
        let count = if block.fetched { &mut other.got } else { &mut other.sent };
        count.messages += 1;
        count.bytes = count.bytes.saturating_add(block.bytes);
    }

    /// Counts a call of a collective.
    pub(super) fn call(&mut self, function: &'static str, ticks: u64) {
        let (calls, sum) = self.collectives.entry(function).or_default();
        *calls += 1;
        *sum += ticks;
    }

    /// Counts the time of waiting for one of `others`, or for an unknown process.
    pub(super) fn wait(&mut self, on: Option<u32>, ticks: u64) {
        let sum = on.map_or(&mut self.waited, |on| &mut self.others[on as usize].waited);
        *sum += ticks;
    }

    /// A send or receive with a request was posted.
    #[inline]
    pub(super) fn post(
        &mut self,
        request: Option<usize>,
        receives: Option<Option<u32>>,
        call: Option<Call>,
    ) {
        if !window::is_open() {
            if let (Some(request), Some(from)) = (request, receives) {
                self.requests.receive(request, from);
            }
            return;
        }
        self.post_in_window(request, receives, call);
    }

    fn post_in_window(
        &mut self,
        request: Option<usize>,
        receives: Option<Option<u32>>,
        call: Option<Call>,
    ) {
        let takes = self.window.takes();
        let post = if takes && call.is_some() { self.window.next_post() } else { u32::MAX };
        if let Some(request) = request
            && (receives.is_some() || post != u32::MAX)
        {
            self.requests.start(request, Pending { receives, post, count: 1 });
        }
        call.filter(|_| takes).into_iter().for_each(|call| self.window.push(call));
    }

    /// The factor by which the work exceeds these counts: 1, unless they took too long. The rest of the program is taken
    /// to be like its beginning.
    fn factor(&self) -> f64 {
        if !limits::partners_have_stopped() {
            return 1.0;
        }
        let messages: u64 =
            self.others.iter().map(|other| other.sent.messages + other.got.messages).sum();
        let calls: u64 = self.collectives.values().map(|(calls, _)| calls).sum();
        let counted = [messages, calls].into_iter().zip(work::messages_and_collectives());
        let part = counted.into_iter().find(|(counted, _)| *counted > 0);
        part.map_or(1.0, |(counted, all)| (all as f64 / counted as f64).max(1.0))
    }

    /// Takes the counts since the last call; the window if the process `ends`, or it is full.
    pub(super) fn take(&mut self, ends: bool) -> (Vec<Line>, Option<Window>) {
        let factor = self.factor();
        let mut others: Vec<&mut Other> = self.others.iter_mut().collect();
        others.sort_unstable_by_key(|other| other.rank);
        let (mut sent, mut got, mut waited) = (Vec::new(), Vec::new(), Vec::new());
        let tick = ticks::nanoseconds() * factor;
        let time = |ticks: u64| (ticks as f64 * tick) as u64;
        let times = |count: u64| (count as f64 * factor).round() as u64;
        for other in others {
            let counts = [&mut other.sent, &mut other.got].map(std::mem::take);
            let [sent_now, got_now] = counts.map(|Count { messages, bytes }| Count {
                messages: times(messages),
                bytes: times(bytes),
            });
            if sent_now.messages > 0 {
                sent.push((other.rank, sent_now));
            }
            if got_now.messages > 0 {
                got.push((other.rank, got_now));
            }
            waited.push((Some(other.rank), time(std::mem::take(&mut other.waited))));
        }
        waited.push((None, time(std::mem::take(&mut self.waited))));
        if let Some((limits, rank)) = limits::limits() {
            waited = vec![(None, waited.iter().map(|(_, nanoseconds)| *nanoseconds).sum())];
            for sums in [&mut sent, &mut got] {
                limits.keep_largest(*rank, sums, |(other, sum)| (*other, sum.bytes));
            }
        }
        let sent = sent.into_iter().map(|(to, count)| Line::Sent { to, count });
        let got = got.into_iter().map(|(from, count)| Line::Got { from, count });
        let waited = waited.into_iter().filter(|(_, nanoseconds)| *nanoseconds > 0);
        let waited = waited.map(|(on, nanoseconds)| Line::Waited { on, nanoseconds });
        let grids = self.grids[std::mem::replace(&mut self.noted, self.grids.len())..].iter();
        let calls = std::mem::take(&mut self.collectives).into_iter();
        let calls = calls.map(|(name, (calls, ticks))| Line::Collective {
            function: name.into(),
            calls: times(calls),
            nanoseconds: time(ticks),
        });
        let counts = sent.chain(got).chain(grids.cloned().map(Line::Grid));
        (counts.chain(calls).chain(waited).collect(), self.window.give(ends))
    }
}

#[cfg(test)]
mod tests;
