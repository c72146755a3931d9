//! The assignment of a node's vertices to its processes.

use std::collections::HashMap;

use super::refine::{Partition, first_on_first, swap_pairs};
use crate::machine::{Level, Machine};
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::{Csr, grouped};
use crate::mapping::model::objective::Objective;
use crate::mapping::model::order::breadth_first;

/// The time of a search over one node's vertices, in seconds, from each of two starting points.
const NODE_SECONDS: f64 = 0.002;

/// Each node takes at least this fraction, one divided by this number, of the remaining budget.
const FIRST: usize = 64;

/// If the budget allows fewer sweeps over a node's graph, its vertices stay in order.
const LEAST: usize = 32;

/// The most nodes whose results are cached.
const REMEMBERED: usize = 4096;

/// A node's graph and the group of each of its ranks: the key of the cache.
type Division = (Csr, Vec<u32>);

/// The rank of each vertex, given the node of each in `node_of`. No node has more vertices than the layout has ranks
/// there. `graph` is symmetric: see [`refine`](super::refine).
///
/// Without levels below the nodes, a node's vertices in ascending order get its ranks in ascending order, so that a
/// good order is kept. With levels below the nodes, the vertices of a node are divided among its groups as vertices are
/// among nodes, and so on downward, as long as the budget lasts. Memory: 16 bytes per vertex.
pub(super) fn assign_ranks(
    graph: &impl Adjacency,
    node_of: &[u32],
    machine: &Machine,
    objective: Objective,
    budget: &mut Budget,
) -> Box<[i32]> {
    let nodes = machine.node_sizes().len();
    let (ranks, rank_starts) = grouped(machine.nodes(), nodes);
    let (vertices, starts) = grouped(node_of, nodes);
    let mut assignment = RankAssignment {
        graph,
        levels: machine.below(),
        objective,
        answers: HashMap::new(),
        old_rank: vec![-1; node_of.len()].into(),
        place: if machine.below().is_empty() { Vec::new() } else { vec![u32::MAX; node_of.len()] },
    };
    for node in 0..nodes {
        // Consecutive nodes often have the same graph, so the first ones may take more.
        let mut share = budget.split((nodes - node).min(FIRST) as i64);
        let of = |starts: &[u32]| starts[node] as usize..starts[node + 1] as usize;
        assignment.assign(&vertices[of(&starts)], &ranks[of(&rank_starts)], 0, &mut share);
        budget.put_back(share);
    }
    assignment.old_rank
}

struct RankAssignment<'a, A> {
    graph: &'a A,
    levels: &'a [Level],
    objective: Objective,
    answers: HashMap<Division, Vec<u32>>,
    old_rank: Box<[i32]>,
    /// Scratch space: an entry per vertex, all `u32::MAX` between uses.
    place: Vec<u32>,
}

impl<A: Adjacency> RankAssignment<'_, A> {
    /// Gives vertices to the ranks of one group, both ascending, by the levels from `level` down.
    fn assign(&mut self, vertices: &[u32], ranks: &[u32], level: usize, budget: &mut Budget) {
        let ids = match self.levels.get(level) {
            Some(level) if vertices.len() > 1 => &level.group_of,
            _ => {
                for (vertex, rank) in vertices.iter().zip(ranks) {
                    self.old_rank[*vertex as usize] = *rank as i32;
                }
                return;
            }
        };
        // Groups by the order of their lowest ranks.
        let mut names: Vec<u32> = ranks.iter().map(|rank| ids[*rank as usize]).collect();
        names.sort_unstable();
        names.dedup();
        let group = |rank: u32| names.partition_point(|name| *name < ids[rank as usize]) as u32;
        let groups: Vec<u32> = ranks.iter().map(|rank| group(*rank)).collect();
        if names.len() == 1 {
            return self.assign(vertices, ranks, level + 1, budget);
        }
        let answer = self.answer(vertices, groups.clone(), budget);
        for name in 0..names.len() as u32 {
            let of = |ids: &[u32], all: &[u32]| -> Vec<u32> {
                ids.iter().zip(all).filter(|(id, _)| **id == name).map(|(_, item)| *item).collect()
            };
            let (vertices, ranks) = (of(&answer, vertices), of(&groups, ranks));
            self.assign(&vertices, &ranks, level + 1, budget);
        }
    }

    /// The group of each vertex.
    fn answer(&mut self, vertices: &[u32], groups: Vec<u32>, budget: &mut Budget) -> Vec<u32> {
        let graph = Csr::induced(self.graph, vertices, &mut self.place);
        let sweep = graph.len() + vertices.len();
        budget.spend(sweep);
        if budget.left() < (LEAST * sweep) as i64 {
            return groups[..vertices.len()].to_vec();
        }
        let question = (graph, groups);
        if let Some(answer) = self.answers.get(&question) {
            return answer.clone();
        }
        let answer = divide(&question.0, &question.1, self.objective, budget);
        if self.answers.len() < REMEMBERED {
            self.answers.insert(question, answer.clone());
        }
        answer
    }
}

/// The group of each vertex of a graph that has at most as many vertices as `groups` has entries, which are the groups
/// of ranks. The order of ranks is kept unless another is better.
fn divide(graph: &Csr, groups: &[u32], objective: Objective, budget: &mut Budget) -> Vec<u32> {
    let count = groups.iter().max().map_or(0, |most| *most as usize + 1);
    let in_order = groups[..graph.vertices()].to_vec();
    let mut sizes = vec![0; count];
    groups.iter().for_each(|group| sizes[*group as usize] += 1);
    let mut by_size: Vec<u32> = (0..count as u32).collect();
    by_size.sort_by_key(|group| (*group != 0, std::cmp::Reverse(sizes[*group as usize])));
    // Whole groups, the largest first, so that few are used, but starting with that of the first rank.
    let filled = by_size.iter().flat_map(|group| vec![*group; sizes[*group as usize]]);
    let mut near = vec![0; graph.vertices()];
    for (vertex, group) in breadth_first(graph).into_iter().zip(filled) {
        near[vertex as usize] = group;
    }
    let near = first_on_first(graph, near, count, budget);
    let mut best = (graph.cost(&in_order).key(objective), in_order.clone());
    for start in [in_order, near] {
        let mut share = budget.at_most(Budget::seconds(NODE_SECONDS), 1);
        let mut partition = Partition::new(graph, start, count);
        swap_pairs(&mut partition, objective.into(), &mut share);
        budget.put_back(share);
        let key = partition.cost().key(objective);
        if key < best.0 {
            best = (key, partition.into_node_of());
        }
    }
    best.1
}
