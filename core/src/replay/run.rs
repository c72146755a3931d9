//! The replay: events in the order of their time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::collective::{self, Group};
use super::network::{Network, RankLocations, seconds, ticks};
use super::program::{Event, Meeting, Op, Program};

/// Blocking sends of more bytes are over when they have left the node.
const EAGER: u64 = 1 << 16;

/// The processor's time for a message, on either side.
const OVERHEAD: u64 = 200_000;

/// A request that is not done.
const PENDING: u64 = u64::MAX;

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// Seconds until the last call that could be replayed was over.
    pub seconds: f64,
    /// The part of these seconds after every rank had made the calls that it was asked about.
    pub after_mark: f64,
    /// The number of calls that each rank has begun: the next ones wait for messages that no rank sends.
    pub calls: Vec<u32>,
    /// Seconds until the last of them was over, by rank.
    pub ends: Vec<f64>,
}

/// A message in flight.
#[derive(Clone, Copy)]
struct Message {
    from: u32,
    to: u32,
    tag: i32,
    bytes: u64,
}

/// A receive that waits for a message; without the number of a request it is blocking.
struct Posted {
    from: Option<u32>,
    tag: Option<i32>,
    post: Option<usize>,
}

impl Posted {
    fn takes(&self, message: &Message) -> bool {
        self.from.is_none_or(|from| from == message.from)
            && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// An event to come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// A rank makes its next call.
    Call(u32),
    /// The first byte of a message is at the node that it goes to.
    AtNode(usize),
    /// A message has arrived.
    Arrived(usize),
}

#[derive(Default)]
struct Rank {
    /// The next call.
    next: usize,
    /// When requests were done.
    posts: Vec<u64>,
    posted: Vec<Posted>,
    /// Messages not received yet.
    unexpected: Vec<Message>,
    /// Requests that it waits for.
    waits: Option<(usize, usize)>,
    /// When the last message of each other inside its node arrived: none overtakes another.
    last: Vec<(u32, u64)>,
    end: u64,
    marked: u64,
}

struct Replay<'a> {
    program: &'a Program,
    places: RankLocations<'a>,
    network: &'a Network,
    mark: &'a [u32],
    queue: BinaryHeap<Reverse<(u64, u64, Next)>>,
    queued: u64,
    ranks: Vec<Rank>,
    groups: Vec<Group>,
    /// The costs of collectives.
    costs: HashMap<(u32, u64, u8), u64>,
    messages: Vec<Message>,
    /// When the link of each node is free, out and in.
    out: Vec<u64>,
    into: Vec<u64>,
}

/// Replays a program where its ranks are at `places`. `mark` is a number of calls for each rank, or nothing.
pub fn replay(
    program: &Program,
    places: RankLocations<'_>,
    network: &Network,
    mark: &[u32],
) -> Replayed {
    let (count, nodes) = (program.ranks.len(), places.nodes());
    let mut replay = Replay {
        program,
        places,
        network,
        mark,
        queue: BinaryHeap::new(),
        queued: 0,
        ranks: (0..count).map(|_| Rank::default()).collect(),
        groups: program.groups.iter().map(|_| Group::default()).collect(),
        costs: HashMap::new(),
        messages: Vec::new(),
        out: vec![0; nodes],
        into: vec![0; nodes],
    };
    (0..count as u32).for_each(|rank| replay.goes_on(rank, 0));
    while let Some(Reverse((now, _, next))) = replay.queue.pop() {
        match next {
            Next::Call(rank) => replay.call(rank, now),
            Next::AtNode(message) => replay.at_node(message, now),
            Next::Arrived(message) => replay.arrived(message, now),
        }
    }
    let end = replay.ranks.iter().map(|rank| rank.end).max().unwrap_or(0);
    let marked = replay.ranks.iter().map(|rank| rank.marked).max().unwrap_or(0);
    Replayed {
        seconds: seconds(end),
        after_mark: seconds(end - marked.min(end)),
        calls: replay.ranks.iter().map(|rank| rank.next as u32).collect(),
        ends: replay.ranks.iter().map(|rank| seconds(rank.end)).collect(),
    }
}

