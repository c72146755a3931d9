//! The replay. Ranks share only the links of nodes, so only events at a link are ordered by time; each rank makes its
//! other calls as soon as possible. Messages between two ranks arrive in order, so it does not matter when a receive is
//! posted, and only receivers with receives from any source must see messages in order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::mem::{Discriminant, discriminant};

use super::collective::{self, Instance};
use super::lists::Lists;
use super::matching::{Arrived, Posted, Queue};
use super::network::{EAGER, Network, OVERHEAD, RankLocations, seconds, ticks};
use super::pairs::Pairs;
use super::program::{CollectiveKind, Op, Program};

/// A request that has not completed.
const PENDING: u64 = u64::MAX;

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// Seconds until the last call that could be replayed completed.
    pub seconds: f64,
    /// The part of these seconds after every rank had made its marked number of calls.
    pub after_mark: f64,
    /// The number of calls that each rank has begun: the next ones wait for messages that no rank sends.
    pub calls: Vec<u32>,
    /// Seconds until the last of them completed, by rank.
    pub ends: Vec<f64>,
}

/// A message in flight.
#[derive(Debug, Clone, Copy)]
struct Message {
    from: u32,
    to: u32,
    tag: i32,
    bytes: u64,
    /// True if the first byte is at the destination node and waits for its link; otherwise, the message is arriving.
    at_node: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    /// The next call.
    next: usize,
    /// The requests so far.
    requests: usize,
    waits: Option<Wait>,
    end: u64,
    marked: u64,
}

/// The requests for which a rank waits.
#[derive(Debug, Clone, Copy)]
struct Wait {
    first: usize,
    end: usize,
    pending: usize,
    /// The time at which the last of the others completed.
    last: u64,
}

impl Wait {
    fn over(&self) -> u64 {
        self.last.saturating_add(OVERHEAD * (self.end - self.first) as u64 / 2)
    }
}

/// Replays of a program.
pub struct Replay<'a> {
    program: &'a Program,
    pairs: Pairs,
}

impl<'a> Replay<'a> {
    /// Prepares replays of a program.
    pub fn new(program: &'a Program) -> Self {
        Self { program, pairs: Pairs::new(program) }
    }

    /// Replays the program with its ranks at `places`. `mark` is a number of calls for each rank, or nothing.
    pub fn run(&self, places: RankLocations<'_>, network: &Network, mark: &[u32]) -> Replayed {
        let Self { program, pairs } = self;
        let (count, nodes) = (program.ranks.len(), places.nodes());
        let mut run = Run {
            program,
            pairs,
            places,
            network,
            mark,
            turns: BinaryHeap::new(),
            queued: 0,
            ready: (0..count as u32).rev().map(|rank| (rank, 0)).collect(),
            ranks: vec![Rank::default(); count],
            requests: vec![PENDING; pairs.requests[count]],
            queues: vec![Queue::default(); pairs.len()],
            posted: Lists::default(),
            arrived: Lists::default(),
            instances: (0..pairs.meetings[program.groups.len()])
                .map(|_| Instance::default())
                .collect(),
            costs: HashMap::new(),
            messages: Vec::new(),
            free: Vec::new(),
            out: vec![0; nodes],
            into: vec![0; nodes],
        };
        run.all();
        let end = run.ranks.iter().map(|rank| rank.end).max().unwrap_or(0);
        let marked = run.ranks.iter().map(|rank| rank.marked).max().unwrap_or(0);
        Replayed {
            seconds: seconds(end),
            after_mark: seconds(end - marked.min(end)),
            calls: run.ranks.iter().map(|rank| rank.next as u32).collect(),
            ends: run.ranks.iter().map(|rank| seconds(rank.end)).collect(),
        }
    }
}

/// Replays a program once.
pub fn replay(
    program: &Program,
    places: RankLocations<'_>,
    network: &Network,
    mark: &[u32],
) -> Replayed {
    Replay::new(program).run(places, network, mark)
}

