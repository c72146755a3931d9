//! The counts. One lock is held for as long as it takes to add to them, and no host is called under it.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cartograph_traffic::{Call, Collective, Count, Grid, Line, MOST_GRIDS};
use rustc_hash::FxHashMap;

use crate::part::{self, Clock};
use crate::peers::{self, Peers, bits};
use crate::sent::{Block, Calls, Sent};
use crate::sys::{self, MPI_Comm, MPI_Request};
use crate::window::{self, Window};
use crate::{outermost, ticks};

static TALLY: Mutex<Tally> = Mutex::new(Tally::new());

/// Everything that one process knows.
struct Tally {
    others: Vec<Other>,
    /// The index in `others` of each rank of `MPI_COMM_WORLD`.
    by_rank: Option<FxHashMap<u32, u32>>,
    /// By the numbers of communicators and windows; that of `MPI_COMM_WORLD` is the first.
    tables: Vec<Table>,
    free: Vec<u32>,
    /// The messages of persistent requests, sent whenever they are started.
    kept: Option<FxHashMap<usize, Kept>>,
    /// Requests of the window that are not known to be done, by their handles.
    pending: Option<FxHashMap<usize, Pending>>,
    /// Receives that were posted behind the window: a handle and from whom, in the place that the handle has. Two that share a
    /// place lose one, whose time is that of nobody who is known.
    recent: [(usize, Option<u32>); RECENT],
    /// The calls of collectives, and the ticks in them.
    collectives: BTreeMap<&'static str, (u64, u64)>,
    /// Ticks of waiting on nobody who is known.
    waited: u64,
    window: Window,
    grids: Vec<Grid>,
    /// The number of `grids` that are in a part.
    noted: usize,
    clock: Clock,
}

/// The traffic to another process, and what was fetched from it, since the last part.
struct Other {
    rank: u32,
    sent: Count,
    got: Count,
    /// Ticks of waiting for what it sends.
    waited: u64,
}

/// The most requests of which the ends are waited for: some that are freed may have been taken for others.
const MOST_PENDING: usize = 1 << 16;

/// Places for receives behind the window, as a power of two.
const RECENT_BITS: u32 = 8;
const RECENT: usize = 1 << RECENT_BITS;

/// The place of a handle.
fn place(request: usize) -> usize {
    // Multiplied by the golden ratio, neighbors are far from each other.
    ((request as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - RECENT_BITS)) as usize
}

/// The tag of messages of neighborhood collectives, which no program has.
const NEIGHBORHOOD: i32 = -1;

/// A request that was started.
struct Pending {
    /// From whom it receives, if it does: `Some(None)` where that is not known.
    receives: Option<Option<u32>>,
    /// The number of its first message in the window, and how many it has there.
    post: u32,
    count: u32,
}

/// The processes of a communicator or window.
#[derive(Default)]
struct Table {
    /// The indices in `others` of its ranks; `None` for processes of another world.
    ranks: FxHashMap<c_int, Option<u32>>,
    neighbors: Option<Arc<[c_int]>>,
    /// For collectives of the window, and whether it is known.
    group: Option<Option<(u64, u32)>>,
}

