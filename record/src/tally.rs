//! The counts. One lock is held for as long as it takes to add to them, and no host is called under it.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cartograph_traffic::{Count, Grid, Line, MOST_GRIDS};
use rustc_hash::FxHashMap;

use crate::part::{self, Clock};
use crate::peers::{Peers, bits};
use crate::sent::{Block, Sent};
use crate::sys::MPI_Request;

static TALLY: Mutex<Tally> = Mutex::new(Tally::new());

/// Everything that one process knows.
struct Tally {
    others: Vec<Other>,
    /// Where in `others` a rank of `MPI_COMM_WORLD` is.
    by_rank: Option<FxHashMap<u32, u32>>,
    /// By the numbers of communicators and windows; that of `MPI_COMM_WORLD` is the first.
    tables: Vec<Table>,
    free: Vec<u32>,
    /// What persistent requests send whenever they are started.
    kept: Option<FxHashMap<usize, Kept>>,
    collectives: BTreeMap<&'static str, u64>,
    grids: Vec<Grid>,
    /// Those of `grids` that are in a part.
    noted: usize,
    clock: Clock,
}

/// What went to another process, and what was fetched from it, since the last part.
struct Other {
    rank: u32,
    sent: Count,
    got: Count,
}

/// What is known of a communicator or window.
#[derive(Default)]
struct Table {
    /// Where in `others` its ranks are; `None` for processes of another world.
    ranks: FxHashMap<c_int, Option<u32>>,
    neighbors: Option<Arc<[c_int]>>,
}

