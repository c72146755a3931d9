//! Kernighan and Lin's exchanges between two adjacent nodes, for all pairs one after another.

use std::cmp::Reverse;

use super::partition::{Partition, Ties, changes};
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::objective::Goal;

/// The number of vertices with the largest gains that are paired.
const TOP: usize = 6;

/// After this number of exchanges without a gain, those with the next node are tried.
const PATIENCE: usize = 8;

/// A possible exchange.
struct Swap {
    /// The key for comparing results.
    key: Key,
    slots: (u32, u32),
    changes: (i64, i64),
}

/// The excess of two nodes over their limits, and the figure that is compared next.
type Key = (i64, (i64, i64));

/// The vertices that two nodes have and may exchange, during trials.
#[derive(Default)]
struct Pair {
    vertices: Vec<u32>,
    ties: Vec<Ties>,
    /// For each vertex, true if it is on the second node now.
    second: Vec<bool>,
    locked: Vec<bool>,
    swaps: Vec<(u32, u32, (i64, i64))>,
}

/// Exchanges vertices between adjacent nodes as long as that gains or the budget lasts. The mapping never becomes
/// worse.
pub(in crate::mapping) fn swap_pairs<A: Adjacency>(
    partition: &mut Partition<'_, A>,
    goal: Goal,
    budget: &mut Budget,
) {
    let nodes = partition.nodes();
    let mut changed = vec![true; nodes];
    let mut pair = Pair::default();
    // Nodes with too many edges come first: a single one makes other gains useless, and the budget may not last for
    // all.
    for a in 0..nodes as u32 {
        while goal.excess(partition.leaving(a)) > 0
            && pair.improve_all(partition, (a, |_| true), goal, 0, &mut changed, budget)
        {}
    }
    loop {
        let before = std::mem::replace(&mut changed, vec![false; nodes]);
        // The busiest node must improve, and no other may become as bad.
        let worst = partition.cost().max_node_edges - 1;
        let mut any = false;
        for a in 0..nodes as u32 {
            if budget.is_spent() {
                return;
            }
            let wanted = |b: u32| b > a && (before[a as usize] || before[b as usize]);
            any |= pair.improve_all(partition, (a, wanted), goal, worst, &mut changed, budget);
        }
        if !any {
            return;
        }
    }
}

impl Pair {
    /// Tries exchanges of a node with adjacent nodes that are `wanted`, one after another, until the budget is spent.
    /// Returns whether they gained; then both nodes have `changed`.
    fn improve_all<A: Adjacency>(
        &mut self,
        partition: &mut Partition<'_, A>,
        (a, wanted): (u32, impl Fn(u32) -> bool),
        goal: Goal,
        worst: i64,
        changed: &mut [bool],
        budget: &mut Budget,
    ) -> bool {
        let (mut touching, mut steps) = (Vec::new(), 0);
        for &vertex in partition.members(a) {
            partition.graph.for_each_edge(vertex as usize, |to, _| {
                steps += 1;
                let b = partition.node(to);
                if b != a && wanted(b) {
                    touching.push(b);
                }
            });
        }
        budget.spend(steps);
        touching.sort_unstable();
        touching.dedup();
        let mut any = false;
        for b in touching {
            if !budget.is_spent() && self.improve(partition, (a, b), goal, worst, budget) {
                changed[a as usize] = true;
                changed[b as usize] = true;
                any = true;
            }
        }
        any
    }

    /// Loads the vertices of two nodes.
    fn load<A: Adjacency>(
        &mut self,
        partition: &Partition<'_, A>,
        (a, b): (u32, u32),
        budget: &mut Budget,
    ) {
        self.vertices.clear();
        self.vertices.extend_from_slice(partition.members(a));
        self.vertices.extend_from_slice(partition.members(b));
        let size = self.vertices.len();
        self.ties.clear();
        self.second.clear();
        self.second.resize(partition.members(a).len(), false);
        self.second.resize(size, true);
        self.locked.clear();
        self.locked.resize(size, false);
        self.swaps.clear();
        let mut steps = 0;
        for &vertex in &self.vertices {
            let mut ties = Ties::default();
            let own = partition.node(vertex as usize);
            partition.graph.for_each_edge(vertex as usize, |to, weight| {
                steps += 1;
                let node = partition.node(to);
                ties.all += weight;
                ties.own += if node == own { weight } else { 0 };
                ties.other += if node != own && (node == a || node == b) { weight } else { 0 };
            });
            self.ties.push(ties);
        }
        budget.spend(steps + size);
    }

    /// The vertices of a class on one side that touch the other and have the largest gains, best first.
    fn top(&self, second: bool, (class, classes): (u32, u32)) -> Vec<u32> {
        let is_wanted = |slot: &u32| {
            let slot = *slot as usize;
            self.second[slot] == second
                && self.vertices[slot] % classes == class
                && !self.locked[slot]
                && self.ties[slot].other != 0
                && self.vertices[slot] != 0
        };
        let mut best: Vec<u32> = (0..self.vertices.len() as u32).filter(is_wanted).collect();
        best.sort_by_key(|slot| Reverse(self.ties[*slot as usize].gain()));
        best.truncate(TOP);
        best
    }