/// The message of a persistent request.
#[derive(Clone)]
enum Kept {
    /// The blocks, and the tag of a message.
    Blocks(Arc<[(u32, Block)]>, Option<c_int>),
    Calls(&'static str),
    /// A receive, from anybody or one, and its tag.
    Receive(Option<u32>, Option<c_int>),
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
            pending: None,
            recent: [(0, None); RECENT],
            collectives: BTreeMap::new(),
            waited: 0,
            window: Window::closed(),
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
            let (sent, got) = Default::default();
            others.push(Other { rank, sent, got, waited: 0 });
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

    fn call(&mut self, function: &'static str, ticks: u64) {
        let (calls, sum) = self.collectives.entry(function).or_default();
        *calls += 1;
        *sum += ticks;
    }

    fn rank(&self, other: u32) -> u32 {
        self.others[other as usize].rank
    }

    fn wait(&mut self, on: Option<u32>, ticks: u64) {
        let sum = on.map_or(&mut self.waited, |on| &mut self.others[on as usize].waited);
        *sum += ticks;
    }

    /// A send or receive with a request was posted.
    #[inline]
    fn post(&mut self, request: Option<usize>, receives: Option<Option<u32>>, call: Option<Call>) {
        if !window::is_open() {
            if let (Some(request), Some(on)) = (request, receives) {
                self.recent[place(request)] = (request, on);
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
            let pending = self.pending.get_or_insert_default();
            if pending.len() < MOST_PENDING {
                pending.insert(request, Pending { receives, post, count: 1 });
            }
        }
        call.filter(|_| takes).into_iter().for_each(|call| self.window.push(call));
    }

    /// Takes what came since the last call; the window where the process `ends`, or it is full.
    fn take(&mut self, ends: bool) -> (Vec<Line>, Option<Window>) {
        let mut others: Vec<&mut Other> = self.others.iter_mut().collect();
        others.sort_unstable_by_key(|other| other.rank);
        let (mut sent, mut got, mut waited) = (Vec::new(), Vec::new(), Vec::new());
        let tick = ticks::nanoseconds();
        let time = |ticks: u64| (ticks as f64 * tick) as u64;
        for other in others {
            let [sent_now, got_now] = [&mut other.sent, &mut other.got].map(std::mem::take);
            if sent_now.messages > 0 {
                sent.push(Line::Sent { to: other.rank, count: sent_now });
            }
            if got_now.messages > 0 {
                got.push(Line::Got { from: other.rank, count: got_now });
            }
            waited.push((Some(other.rank), time(std::mem::take(&mut other.waited))));
        }
        waited.push((None, time(std::mem::take(&mut self.waited))));
        let waited = waited.into_iter().filter(|(_, nanoseconds)| *nanoseconds > 0);
        let waited = waited.map(|(on, nanoseconds)| Line::Waited { on, nanoseconds });
        let grids = self.grids[std::mem::replace(&mut self.noted, self.grids.len())..].iter();
        let calls = std::mem::take(&mut self.collectives).into_iter();
        let calls = calls.map(|(name, (calls, ticks))| Line::Collective {
            function: name.into(),
            calls,
            nanoseconds: time(ticks),
        });
        let counts = sent.into_iter().chain(got).chain(grids.cloned().map(Line::Grid));
        (counts.chain(calls).chain(waited).collect(), self.window.give(ends))
    }
}

/// Lines, with that of a window.
fn lines((mut lines, window): (Vec<Line>, Option<Window>)) -> Vec<Line> {
    lines.extend(window.map(|window| Line::Window(window.written())));
    lines
}

/// Begins to look for when parts are due.
pub(crate) fn begin(rank: u32) {
    let mut tally = tally();
    tally.clock = Clock::of_rank(rank);
    tally.window.open();
}

/// Takes what came since it was last taken.
pub(crate) fn take() -> Vec<Line> {
    let taken = tally().take(false);
    lines(taken)
}

/// [`take`] where the process ends; `None` if that would wait without end.
pub(crate) fn take_patiently() -> Option<Vec<Line>> {
    let taken = part::lock_patiently(&TALLY)?.take(true);
    Some(lines(taken))
}

/// Counts what a call has sent.
#[inline]
pub(crate) fn count(sent: Sent) {
    let is_due = match sent {
        Sent::One(_, block) if block.rank < 0 => false,
        Sent::One(peers, block) => {
            let (mut tally, other) = locate(peers, block.rank);
            other.is_some_and(|other| {
                tally.add(other, block);
                tally.clock.is_due()
            })
        }
        Sent::Many(peers, blocks) => many(peers, &blocks),
        Sent::Neighbors(_, comm, blocks) | Sent::All(_, comm, blocks) => {
            many(Peers::Comm(comm), &blocks)
        }
        Sent::Calls(calls) => {
            let mut tally = tally();
            tally.call(calls.function, 0);
            tally.clock.is_due()
        }
    };
    if is_due {
        part::write();
    }
}

/// The tally, and where in `others` a rank is; `None` for processes of another world.
#[inline]
fn locate(peers: Peers, rank: c_int) -> (MutexGuard<'static, Tally>, Option<u32>) {
    let table = peers.table();
    let tally_now = tally();
    if let Some(found) = table.and_then(|table| tally_now.find(table, rank)) {
        return (tally_now, found);
    }
    drop(tally_now);
    let found = resolve(peers, &[Block { rank, bytes: 0, fetched: false }]);
    (tally(), found.first().map(|(other, _)| *other))
}

/// The index in `others` of the source of a receive, whose rank may be a wildcard; `None` if nothing is received.
fn source(comm: MPI_Comm, rank: c_int) -> Option<(MutexGuard<'static, Tally>, Option<u32>)> {
    match rank {
        sys::CR_PROC_NULL => None,
        sys::CR_ANY_SOURCE => Some((tally(), None)),
        _ => Some(locate(Peers::Comm(comm), rank)),
    }
}

fn known_tag(tag: c_int) -> Option<i32> {
    (tag != sys::CR_ANY_TAG).then_some(tag)
}

/// Counts a message, with a request or without.
#[inline]
pub(crate) fn send(sent: Sent, tag: c_int, request: Option<MPI_Request>) {
    let Sent::One(peers, block) = sent else { return count(sent) };
    if block.rank < 0 {
        return;
    }
    let (mut tally, Some(other)) = locate(peers, block.rank) else { return };
    tally.add(other, block);
    if window::is_open() {
        let (to, bytes) = (tally.rank(other), block.bytes);
        match request {
            Some(request) => {
                tally.post(Some(bits(request)), None, Some(Call::Isend(to, bytes, tag)));
            }
            None if tally.window.takes() => tally.window.push(Call::Send(to, bytes, tag)),
            None => {}
        }
    }
    let is_due = tally.clock.is_due();
    drop(tally);
    if is_due {
        part::write();
    }
}

/// Counts a message that is sent while another is received, with a request or without.
pub(crate) fn exchange(
    sent: Sent,
    tag: c_int,
    (comm, from, from_tag): (MPI_Comm, c_int, c_int),
    request: Option<MPI_Request>,
) {
    let ticks = ticks::now().saturating_sub(outermost::began());
    let posts = tally().window.next_post();
    // As if the program had asked for two requests, of which it has none.
    let is_open = window::is_open();
    match sent {
        Sent::One(peers, block) if is_open && block.rank >= 0 => {
            let (mut tally, other) = locate(peers, block.rank);
            if let Some(other) = other {
                tally.add(other, block);
                let call = Call::Isend(tally.rank(other), block.bytes, tag);
                tally.post(None, None, Some(call));
            }
        }
        sent => count(sent),
    }
    let Some((mut tally, on)) = source(comm, from) else {
        let mut tally = tally();
        finish_exchange(&mut tally, posts, None, request, ticks);
        return;
    };
    if is_open && (on.is_some() || from == sys::CR_ANY_SOURCE) {
        let call = Call::Irecv(on.map(|on| tally.rank(on)), known_tag(from_tag));
        tally.post(None, None, Some(call));
    }
    finish_exchange(&mut tally, posts, Some(on), request, ticks);
}

/// The messages since the post with this number are waited for now, or when a request is.
fn finish_exchange(
    tally: &mut Tally,
    post: u32,
    receives: Option<Option<u32>>,
    request: Option<MPI_Request>,
    ticks: u64,
) {
    let count = tally.window.next_post() - post;
    match request {
        Some(request) => {
            let post = if count > 0 { post } else { u32::MAX };
            let pending = tally.pending.get_or_insert_default();
            pending.insert(bits(request), Pending { receives, post, count });
        }
        None => {
            tally.wait(receives.flatten(), ticks);
            if count > 0 {
                tally.window.push(Call::Wait(count, count));
            }
        }
    }
}

/// A message was received.
pub(crate) fn received(comm: MPI_Comm, from: c_int, tag: c_int) {
    let ticks = ticks::now().saturating_sub(outermost::began());
    let Some((mut tally, on)) = source(comm, from) else { return };
    tally.wait(on, ticks);
    if tally.window.takes() && (on.is_some() || from == sys::CR_ANY_SOURCE) {
        let call = Call::Recv(on.map(|on| tally.rank(on)), known_tag(tag));
        tally.window.push(call);
    }
}

/// A message was waited for, and not received.
pub(crate) fn waited_on(comm: MPI_Comm, from: c_int) {
    let ticks = ticks::now().saturating_sub(outermost::began());
    let Some((mut tally, on)) = source(comm, from) else { return };
    tally.wait(on, ticks);
    if tally.window.takes() {
        tally.window.pass();
    }
}

/// A receive was posted.
pub(crate) fn post_receive(request: MPI_Request, comm: MPI_Comm, from: c_int, tag: c_int) {
    let Some((mut tally, on)) = source(comm, from) else { return };
    let call = (window::is_open() && (on.is_some() || from == sys::CR_ANY_SOURCE))
        .then(|| Call::Irecv(on.map(|on| tally.rank(on)), known_tag(tag)));
    tally.post(Some(bits(request)), Some(on), call);
}

/// Keeps what a persistent request receives, for when it is started.
pub(crate) fn keep_receive(request: MPI_Request, comm: MPI_Comm, from: c_int, tag: c_int) {
    let Some((mut tally, on)) = source(comm, from) else { return };
    let kept = Kept::Receive(on, known_tag(tag));
    tally.kept.get_or_insert_default().insert(bits(request), kept);
}

/// These requests are done, for which was waited since `began`.
#[inline]
pub(crate) fn waited(requests: impl Iterator<Item = usize>, began: u64) {
    let ticks = ticks::now().saturating_sub(began);
    let mut guard = tally();
    let tally = &mut *guard;
    // The first that receives, further ones, and the numbers in the window.
    let (mut first, mut others, mut posts) = (None, Vec::new(), Vec::new());
    let takes = window::is_open() && tally.window.takes();
    for request in requests {
        let recent = &mut tally.recent[place(request)];
        let receives = if recent.0 == request && request != 0 {
            recent.0 = 0;
            Some(recent.1)
        } else if let Some(done) = tally.pending.as_mut().and_then(|all| all.remove(&request)) {
            if takes && done.post != u32::MAX {
                posts.extend(done.post..done.post + done.count);
            }
            done.receives
        } else {
            None
        };
        match (receives, first) {
            (None, _) => {}
            (Some(on), None) => first = Some(on),
            (Some(on), Some(_)) => others.push(on),
        }
    }
    if others.is_empty() {
        tally.wait(first.flatten(), ticks);
    } else {
        // Nobody knows which came last.
        let share = ticks / (others.len() as u64 + 1);
        tally.wait(first.flatten(), share);
        others.into_iter().for_each(|on| tally.wait(on, share));
    }
    if takes {
        tally.window.push_wait(&mut posts);
    }
}

/// A question has found that nothing is done yet.
pub(crate) fn not_done() {
    if window::is_open() {
        tally().window.poll();
    }
}

/// Counts what a blocking collective has sent.
pub(crate) fn collective(sent: Sent) {
    let ticks = ticks::now().saturating_sub(outermost::began());
    if window::is_open() {
        match &sent {
            Sent::Neighbors(_, comm, blocks) => exchange_with_neighbors(*comm, blocks),
            Sent::All(function, comm, blocks) => {
                let bytes: u64 = blocks.iter().map(|block| block.bytes).sum();
                let bytes = bytes / blocks.len().max(1) as u64;
                let call = Calls { function, comm: *comm, root: None, bytes };
                meet(call);
            }
            Sent::Calls(calls) => meet(*calls),
            Sent::One(..) | Sent::Many(..) => {}
        }
    }
    match sent {
        Sent::Calls(calls) => {
            let mut tally = tally();
            tally.call(calls.function, ticks);
            let is_due = tally.clock.is_due();
            drop(tally);
            if is_due {
                part::write();
            }
        }
        Sent::Neighbors(Some(function), ..) => {
            tally().call(function, ticks);
            count(sent);
        }
        sent => {
            tally().wait(None, ticks);
            count(sent);
        }
    }
}

/// Takes a collective into the window.
fn meet(Calls { function, comm, root, bytes }: Calls) {
    let peers = Peers::Comm(comm);
    let table = peers.table();
    let known = table.and_then(|table| tally().table(table).group);
    let group = known.unwrap_or_else(|| peers::group(comm));
    let root = root.and_then(|root| Some(root).filter(|root| *root >= 0));
    let root = root.and_then(|root| {
        let (tally, other) = locate(peers, root);
        other.map(|other| tally.rank(other))
    });
    let mut tally = tally();
    if let Some(table) = table {
        tally.table(table).group = Some(group);
    }
    let Some((group, size)) = group else { return };
    if tally.window.takes() {
        let call = Collective { function: function.into(), group, size, root, bytes };
        tally.window.push(Call::Collective(call));
    }
}

/// Takes a neighborhood collective into the window, as messages.
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

/// Keeps what a persistent request sends, for when it is started; `tag` is that of a message.
pub(crate) fn keep(request: MPI_Request, sent: Sent, tag: Option<c_int>) {
    let kept = match sent {
        Sent::One(peers, block) => Kept::Blocks(resolve(peers, &[block]).into(), tag),
        Sent::Many(peers, blocks) => Kept::Blocks(resolve(peers, &blocks).into(), None),
        Sent::Neighbors(_, comm, blocks) | Sent::All(_, comm, blocks) => {
            Kept::Blocks(resolve(Peers::Comm(comm), &blocks).into(), None)
        }
        Sent::Calls(calls) => Kept::Calls(calls.function),
    };
    tally().kept.get_or_insert_default().insert(bits(request), kept);
}

/// A persistent request has been started.
pub(crate) fn started(request: MPI_Request) {
    let mut tally = tally();
    match tally.kept.as_ref().and_then(|kept| kept.get(&(bits(request)))).cloned() {
        Some(Kept::Blocks(blocks, tag)) => {
            blocks.iter().for_each(|(other, block)| tally.add(*other, *block));
            if let (true, [(other, block)], Some(tag)) = (window::is_open(), &*blocks, tag) {
                let call = Call::Isend(tally.rank(*other), block.bytes, tag);
                tally.post(Some(bits(request)), None, Some(call));
            }
        }
        Some(Kept::Calls(function)) => tally.call(function, 0),
        Some(Kept::Receive(on, tag)) => {
            let call = window::is_open().then(|| Call::Irecv(on.map(|on| tally.rank(on)), tag));
            tally.post(Some(bits(request)), Some(on), call);
        }
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
    let mut tally = tally();
    let request = bits(request);
    tally.kept.as_mut().map(|kept| kept.remove(&request));
    tally.pending.as_mut().map(|pending| pending.remove(&request));
    if tally.recent[place(request)].0 == request {
        tally.recent[place(request)].0 = 0;
    }
}

/// Counts a grid that the process is in.
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