struct Run<'a> {
    program: &'a Program,
    pairs: &'a Pairs,
    places: RankLocations<'a>,
    network: &'a Network,
    mark: &'a [u32],
    /// Events by time: ranks that hand a message to a link and, numbered after them, messages. At equal times, the
    /// lowest number comes first.
    turns: BinaryHeap<Reverse<(u64, u32, u32)>>,
    queued: u32,
    /// The ranks whose last call has completed, each with its time.
    ready: Vec<(u32, u64)>,
    ranks: Vec<Rank>,
    /// The time at which each request completed.
    requests: Vec<u64>,
    queues: Vec<Queue>,
    posted: Lists<Posted>,
    arrived: Lists<Arrived>,
    instances: Vec<Instance>,
    /// The costs of collectives: those of the first root for all roots.
    costs: HashMap<(u32, u64, Discriminant<CollectiveKind>), u64>,
    messages: Vec<Message>,
    /// The indices of messages that have arrived, for reuse.
    free: Vec<u32>,
    /// When the link of each node becomes free, outgoing and incoming.
    out: Vec<u64>,
    into: Vec<u64>,
}

impl Run<'_> {
    fn all(&mut self) {
        loop {
            while let Some((rank, at)) = self.ready.pop() {
                self.go_on(rank, at);
            }
            let Some(Reverse((now, _, what))) = self.turns.pop() else { return };
            match what.checked_sub(self.ranks.len() as u32) {
                None => {
                    if let Some(over) = self.call(what, now) {
                        self.go_on(what, over);
                    }
                }
                Some(number) => self.moves(number, now),
            }
        }
    }

    fn turn(&mut self, at: u64, what: u32) {
        self.queued = self.queued.wrapping_add(1);
        self.turns.push(Reverse((at, self.queued, what)));
    }

    /// The last call of a rank completed at this time: the rank makes its next calls until one waits.
    fn go_on(&mut self, rank: u32, mut at: u64) {
        let program = self.program;
        let events = &program.ranks[rank as usize];
        let mark = self.mark.get(rank as usize).map(|mark| *mark as usize);
        loop {
            let state = &mut self.ranks[rank as usize];
            state.end = state.end.max(at);
            if mark == Some(state.next) {
                state.marked = at;
            }
            let Some(event) = events.get(state.next) else { return };
            let now = at.saturating_add(ticks(event.work));
            if let Op::Send { to, .. } = event.op
                && self.places.node_of[rank as usize] != self.places.node_of[to as usize]
                && !self.is_next(now)
            {
                return self.turn(now, rank);
            }
            match self.call(rank, now) {
                Some(over) => at = over,
                None => return,
            }
        }
    }

    /// True if no event occurs at a link before this time.
    fn is_next(&self, now: u64) -> bool {
        self.ready.is_empty() && self.turns.peek().is_none_or(|Reverse((at, ..))| *at > now)
    }

    /// Makes the next call of a rank; returns the time of its completion, if it does not wait.
    fn call(&mut self, rank: u32, now: u64) -> Option<u64> {
        let state = &mut self.ranks[rank as usize];
        let at = state.next;
        let op = self.program.ranks[rank as usize][at].op;
        state.next += 1;
        let mut request = || {
            state.requests += 1;
            (self.pairs.requests[rank as usize] + state.requests - 1) as u32
        };
        let soon = now.saturating_add(OVERHEAD);
        match op {
            Op::Send { to, bytes, tag, request: is_request } => {
                let request = is_request.then(&mut request);
                let message = Message { from: rank, to, tag, bytes, at_node: true };
                let left = self.send(message, soon);
                let over = if bytes > EAGER { left } else { soon };
                match request {
                    Some(request) => self.requests[request as usize] = over,
                    None => return Some(over),
                }
                Some(soon)
            }
            Op::Recv { from, tag, request: is_request } => {
                let request = is_request.then(&mut request);
                let posted = Posted { from, tag, at: now, request };
                let queue = &mut self.queues[self.pairs.queue(from, rank)];
                let found = self.arrived.take(&mut queue.arrived, |message| posted.takes(message));
                match (found, request) {
                    (Some(message), Some(request)) => {
                        self.requests[request as usize] = now.max(message.at);
                    }
                    (Some(message), None) => {
                        return Some(now.max(message.at).saturating_add(OVERHEAD));
                    }
                    (None, _) => self.posted.push(&mut queue.posted, posted),
                }
                is_request.then_some(now)
            }
            Op::Wait { back, count } => {
                let end = state.requests;
                let first = end.saturating_sub(back as usize);
                let end = first.saturating_add(count as usize).min(end);
                let before = self.pairs.requests[rank as usize];
                let (first, end) = (before + first, before + end);
                let mut wait = Wait { first, end, pending: 0, last: now };
                for done in &self.requests[first..end] {
                    match *done {
                        PENDING => wait.pending += 1,
                        done => wait.last = wait.last.max(done),
                    }
                }
                if wait.pending == 0 {
                    return Some(wait.over());
                }
                state.waits = Some(wait);
                None
            }
            Op::Collective { group, kind, bytes } => {
                let (program, places, network) = (self.program, &self.places, self.network);
                let costs = &mut self.costs;
                let cost = |bytes: u64| {
                    let key = (group, bytes, discriminant(&kind));
                    *costs.entry(key).or_insert_with(|| {
                        collective::cost(program, group, kind, bytes, places, network)
                    })
                };
                let members = program.groups[group as usize].len();
                let instance = &mut self.instances[self.pairs.meeting(rank, at, group)];
                self.ready.extend(instance.meet((rank, now), members, kind, bytes, cost));
                None
            }
        }
    }

    /// Hands a message to the network; returns the time at which it has left the node.
    fn send(&mut self, message: Message, now: u64) -> u64 {
        let Message { from, to, bytes, .. } = message;
        let level = self.places.level(from, to);
        let link = self.network.link(level);
        if level == 0 {
            let arrives = now.saturating_add(link.latency()).saturating_add(link.transfer(bytes));
            let last = &mut self.queues[self.pairs.pair(from, to)].last;
            let arrives = arrives.max(*last);
            *last = arrives;
            self.arrives(message, arrives);
            return arrives;
        }
        let free = &mut self.out[self.places.node_of[from as usize] as usize];
        let starts = now.max(*free);
        *free = starts.saturating_add(link.transfer(bytes));
        let left = *free;
        self.fly(message, starts.saturating_add(link.latency()));
        left
    }

    fn fly(&mut self, message: Message, until: u64) {
        let number = self.free.pop().unwrap_or(self.messages.len() as u32);
        match self.messages.get_mut(number as usize) {
            Some(place) => *place = message,
            None => self.messages.push(message),
        }
        self.turn(until, self.ranks.len() as u32 + number);
    }

    /// A message in flight reaches the link of a node, or its rank.
    fn moves(&mut self, number: u32, now: u64) {
        let message = self.messages[number as usize];
        self.free.push(number);
        let Message { from, to, bytes, at_node, .. } = message;
        if !at_node {
            return self.comes(message, now);
        }
        let link = self.network.link(self.places.level(from, to));
        let free = &mut self.into[self.places.node_of[to as usize] as usize];
        *free = now.max(*free).saturating_add(link.transfer(bytes));
        let arrives = *free;
        self.arrives(message, arrives);
    }

    /// A message will arrive at this time.
    fn arrives(&mut self, message: Message, at: u64) {
        match self.pairs.takes_any(message.to) {
            true => self.fly(Message { at_node: false, ..message }, at),
            false => self.comes(message, at),
        }
    }

    /// A message reaches its rank.
    fn comes(&mut self, message: Message, at: u64) {
        let Message { from, to, tag, .. } = message;
        let message = Arrived { from, tag, at };
        let queue = &mut self.queues[self.pairs.queue(Some(from), to)];
        let found = self.posted.take(&mut queue.posted, |posted| posted.takes(&message));
        let Some(posted) = found else {
            return self.arrived.push(&mut queue.arrived, message);
        };
        let done = posted.at.max(at);
        let Some(request) = posted.request.map(|request| request as usize) else {
            return self.ready.push((to, done.saturating_add(OVERHEAD)));
        };
        self.requests[request] = done;
        let waits = &mut self.ranks[to as usize].waits;
        if let Some(wait) = waits.as_mut().filter(|wait| (wait.first..wait.end).contains(&request))
        {
            wait.pending -= 1;
            wait.last = wait.last.max(done);
            if wait.pending == 0 {
                self.ready.push((to, wait.over()));
                *waits = None;
            }
        }
    }
}