    /// Tries a sequence of exchanges between two nodes and keeps the best prefix.
    fn improve<A: Adjacency>(
        &mut self,
        partition: &mut Partition<'_, A>,
        (a, b): (u32, u32),
        goal: Goal,
        worst: i64,
        budget: &mut Budget,
    ) -> bool {
        self.load(partition, (a, b), budget);
        let rules = goal.objective.rules();
        let least = if rules.busiest_first { worst } else { i64::MIN };
        let key = |(a, b): (i64, i64)| {
            (goal.excess(a) + goal.excess(b), rules.order(a + b, a.max(b).max(least)))
        };
        let mut leaving = (partition.leaving(a), partition.leaving(b));
        let mut best = key(leaving);
        let mut keep = 0;
        while self.swaps.len() < keep + PATIENCE && !budget.is_spent() {
            budget.spend(self.vertices.len() / 2 * partition.classes as usize);
            let swaps = (0..partition.classes)
                .filter_map(|class| self.best_swap(partition, class, leaving, &key));
            let choice = swaps.min_by_key(|swap| swap.key);
            let Some(Swap { key: reached, slots: (u, v), changes }) = choice else { break };
            leaving = (leaving.0 + changes.0, leaving.1 + changes.1);
            self.swaps.push((self.vertices[u as usize], self.vertices[v as usize], changes));
            self.exchange(partition, (a, b), u as usize, v as usize);
            if reached < best {
                best = reached;
                keep = self.swaps.len();
            }
        }
        for &(u, v, changes) in &self.swaps[..keep] {
            partition.swap(u as usize, v as usize, changes);
        }
        keep > 0
    }

    /// The exchange of two vertices of a class that leads to the smallest key.
    fn best_swap<A: Adjacency>(
        &self,
        partition: &Partition<'_, A>,
        class: u32,
        leaving: (i64, i64),
        key: &impl Fn((i64, i64)) -> Key,
    ) -> Option<Swap> {
        let [firsts, seconds] =
            [false, true].map(|second| self.top(second, (class, partition.classes)));
        let mut choice: Option<Swap> = None;
        for &u in &firsts {
            for &v in &seconds {
                let (ties_u, ties_v) = (self.ties[u as usize], self.ties[v as usize]);
                let after = |between| {
                    let changes = changes(ties_u, ties_v, between);
                    (key((leaving.0 + changes.0, leaving.1 + changes.1)), changes)
                };
                if choice.as_ref().is_some_and(|choice| after(0).0 >= choice.key) {
                    continue;
                }
                let to = self.vertices[v as usize] as usize;
                let mut between = 0;
                partition.graph.for_each_edge(self.vertices[u as usize] as usize, |x, weight| {
                    between += if x == to { weight } else { 0 };
                });
                let (key, changes) = after(between);
                if choice.as_ref().is_none_or(|choice| key < choice.key) {
                    choice = Some(Swap { key, slots: (u, v), changes });
                }
            }
        }
        choice
    }

    /// Exchanges two vertices on trial: the partition does not change.
    fn exchange<A: Adjacency>(
        &mut self,
        partition: &Partition<'_, A>,
        (a, b): (u32, u32),
        u: usize,
        v: usize,
    ) {
        let offset = partition.members(a).len();
        for moved in [u, v] {
            let now_second = !self.second[moved];
            partition.graph.for_each_edge(self.vertices[moved] as usize, |to, weight| {
                let node = partition.node(to);
                let slot = match node {
                    _ if node == a => partition.place(to),
                    _ if node == b => offset + partition.place(to),
                    _ => return,
                };
                // A loop ties a vertex to its own side, whichever that is.
                if slot == moved {
                    return;
                }
                let ties = &mut self.ties[slot];
                let sign = if self.second[slot] == now_second { weight } else { -weight };
                ties.own += sign;
                ties.other -= sign;
            });
            let ties = &mut self.ties[moved];
            std::mem::swap(&mut ties.own, &mut ties.other);
            self.second[moved] = now_second;
            self.locked[moved] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Objective;
    use crate::mapping::model::csr::Csr;

    #[test]
    fn nodes_with_too_many_edges_are_mended_first() {
        // A path on nodes of eight vertices, where the last two have alternate ones of sixteen.
        let path = Csr::from_edges(800, (1..800).flat_map(|v| [(v - 1, v, 1), (v, v - 1, 1)]));
        let node = |v: u32| if v < 784 { v / 8 } else { 98 + v % 2 };
        let goal = Goal { objective: Objective::Sum, most: 4 };
        let mut partition = Partition::new(&path, (0..800).map(node).collect(), 100);
        assert_eq!(partition.cost().max_node_edges, 16);
        // The budget would be spent before the last nodes are reached.
        swap_pairs(&mut partition, goal, &mut Budget::seconds(1e-5));
        assert!(partition.cost().max_node_edges <= 4, "{:?}", partition.cost());
    }
}
