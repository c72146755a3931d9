//! The collectives of a replay: which ranks have arrived, which wait, and the time taken.

use std::iter;

use super::algorithms::{self, Message, Step};
use super::network::{EAGER, Network, OVERHEAD, RankLocations};
use super::program::{CollectiveKind, Program, Waits};

/// A collective.
#[derive(Default)]
pub(super) struct Instance {
    come: usize,
    latest: u64,
    /// The sum of the bytes of all ranks that have come.
    bytes: u64,
    /// When the root's data reaches the others.
    root: Option<u64>,
    /// Ranks, each with its time.
    waiting: Vec<(u32, u64)>,
}

impl Instance {
    /// A rank enters the collective at a time, with these bytes. Returns the ranks that may continue, each with its time; a
    /// rank that is not among them waits. `cost` is the time of the collective, by its bytes.
    pub(super) fn meet(
        &mut self,
        (rank, now): (u32, u64),
        members: usize,
        kind: CollectiveKind,
        bytes: u64,
        cost: impl FnOnce(u64) -> u64,
    ) -> Vec<(u32, u64)> {
        self.come += 1;
        self.latest = self.latest.max(now);
        self.bytes = self.bytes.saturating_add(bytes);
        let is_last = self.come == members;
        // Ranks may contribute different numbers of bytes.
        let mean = self.bytes / members as u64;
        match kind.waits() {
            // The root continues at once, and others when its data has arrived.
            Waits::AllForRoot(root) if root == rank => {
                let comes = now.saturating_add(cost(bytes));
                self.root = Some(comes);
                let freed = self.waiting.drain(..).map(|(rank, at)| (rank, comes.max(at)));
                iter::once((rank, now)).chain(freed).collect()
            }
            Waits::AllForRoot(_) => match self.root {
                Some(comes) => vec![(rank, comes.max(now))],
                None => self.wait(rank, now),
            },
            Waits::RootForAll(root) if root != rank => {
                let freed = iter::once((rank, now));
                if !is_last {
                    return freed.collect();
                }
                let end = self.latest.saturating_add(cost(mean));
                freed.chain(self.waiting.drain(..).map(|(rank, at)| (rank, end.max(at)))).collect()
            }
            _ if is_last => {
                let end = self.latest.saturating_add(cost(mean));
                self.waiting.push((rank, now));
                self.waiting.drain(..).map(|(rank, at)| (rank, end.max(at))).collect()
            }
            _ => self.wait(rank, now),
        }
    }

    fn wait(&mut self, rank: u32, now: u64) -> Vec<(u32, u64)> {
        self.waiting.push((rank, now));
        Vec::new()
    }
}

/// The most rounds of equal messages whose times are followed; the others take as long as the last.
const ROUNDS: u32 = 3;

/// The times of a group's members in a collective.
struct Clocks<'a> {
    /// The node of each member, numbered among those of the group.
    nodes: Vec<usize>,
    /// The rank of each member.
    ranks: &'a [u32],
    places: &'a RankLocations<'a>,
    network: &'a Network,
    /// When each member can send.
    at: Vec<u64>,
    /// When the link of each node becomes free, outgoing and incoming.
    links: Vec<[u64; 2]>,
}

impl Clocks<'_> {
    /// Sends messages, each as soon as its sender can; then members wait for the messages that they sent and for those
    /// that reach them.
    fn send(&mut self, messages: &[Message]) {
        let mut ends = Vec::with_capacity(messages.len());
        for (from, to, bytes) in messages.iter().copied() {
            let starts = self.at[from as usize].saturating_add(OVERHEAD);
            let [one, other] = [from, to].map(|member| self.ranks[member as usize]);
            let level = self.places.level(one, other);
            let link = self.network.link(level);
            let takes = link.transfer(bytes);
            let (left, comes) = if level == 0 {
                let comes = starts.saturating_add(link.latency()).saturating_add(takes);
                (comes, comes)
            } else {
                let [out, _] = &mut self.links[self.nodes[from as usize]];
                let begins = starts.max(*out);
                *out = begins.saturating_add(takes);
                let left = *out;
                let [_, into] = &mut self.links[self.nodes[to as usize]];
                *into = begins.saturating_add(link.latency()).max(*into).saturating_add(takes);
                (left, *into)
            };
            self.at[from as usize] = starts;
            let left = if bytes > EAGER { left } else { starts };
            ends.push(((from, left), (to, comes)));
        }
        for ((from, left), (to, comes)) in ends {
            let at = &mut self.at[from as usize];
            *at = left.max(*at);
            let at = &mut self.at[to as usize];
            *at = comes.max(*at).saturating_add(OVERHEAD);
        }
    }

    /// Sends messages this many times, one after the other.
    fn repeat(&mut self, messages: &[Message], times: u32) {
        for _ in 1..times.min(ROUNDS) {
            self.send(messages);
        }
        let left = times.saturating_sub(ROUNDS);
        if left == 0 {
            return self.send(messages);
        }
        let before = self.latest();
        self.send(messages);
        let more = (self.latest() - before).saturating_mul(u64::from(left));
        let all = self.at.iter_mut().chain(self.links.iter_mut().flatten());
        all.for_each(|at| *at = at.saturating_add(more));
    }

    /// Each member sends bytes to each other one: over the links of the busiest node, or inside the only one.
    fn exchange(&mut self, bytes: u64) {
        let mut on_node = vec![0; self.links.len()];
        self.nodes.iter().for_each(|node| on_node[*node] += 1);
        let all = self.ranks.len() as u64;
        let level = |rank: &u32| self.places.level(self.ranks[0], *rank);
        let link = self.network.link(self.ranks.iter().map(level).max().unwrap_or(0));
        let sent = match on_node.len() {
            1 => all - 1,
            _ => on_node.iter().map(|count| count * (all - count)).max().unwrap_or(0),
        };
        let calls = OVERHEAD.saturating_mul(2 * (all - 1));
        let takes = calls.max(link.transfer(bytes.saturating_mul(sent)));
        let end = self.latest().saturating_add(link.latency()).saturating_add(takes);
        self.at.fill(end);
    }

    fn latest(&self) -> u64 {
        self.at.iter().copied().max().unwrap_or(0)
    }
}

/// The time of a collective of a group after the last rank has arrived.
pub(super) fn cost(
    program: &Program,
    group: u32,
    kind: CollectiveKind,
    bytes: u64,
    places: &RankLocations<'_>,
    network: &Network,
) -> u64 {
    let ranks = &program.groups[group as usize][..];
    let nodes: Vec<u32> = ranks.iter().map(|rank| places.node_of[*rank as usize]).collect();
    let root = kind.root().and_then(|root| ranks.binary_search(&root).ok()).unwrap_or(0);
    let steps = algorithms::of(program.host, kind, &nodes, root as u32, bytes);
    let mut known = nodes.clone();
    known.sort_unstable();
    known.dedup();
    let nodes = nodes.iter().map(|node| known.partition_point(|other| other < node)).collect();
    let (at, links) = (vec![0; ranks.len()], vec![[0; 2]; known.len()]);
    let mut clocks = Clocks { nodes, ranks, places, network, at, links };
    for step in steps {
        match step {
            Step::Messages(messages, times) => clocks.repeat(&messages, times),
            Step::Exchange(bytes) => clocks.exchange(bytes),
        }
    }
    clocks.latest()
}
