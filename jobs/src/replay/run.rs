//! The replay. Ranks share only the links of nodes, so only events at a link are ordered by time; each rank makes its
//! other calls as soon as possible. Messages between two ranks arrive in order, so it does not matter when a receive is
//! posted, and only receivers with receives from any source must see messages in order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::mem::{Discriminant, discriminant};

use super::collective::{self, Instance};
use super::links::Links;
use super::lists::Lists;
use super::matching::{Arrived, Posted, Queue};
use super::messages::{Completes, Message, Messages};
use super::network::{EAGER, Network, OVERHEAD, RankLocations, seconds, ticks};
use super::pairs::Pairs;
use super::program::{CollectiveKind, Op, Program};
use super::wait::{PENDING, Wait};

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
            messages: Messages::default(),
            links: Links::new(nodes, pairs.len()),
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
    /// Events by time: ranks that hand a message to a link and, numbered after them, links and messages. At equal
    /// times, the first that was queued comes first.
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
    /// The costs of collectives of siblings: those of the first root for all roots.
    costs: HashMap<(u32, u64, Discriminant<CollectiveKind>), u64>,
    messages: Messages,
    links: Links,
}

impl Run<'_> {
    fn all(&mut self) {
        loop {
            while let Some((rank, at)) = self.ready.pop() {
                self.go_on(rank, at);
            }
            let Some(Reverse((now, _, what))) = self.turns.pop() else { return };
            let ranks = self.ranks.len() as u32;
            let links = ranks + self.links.len() as u32;
            if what < ranks {
                if let Some(over) = self.call(what, now) {
                    self.go_on(what, over);
                }
            } else if what < links {
                self.leave(what - ranks, now);
            } else {
                self.moves(what - links, now);
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
                let is_eager = bytes <= EAGER;
                if is_eager && let Some(request) = request {
                    self.requests[request as usize] = soon;
                }
                let completes = match request {
                    _ if is_eager => Completes::Nothing,
                    Some(request) => Completes::Request(request),
                    None => Completes::Call,
                };
                let message =
                    Message { from: rank, to, tag, bytes, completes, links: 2, arrives: 0 };
                self.send(message, now);
                (is_eager || is_request).then_some(soon)
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
                let wait = Wait::new(&self.requests, [first, end], now);
                let over = wait.over();
                state.waits = over.is_none().then_some(wait);
                over
            }
            Op::Collective { group, kind, bytes } => {
                let (program, places, network) = (self.program, &self.places, self.network);
                let costs = &mut self.costs;
                let siblings = &self.pairs.siblings;
                let set = siblings.set_of(group);
                let cost = |bytes: u64| {
                    let key = (set, bytes, discriminant(&kind));
                    *costs.entry(key).or_insert_with(|| {
                        let groups = (group, siblings.groups(set));
                        collective::cost(program, groups, kind, bytes, places, network)
                    })
                };
                let members = program.groups[group as usize].len();
                let (instance, mean) = self.pairs.meeting(rank, at, group);
                let instance = &mut self.instances[instance];
                self.ready.extend(instance.meet((rank, now), members, kind, [bytes, mean], cost));
                None
            }
        }
    }

    /// Hands a message to the link of its node, or copies it inside the node.
    fn send(&mut self, message: Message, now: u64) {
        let Message { from, to, bytes, .. } = message;
        let level = self.places.level(from, to);
        let link = self.network.link(level);
        let number = self.messages.add(message);
        let over = now.saturating_add(OVERHEAD).saturating_add(link.latency());
        if level > 0 {
            self.enter(Links::out_of(self.places.node_of[from as usize]), number, now);
            return self.fly(number, over);
        }
        let last = &mut self.queues[self.pairs.pair(from, to)].last;
        *last = over.saturating_add(link.transfer(bytes)).max(*last);
        let arrives = *last;
        *self.messages.get(number) = Message { links: 0, arrives, ..message };
        self.sent(number, arrives);
        self.deliver(number);
    }

    fn enter(&mut self, link: u32, number: u32, now: u64) {
        let Message { from, to, bytes, .. } = *self.messages.get(number);
        let transfer = self.network.link(self.places.level(from, to)).transfer(bytes);
        let pair = self.pairs.pair(from, to) as u32;
        self.links.enter(link, (pair, number), transfer, now);
        self.queue_event(link);
    }

    fn queue_event(&mut self, link: u32) {
        if let Some(at) = self.links.next_event(link) {
            self.turn(at, self.ranks.len() as u32 + link);
        }
    }

    /// An event of a link: messages have left it.
    fn leave(&mut self, link: u32, now: u64) {
        if !self.links.is_due(link, now) {
            return;
        }
        while let Some(number) = self.links.leave(link, now) {
            let Message { from, to, .. } = *self.messages.get(number);
            let mut arrives = now;
            if link == Links::out_of(self.places.node_of[from as usize]) {
                let left = now.saturating_add(OVERHEAD);
                self.sent(number, left);
                let link = self.network.link(self.places.level(from, to));
                arrives = left.saturating_add(link.latency());
            }
            let message = self.messages.get(number);
            message.links -= 1;
            message.arrives = message.arrives.max(arrives);
            if message.links == 0 {
                self.deliver(number);
            }
        }
        self.queue_event(link);
    }

    /// A message has left its sender.
    fn sent(&mut self, number: u32, at: u64) {
        let Message { from, completes, .. } = *self.messages.get(number);
        match completes {
            Completes::Nothing => {}
            Completes::Request(request) => self.complete(from, request as usize, at),
            Completes::Call => self.ready.push((from, at)),
        }
    }

    fn fly(&mut self, number: u32, until: u64) {
        self.turn(until, (self.ranks.len() + self.links.len()) as u32 + number);
    }

    /// A message in flight reaches the link of a node, or its rank.
    fn moves(&mut self, number: u32, now: u64) {
        let message = *self.messages.get(number);
        match message.links {
            0 => self.comes(number),
            _ => self.enter(Links::into(self.places.node_of[message.to as usize]), number, now),
        }
    }

    /// The time of a message's arrival is known.
    fn deliver(&mut self, number: u32) {
        let Message { to, arrives, .. } = *self.messages.get(number);
        match self.pairs.takes_any(to) {
            true => self.fly(number, arrives),
            false => self.comes(number),
        }
    }

    /// A message reaches its rank.
    fn comes(&mut self, number: u32) {
        let Message { from, to, tag, arrives: at, .. } = self.messages.remove(number);
        let message = Arrived { from, tag, at };
        let queue = &mut self.queues[self.pairs.queue(Some(from), to)];
        let found = self.posted.take(&mut queue.posted, |posted| posted.takes(&message));
        let Some(posted) = found else {
            return self.arrived.push(&mut queue.arrived, message);
        };
        let done = posted.at.max(at);
        match posted.request {
            Some(request) => self.complete(to, request as usize, done),
            None => self.ready.push((to, done.saturating_add(OVERHEAD))),
        }
    }

    /// A request completes, and perhaps the call that waits for it.
    fn complete(&mut self, rank: u32, request: usize, done: u64) {
        self.requests[request] = done;
        let waits = &mut self.ranks[rank as usize].waits;
        let Some(wait) = waits else { return };
        wait.complete(request, done);
        if let Some(over) = wait.over() {
            *waits = None;
            self.ready.push((rank, over));
        }
    }
}
