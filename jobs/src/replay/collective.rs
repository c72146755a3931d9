//! The collectives of a replay: which ranks have arrived, which wait, and the time taken.

use std::collections::HashMap;

use super::network::{Network, RankLocations};
use super::program::{Meeting, Program};

/// A collective.
#[derive(Default)]
pub(super) struct Instance {
    come: usize,
    latest: u64,
    root: Option<u64>,
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
        kind: Meeting,
        cost: u64,
    ) -> impl Iterator<Item = (u32, u64)> + use<> {
        self.come += 1;
        self.latest = self.latest.max(now);
        let all = self.come == members;
        let (root, waits) = match kind {
            Meeting::FromRoot(root) => (root == rank, root != rank && self.root.is_none()),
            Meeting::ToRoot(root) => (root == rank, root == rank && !all),
            _ => (false, !all),
        };
        if root {
            self.root = Some(now);
        }
        let mut freed = Vec::new();
        match waits {
            true => self.waiting.push((rank, now)),
            false => freed.push((rank, now)),
        }
        let (free_all, time) = match kind {
            // The root continues at once, and others when its data has arrived.
            Meeting::FromRoot(_) => (root, self.root.map_or(now, |time| time.saturating_add(cost))),
            _ => (all, self.latest.saturating_add(cost)),
        };
        if free_all {
            freed.append(&mut self.waiting);
        }
        let leaves_at_once = move |freed: u32| match kind {
            Meeting::FromRoot(root) => freed == root,
            Meeting::ToRoot(root) => freed != root,
            _ => false,
        };
        let end =
            move |(rank, at)| if leaves_at_once(rank) { (rank, at) } else { (rank, time.max(at)) };
        freed.into_iter().map(end)
    }
}

/// The time of a collective of a group after the last rank has arrived: one step per doubling of the nodes and of the
/// processes per node, and its bytes on the links of the busiest node.
pub(super) fn cost(
    program: &Program,
    group: u32,
    kind: Meeting,
    bytes: u64,
    places: &RankLocations<'_>,
    network: &Network,
) -> u64 {
    let members = &program.groups[group as usize];
    let Some(first) = members.first() else { return 0 };
    let mut on_node: HashMap<u32, u64> = HashMap::new();
    members
        .iter()
        .for_each(|rank| *on_node.entry(places.node_of[*rank as usize]).or_default() += 1);
    let most = on_node.values().copied().max().unwrap_or(1);
    let highest = members.iter().map(|rank| places.level(*first, *rank)).max().unwrap_or(0);
    let doublings = |count: u64| u64::from(count.next_power_of_two().trailing_zeros());
    let (link, inside) = (network.link(highest), network.link(0));
    let all = members.len() as u64;
    let through = match kind {
        Meeting::All | Meeting::FromRoot(_) => bytes,
        Meeting::ToRoot(_) | Meeting::Gather => bytes.saturating_mul(all - most),
        Meeting::Exchange => {
            let leaving = on_node.values().map(|count| count * (all - count)).max().unwrap_or(0);
            bytes.saturating_mul(leaving)
        }
    };
    let steps =
        doublings(on_node.len() as u64) * link.latency() + doublings(most) * inside.latency();
    let last = if on_node.len() > 1 { link } else { inside };
    steps.saturating_add(last.transfer(through))
}
