//! The search for a mapping to nodes by their distances.

use super::levels::{multisect, rematch};
use super::refine::{LARGE, Partition, swap_pairs};
use super::subject::{Divide, Subject};
use crate::machine::Machine;
use crate::mapping::budget::Budget;
use crate::mapping::distance::distance_model::{DistanceModel, Mapping, TreeCost};
use crate::mapping::model::objective::{Goal, Objective};

/// A grid or graph that is mapped through all levels.
pub(super) struct MappingProblem<'a, S: Subject> {
    /// The directed edges.
    pub(super) subject: &'a S,
    /// The same edges in both directions, each with the sum of both weights.
    pub(super) edges: &'a S::Edges,
    /// The nodes and the levels above them.
    pub(super) model: &'a DistanceModel,
    /// The nodes that may take part, and the number of vertices on each.
    pub(super) choices: &'a [Vec<(u32, u32)>],
    /// A lower bound on the cost of any mapping, in units of its key.
    pub(super) bound: i128,
    /// The cost that is minimized first.
    pub(super) objective: Objective,
}

impl<S: Subject> MappingProblem<'_, S> {
    pub(super) fn mapping(&self, node_of: Vec<u32>, algorithm: &'static str) -> Mapping {
        Mapping::new(self.model, self.subject, node_of, algorithm)
    }

    /// True if a mapping needs no further search: a sum at the bound ends it, but on small machines only if no node has
    /// more than its share.
    pub(super) fn is_done(&self, cost: &TreeCost) -> bool {
        let (sum, of_nodes) = (self.model.sum(cost), cost.levels[self.model.depth()]);
        let most = i128::from(of_nodes.max_node_edges) * self.model.nodes() as i128;
        let is_even = most <= of_nodes.inter_node_edges.into();
        !self.objective.rules().busiest_first
            && sum <= self.bound
            && (self.subject.vertices() > LARGE || is_even)
    }
}

/// The best mapping to nodes if their distance counts: the mapping found for nodes only, with its parts placed near
/// each other, and a division of the vertices from the top down; the better of these is improved. `machine` is the
/// initial assignment of vertices, from which the search starts if nothing was found.
pub(super) fn map_hierarchical<S: Subject>(
    problem: &MappingProblem<'_, S>,
    machine: &Machine,
    found: Option<Mapping>,
    divider: &mut impl Divide,
    budget: &mut Budget,
) -> Mapping {
    let MappingProblem { subject, edges, model, choices, objective, .. } = *problem;
    let nodes = model.nodes();
    let key = |found: &Mapping| model.key_of(&found.cost, objective);
    let offer = |best: &mut Mapping, other: Mapping| {
        if key(&other) < key(best) {
            *best = other;
        }
    };
    let own = || problem.mapping(machine.nodes()[..subject.vertices()].to_vec(), "placing");
    let mut best = found.unwrap_or_else(own);
    if problem.is_done(&best.cost) {
        return best;
    }
    let alone = (best.node_of.clone(), best.algorithm);
    let mut multisecting = budget.portion(S::TOP_DOWN, 10);
    for (i, nodes) in choices.iter().enumerate() {
        if problem.is_done(&best.cost) {
            return best;
        }
        let mut share = multisecting.split((choices.len() - i) as i64);
        offer(&mut best, multisected(problem, nodes, divider, &mut share));
        multisecting.put_back(share);
    }
    budget.put_back(multisecting);
    if problem.is_done(&best.cost) {
        return best;
    }
    let mut share = budget.split(4);
    let node_of = rematch(edges, &alone.0, model, &mut share);
    offer(&mut best, problem.mapping(node_of, alone.1));
    budget.put_back(share);
    let mut partition = Partition::new(edges, best.node_of.clone(), nodes);
    // Exchanges count edges from both of their ends, and may fill the node's links as long as other links take longer.
    let most = match objective.rules().by_time {
        true => model.most_of_node(best.cost.time).saturating_mul(2),
        false => i64::MAX,
    };
    swap_pairs(&mut partition, Goal { objective, most }, &mut budget.split(2));
    let better = partition.into_node_of();
    let algorithm = best.algorithm;
    offer(&mut best, problem.mapping(better, algorithm));
    best
}

/// The mapping by multisection to these nodes, each of which takes this many vertices.
fn multisected<S: Subject>(
    problem: &MappingProblem<'_, S>,
    nodes: &[(u32, u32)],
    divider: &mut impl Divide,
    budget: &mut Budget,
) -> Mapping {
    let (ids, takes): (Vec<u32>, Vec<u32>) = nodes.iter().copied().unzip();
    let selected = problem.model.select(&ids);
    let mut node_of = multisect(problem.subject.vertices(), &selected, &takes, divider, budget);
    node_of.iter_mut().for_each(|node| *node = ids[*node as usize]);
    problem.mapping(node_of, "multisection")
}
