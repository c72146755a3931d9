//! The collectives of a replay: which ranks have arrived, which wait, and the time taken.

use std::collections::HashMap;

use super::algorithms::{self, Algorithm, Step};
use super::network::{EAGER, Network, OVERHEAD, RankLocations};
use super::program::{Meeting, Program, Waits};

/// A collective.
#[derive(Default)]
pub(super) struct Instance {
    come: usize,
    latest: u64,
    /// The sum of the bytes of all ranks that have come.
    bytes: u64,
    root: Option<u64>,
    /// When the root's data reaches the others.
    root_data: u64,
    /// Ranks, each with its time.
    waiting: Vec<(u32, u64)>,
}

impl Instance {
    /// A rank enters the collective at a time. Returns the ranks that may continue, each with its time; a rank that is
    /// not among them waits.
    pub(super) fn meet(
        &mut self,
        rank: u32,
        now: u64,
        members: usize,
        (kind, bytes): (Meeting, u64),
        cost: impl FnOnce(u64) -> u64,
    ) -> Vec<(u32, u64)> {
        self.come += 1;
        self.latest = self.latest.max(now);
        self.bytes = self.bytes.saturating_add(bytes);
        let all = self.come == members;
        let (root, waits) = match kind.waits() {
            Waits::ForRoot(root) => (root == rank, root != rank && self.root.is_none()),
            Waits::OfRoot(root) => (root == rank, root == rank && !all),
            Waits::OfAll => (false, !all),
        };
        if root {
            self.root = Some(now);
        }
        let mut freed = Vec::new();
        match waits {
            true => self.waiting.push((rank, now)),
            false => freed.push((rank, now)),
        }
        let (free_all, time) = match kind.waits() {
            // The root continues at once, and others when its data has arrived.
            Waits::ForRoot(_) if root => {
                self.root_data = now.saturating_add(cost(bytes));
                (true, self.root_data)
            }
            Waits::ForRoot(_) => (false, self.root_data),
            // Ranks may contribute different numbers of bytes.
            _ if all => (true, self.latest.saturating_add(cost(self.bytes / members as u64))),
            _ => (false, now),
        };
        if free_all {
            freed.append(&mut self.waiting);
        }
        let leaves_at_once = move |freed: u32| match kind.waits() {
            Waits::ForRoot(root) => freed == root,
            Waits::OfRoot(root) => freed != root,
            Waits::OfAll => false,
        };
        let end =
            move |(rank, at)| if leaves_at_once(rank) { (rank, at) } else { (rank, time.max(at)) };
        freed.into_iter().map(end).collect()
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
    /// Sends the messages of a step, each as soon as its sender can.
    fn send(&mut self, step: &Step) {
        let mut come = Vec::with_capacity(step.messages.len());
        for (from, to, bytes) in step.messages.iter().copied() {
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
            self.at[from as usize] = if bytes > EAGER { left } else { starts };
            come.push((to, comes.saturating_add(OVERHEAD)));
        }
        for (to, comes) in come {
            let at = &mut self.at[to as usize];
            *at = comes.max(*at);
        }
    }

    fn latest(&self) -> u64 {
        self.at.iter().copied().max().unwrap_or(0)
    }
}

/// The time of a collective of a group after the last rank has arrived.
pub(super) fn cost(
    program: &Program,
    group: u32,
    kind: Meeting,
    bytes: u64,
    places: &RankLocations<'_>,
    network: &Network,
) -> u64 {
    let ranks = &program.groups[group as usize][..];
    let nodes: Vec<u32> = ranks.iter().map(|rank| places.node_of[*rank as usize]).collect();
    let root = kind.root().and_then(|root| ranks.binary_search(&root).ok()).unwrap_or(0);
    let steps = match algorithms::of(program.host, kind, &nodes, root as u32, bytes) {
        Algorithm::Exchange(bytes) => return exchange(ranks, &nodes, bytes, places, network),
        Algorithm::Steps(steps) => steps,
    };
    let mut known = nodes.clone();
    known.sort_unstable();
    known.dedup();
    let nodes = nodes.iter().map(|node| known.partition_point(|other| other < node)).collect();
    let (at, links) = (vec![0; ranks.len()], vec![[0; 2]; known.len()]);
    let mut clocks = Clocks { nodes, ranks, places, network, at, links };
    for step in &steps {
        for _ in 1..step.times.min(ROUNDS) {
            clocks.send(step);
        }
        let left = step.times.saturating_sub(ROUNDS);
        if left == 0 {
            clocks.send(step);
            continue;
        }
        let before = clocks.latest();
        clocks.send(step);
        let more = (clocks.latest() - before).saturating_mul(u64::from(left));
        clocks.at.iter_mut().for_each(|at| *at = at.saturating_add(more));
        clocks.links.iter_mut().flatten().for_each(|free| *free = free.saturating_add(more));
    }
    clocks.latest()
}

/// The time in which each process sends bytes to each other one: those on the links of the busiest node, or of the
/// processes in one node.
fn exchange(
    ranks: &[u32],
    nodes: &[u32],
    bytes: u64,
    places: &RankLocations<'_>,
    network: &Network,
) -> u64 {
    let Some(first) = ranks.first() else { return 0 };
    let mut on_node: HashMap<u32, u64> = HashMap::new();
    nodes.iter().for_each(|node| *on_node.entry(*node).or_default() += 1);
    let all = ranks.len() as u64;
    let highest = ranks.iter().map(|rank| places.level(*first, *rank)).max().unwrap_or(0);
    let link = network.link(highest);
    let sent = match on_node.len() {
        1 => all - 1,
        _ => on_node.values().map(|count| count * (all - count)).max().unwrap_or(0),
    };
    let calls = OVERHEAD.saturating_mul(2 * (all - 1));
    link.latency().saturating_add(calls.max(link.transfer(bytes.saturating_mul(sent))))
}