/// What a persistent request sends.
#[derive(Clone)]
enum Kept {
    Blocks(Arc<[(u32, Block)]>),
    Calls(&'static str),
}

fn tally() -> MutexGuard<'static, Tally> {
    TALLY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tally {
    const fn new() -> Self {
        Self {
            others: Vec::new(),
            by_rank: None,
            tables: Vec::new(),
            free: Vec::new(),
            kept: None,
            collectives: BTreeMap::new(),
            grids: Vec::new(),
            noted: 0,
            clock: Clock::stopped(),
        }
    }

    fn table(&mut self, number: u32) -> &mut Table {
        let number = number as usize;
        if self.tables.len() <= number {
            self.tables.resize_with(number + 1, Table::default);
        }
        &mut self.tables[number]
    }

    #[inline]
    fn find(&self, table: u32, rank: c_int) -> Option<Option<u32>> {
        self.tables.get(table as usize)?.ranks.get(&rank).copied()
    }

    fn other(&mut self, rank: u32) -> u32 {
        let others = &mut self.others;
        *self.by_rank.get_or_insert_default().entry(rank).or_insert_with(|| {
            others.push(Other { rank, sent: Count::default(), got: Count::default() });
            (others.len() - 1) as u32
        })
    }

    #[inline]
    fn add(&mut self, other: u32, block: Block) {
        let other = &mut self.others[other as usize];
        let count = if block.fetched { &mut other.got } else { &mut other.sent };
        count.messages += 1;
        count.bytes = count.bytes.saturating_add(block.bytes);
    }

    fn call(&mut self, function: &'static str) {
        *self.collectives.entry(function).or_default() += 1;
    }

    /// What came since the last call.
    fn take(&mut self) -> Vec<Line> {
        let mut others: Vec<&mut Other> = self.others.iter_mut().collect();
        others.sort_unstable_by_key(|other| other.rank);
        let (mut sent, mut got) = (Vec::new(), Vec::new());
        for other in others {
            let [sent_now, got_now] = [&mut other.sent, &mut other.got].map(std::mem::take);
            if sent_now.messages > 0 {
                sent.push(Line::Sent { to: other.rank, count: sent_now });
            }
            if got_now.messages > 0 {
                got.push(Line::Got { from: other.rank, count: got_now });
            }
        }
        let grids = self.grids[std::mem::replace(&mut self.noted, self.grids.len())..].iter();
        let calls = std::mem::take(&mut self.collectives).into_iter();
        let calls = calls.map(|(name, calls)| Line::Collective { function: name.into(), calls });
        sent.into_iter().chain(got).chain(grids.cloned().map(Line::Grid)).chain(calls).collect()
    }
}

/// Begins to look for when parts are due.
pub(crate) fn begin(rank: u32) {
    tally().clock = Clock::of_rank(rank);
}

/// What came since it was last taken.
pub(crate) fn take() -> Vec<Line> {
    tally().take()
}

/// [`take`] where the process ends; `None` if that would wait without end.
pub(crate) fn take_patiently() -> Option<Vec<Line>> {
    Some(part::lock_patiently(&TALLY)?.take())
}

/// Counts what a call has sent.
#[inline]
pub(crate) fn count(sent: Sent) {
    let is_due = match sent {
        Sent::One(_, block) if block.rank < 0 => false,
        Sent::One(peers, block) => {
            let table = peers.table();
            let mut tally = tally();
            match table.and_then(|table| tally.find(table, block.rank)) {
                Some(Some(other)) => {
                    tally.add(other, block);
                    tally.clock.is_due()
                }
                Some(None) => false,
                None => {
                    drop(tally);
                    many(peers, &[block])
                }
            }
        }
        Sent::Many(peers, blocks) => many(peers, &blocks),
        Sent::Calls(function) => {
            let mut tally = tally();
            tally.call(function);
            tally.clock.is_due()
        }
    };
    if is_due {
        part::write();
    }
}

fn many(peers: Peers, blocks: &[Block]) -> bool {
    let found = resolve(peers, blocks);
    let mut tally = tally();
    found.into_iter().for_each(|(other, block)| tally.add(other, block));
    tally.clock.is_due()
}

/// The blocks that go to processes of this world, with where these are in `others`.
fn resolve(peers: Peers, blocks: &[Block]) -> Vec<(u32, Block)> {
    let table = peers.table();
    let mut tally_now = tally();
    let known = |tally: &Tally, rank| table.and_then(|table| tally.find(table, rank));
    let mut unknown: Vec<c_int> = blocks
        .iter()
        .map(|block| block.rank)
        .filter(|rank| *rank >= 0 && known(&tally_now, *rank).is_none())
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    let mut asked = FxHashMap::default();
    if !unknown.is_empty() {
        drop(tally_now);
        let world = peers.in_world(&unknown);
        tally_now = tally();
        for (rank, world) in unknown.into_iter().zip(world) {
            let other = world.map(|world| tally_now.other(world));
            asked.insert(rank, other);
            if let Some(table) = table {
                tally_now.table(table).ranks.insert(rank, other);
            }
        }
    }
    let place = |block: &Block| {
        let found = asked.get(&block.rank).copied().or_else(|| known(&tally_now, block.rank));
        Some((found??, *block))
    };
    blocks.iter().filter_map(place).collect()
}

/// Keeps what a persistent request sends, for when it is started.
pub(crate) fn keep(request: MPI_Request, sent: Sent) {
    let kept = match sent {
        Sent::One(peers, block) => Kept::Blocks(resolve(peers, &[block]).into()),
        Sent::Many(peers, blocks) => Kept::Blocks(resolve(peers, &blocks).into()),
        Sent::Calls(function) => Kept::Calls(function),
    };
    tally().kept.get_or_insert_default().insert(bits(request), kept);
}

/// A request has been started. Those that receive are not kept.
pub(crate) fn started(request: MPI_Request) {
    let mut tally = tally();
    match tally.kept.as_ref().and_then(|kept| kept.get(&(bits(request)))).cloned() {
        Some(Kept::Blocks(blocks)) => {
            blocks.iter().for_each(|(other, block)| tally.add(*other, *block));
        }
        Some(Kept::Calls(function)) => tally.call(function),
        None => return,
    }
    let is_due = tally.clock.is_due();
    drop(tally);
    if is_due {
        part::write();
    }
}

/// A request is about to be freed.
pub(crate) fn forget(request: MPI_Request) {
    if let Some(kept) = &mut tally().kept {
        kept.remove(&(bits(request)));
    }
}

/// A grid was made in which the process has a place.
pub(crate) fn grid(grid: Grid) {
    let mut tally = tally();
    if tally.grids.len() < MOST_GRIDS && !tally.grids.contains(&grid) {
        tally.grids.push(grid);
    }
}

/// The number of an empty table. Those of communicators that are gone are used again.
pub(crate) fn new_table(gone: &[u32]) -> u32 {
    let mut tally = tally();
    for number in gone {
        *tally.table(*number) = Table::default();
        tally.free.push(*number);
    }
    tally.free.pop().unwrap_or_else(|| {
        // The first is MPI_COMM_WORLD's.
        let number = tally.tables.len().max(1) as u32;
        tally.table(number);
        number
    })
}

/// The destinations of neighborhood collectives, if they are known.
pub(crate) fn neighbors(table: u32) -> Option<Arc<[c_int]>> {
    tally().table(table).neighbors.clone()
}

/// Keeps the destinations of neighborhood collectives.
pub(crate) fn set_neighbors(table: u32, neighbors: Arc<[c_int]>) {
    tally().table(table).neighbors = Some(neighbors);
}