impl Replay<'_> {
    fn push(&mut self, at: u64, next: Next) {
        self.queued += 1;
        self.queue.push(Reverse((at, self.queued, next)));
    }

    /// The last call of a rank was over at this time.
    fn goes_on(&mut self, rank: u32, at: u64) {
        let state = &mut self.ranks[rank as usize];
        state.end = state.end.max(at);
        if self.mark.get(rank as usize).is_some_and(|mark| state.next == *mark as usize) {
            state.marked = at;
        }
        if let Some(Event { work, .. }) = self.program.ranks[rank as usize].get(state.next) {
            self.push(at.saturating_add(ticks(*work)), Next::Call(rank));
        }
    }

    fn call(&mut self, rank: u32, now: u64) {
        let state = &mut self.ranks[rank as usize];
        let event = self.program.ranks[rank as usize][state.next];
        state.next += 1;
        match event.op {
            Op::Send { to, bytes, tag, request } => {
                let left = self.send(Message { from: rank, to, tag, bytes }, now + OVERHEAD);
                let over = if bytes > EAGER { left } else { now + OVERHEAD };
                if request {
                    self.ranks[rank as usize].posts.push(over);
                    self.goes_on(rank, now + OVERHEAD);
                } else {
                    self.goes_on(rank, over);
                }
            }
            Op::Recv { from, tag, request } => {
                let mut posted = Posted { from, tag, post: None };
                if request {
                    posted.post = Some(state.posts.len());
                    state.posts.push(PENDING);
                }
                let found = state.unexpected.iter().position(|message| posted.takes(message));
                match found {
                    Some(at) => {
                        state.unexpected.remove(at);
                        if let Some(post) = posted.post {
                            state.posts[post] = now;
                        }
                        self.goes_on(rank, now + OVERHEAD);
                    }
                    None => {
                        state.posted.push(posted);
                        if request {
                            self.goes_on(rank, now);
                        }
                    }
                }
            }
            Op::Wait { back, count } => {
                let first = state.posts.len().saturating_sub(back as usize);
                let end = (first + count as usize).min(state.posts.len());
                state.waits = Some((first, end));
                self.look(rank, now);
            }
            Op::Meet { group, kind, bytes } => {
                let key = (group, bytes, collective_kind(kind));
                let (program, places, network) = (self.program, &self.places, self.network);
                let cost = *self.costs.entry(key).or_insert_with(|| {
                    collective::cost(program, group, kind, bytes, places, network)
                });
                let members = program.groups[group as usize].len();
                let freed = self.groups[group as usize].meet(rank, now, members, kind, cost);
                freed.into_iter().for_each(|(rank, at)| self.goes_on(rank, at));
            }
        }
    }

    /// A message is given to the network; when it has left the node.
    fn send(&mut self, message: Message, now: u64) -> u64 {
        let level = self.places.level(message.from, message.to);
        let link = self.network.link(level);
        self.messages.push(message);
        let number = self.messages.len() - 1;
        if level == 0 {
            let last = &mut self.ranks[message.to as usize].last;
            let at = last.iter().position(|(from, _)| *from == message.from).unwrap_or_else(|| {
                last.push((message.from, 0));
                last.len() - 1
            });
            let arrives = (now + link.latency() + link.transfer(message.bytes)).max(last[at].1);
            last[at].1 = arrives;
            self.push(arrives, Next::Arrived(number));
            return arrives;
        }
        let free = &mut self.out[self.places.node_of[message.from as usize] as usize];
        let starts = now.max(*free);
        *free = starts + link.transfer(message.bytes);
        let left = *free;
        self.push(starts + link.latency(), Next::AtNode(number));
        left
    }

    fn at_node(&mut self, number: usize, now: u64) {
        let Message { from, to, bytes, .. } = self.messages[number];
        let link = self.network.link(self.places.level(from, to));
        let free = &mut self.into[self.places.node_of[to as usize] as usize];
        *free = now.max(*free) + link.transfer(bytes);
        let arrives = *free;
        self.push(arrives, Next::Arrived(number));
    }

    fn arrived(&mut self, number: usize, now: u64) {
        let message = self.messages[number];
        let state = &mut self.ranks[message.to as usize];
        let Some(at) = state.posted.iter().position(|posted| posted.takes(&message)) else {
            state.unexpected.push(message);
            return;
        };
        match state.posted.remove(at).post {
            Some(post) => {
                state.posts[post] = now;
                self.look(message.to, now);
            }
            None => self.goes_on(message.to, now + OVERHEAD),
        }
    }

    /// Lets a rank go on if all that it waits for is done.
    fn look(&mut self, rank: u32, now: u64) {
        let state = &mut self.ranks[rank as usize];
        let Some((first, end)) = state.waits else { return };
        let last = state.posts[first..end].iter().copied().max().unwrap_or(0);
        if last != PENDING {
            state.waits = None;
            self.goes_on(rank, now.max(last) + OVERHEAD * (end - first) as u64 / 2);
        }
    }
}

/// A number for each kind: roots of one group take the same time.
fn collective_kind(kind: Meeting) -> u8 {
    match kind {
        Meeting::All => 0,
        Meeting::Gather => 1,
        Meeting::Exchange => 2,
        Meeting::FromRoot(_) => 3,
        Meeting::ToRoot(_) => 4,
    }
}
