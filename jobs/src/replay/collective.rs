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
    /// When the root's data reaches the others.
    root: Option<u64>,
    /// Ranks, each with its time.
    waiting: Vec<(u32, u64)>,
}

impl Instance {
    /// A rank enters the collective at a time, with its own bytes; all contribute `mean` bytes in the mean. Returns the
    /// ranks that may continue, each with its time; a rank that is not among them waits. `cost` is the time of the
    /// collective, by its bytes.
    pub(super) fn meet(
        &mut self,
        (rank, now): (u32, u64),
        members: usize,
        kind: CollectiveKind,
        [bytes, mean]: [u64; 2],
        cost: impl FnOnce(u64) -> u64,
    ) -> Vec<(u32, u64)> {
        self.come += 1;
        self.latest = self.latest.max(now);
        let is_last = self.come == members;
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

/// The times of the members of sibling groups in a collective.
struct Clocks<'a> {
    /// The members of a group.
    size: usize,
    /// The node of each member, group by group, numbered among those of all groups.
    nodes: Vec<usize>,
    /// The rank of each member.
    ranks: Vec<u32>,
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
            let [from, to] = [from, to].map(|member| member as usize);
            let starts = self.at[from].saturating_add(OVERHEAD);
            let [one, other] = [from, to].map(|member| self.ranks[member]);
            let level = self.places.level(one, other);
            let link = self.network.link(level);
            let takes = link.transfer(bytes);
            let (left, comes) = if level == 0 {
                let comes = starts.saturating_add(link.latency()).saturating_add(takes);
                (comes, comes)
            } else {
                let [out, _] = &mut self.links[self.nodes[from]];
                let begins = starts.max(*out);
                *out = begins.saturating_add(takes);
                let left = *out;
                let [_, into] = &mut self.links[self.nodes[to]];
                *into = begins.saturating_add(link.latency()).max(*into).saturating_add(takes);
                (left, *into)
            };
            self.at[from] = starts;
            let left = if bytes > EAGER { left } else { starts };
            ends.push(((from, left), (to, comes)));
        }
        for ((from, left), (to, comes)) in ends {
            let at = &mut self.at[from];
            *at = left.max(*at);
            let at = &mut self.at[to];
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

    /// Each member sends bytes to each other one of its group: over the links of the busiest node, or inside nodes.
    fn exchange(&mut self, bytes: u64) {
        let (mut on_node, mut sent) = (vec![0; self.links.len()], vec![0; self.links.len()]);
        let mut level = 0;
        for (nodes, ranks) in self.nodes.chunks(self.size).zip(self.ranks.chunks(self.size)) {
            nodes.iter().for_each(|node| on_node[*node] += 1);
            nodes.iter().for_each(|node| sent[*node] += (self.size - on_node[*node]) as u64);
            nodes.iter().for_each(|node| on_node[*node] = 0);
            level =
                ranks.iter().map(|rank| self.places.level(ranks[0], *rank)).fold(level, usize::max);
        }
        let others = self.size as u64 - 1;
        let sent = if level == 0 { others } else { sent.into_iter().max().unwrap_or(0) };
        let link = self.network.link(level);
        let calls = OVERHEAD.saturating_mul(2 * others);
        let takes = calls.max(link.transfer(bytes.saturating_mul(sent)));
        let end = self.latest().saturating_add(link.latency()).saturating_add(takes);
        self.at.fill(end);
    }

    fn latest(&self) -> u64 {
        self.at.iter().copied().max().unwrap_or(0)
    }
}

/// A step of sibling groups, whose members are numbered group by group.
#[derive(Default)]
struct JointStep {
    messages: Vec<Message>,
    /// How often the messages are sent.
    times: u32,
    /// The bytes of an exchange in each group.
    exchanged: Option<u64>,
}

impl JointStep {
    /// Adds the step of a group, whose first member has this number.
    fn add(&mut self, step: Step, first: u32) {
        match step {
            Step::Messages(messages, times) => {
                let joint = |(from, to, bytes)| (first + from, first + to, bytes);
                self.messages.extend(messages.into_iter().map(joint));
                self.times = self.times.max(times);
            }
            Step::Exchange(bytes) => self.exchanged = Some(bytes),
        }
    }
}

/// The time of a collective of a group, and of its siblings at the same time, after the last rank has arrived.
pub(super) fn cost(
    program: &Program,
    (group, siblings): (u32, &[u32]),
    kind: CollectiveKind,
    bytes: u64,
    places: &RankLocations<'_>,
    network: &Network,
) -> u64 {
    let members = |group: &u32| &program.groups[*group as usize][..];
    let groups: Vec<&[u32]> = siblings.iter().map(members).collect();
    let root = kind.root().and_then(|root| members(&group).binary_search(&root).ok()).unwrap_or(0);
    let node = |rank: &u32| places.node_of[*rank as usize];
    let size = groups[0].len();
    let mut steps: Vec<JointStep> = Vec::new();
    for (first, group) in (0..).step_by(size).zip(&groups) {
        let nodes: Vec<u32> = group.iter().map(node).collect();
        let own = algorithms::of(program.host, kind, &nodes, root as u32, bytes);
        steps.resize_with(own.len().max(steps.len()), JointStep::default);
        own.into_iter().zip(&mut steps).for_each(|(step, joint)| joint.add(step, first));
    }
    let ranks = groups.concat();
    let nodes: Vec<u32> = ranks.iter().map(node).collect();
    let mut known = nodes.clone();
    known.sort_unstable();
    known.dedup();
    let nodes = nodes.iter().map(|node| known.partition_point(|other| other < node)).collect();
    let (at, links) = (vec![0; ranks.len()], vec![[0; 2]; known.len()]);
    let mut clocks = Clocks { size, nodes, ranks, places, network, at, links };
    for step in steps {
        clocks.repeat(&step.messages, step.times);
        if let Some(bytes) = step.exchanged {
            clocks.exchange(bytes);
        }
    }
    clocks.latest()
}
