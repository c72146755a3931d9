//! The search for a mapping where the distance of nodes counts.

use super::cost::{Adjacency, Goal, Objective};
use super::csr::Csr;
use super::distance_model::{DistanceModel, Mapping};
use super::graph;
use super::levels::{Divide, multisect};
use super::refine::{Budget, LARGE, Partition, swap_pairs_where};
use crate::machine::Machine;

/// A graph that is mapped through all levels.
pub(super) struct MappingProblem<'a, G, S> {
    /// The edges as they are.
    pub(super) graph: &'a G,
    /// The same in both directions, each with what the two weigh together.
    pub(super) symmetric: &'a S,
    /// The nodes and what is above them.
    pub(super) model: &'a DistanceModel,
    /// Nodes that may take part, and how many vertices each takes then.
    pub(super) choices: &'a [Vec<(u32, u32)>],
    /// A lower bound on the cost of any mapping, counted as keys of mappings are.
    pub(super) bound: i128,
}

/// The best mapping to nodes where their distance counts: what was found for nodes alone, its parts placed
/// where they are near each other, and what comes of dividing the vertices from the top down; the better of these
/// is made better. `layout` is what the
/// vertices are in without any mapping. `None` if nothing was found at all.
pub(super) fn map_hierarchical<G: Adjacency, S: Adjacency>(
    problem: &MappingProblem<'_, G, S>,
    layout: &Machine,
    found: Option<(Vec<u32>, &'static str)>,
    dividing: &mut impl Divide,
    objective: Objective,
    budget: &mut Budget,
) -> Option<Mapping> {
    let MappingProblem { graph, symmetric, model, choices, bound } = *problem;
    let nodes = layout.node_sizes().len();
    // A sum at the bound ends the search, on small machines only if no node has more than its share.
    let done = |best: &Mapping| {
        let (sum, of_nodes) = (model.sum(&best.cost), best.cost.levels[model.depth()]);
        let most = i128::from(of_nodes.max_node_edges) * nodes as i128;
        let is_even = most <= of_nodes.inter_node_edges.into();
        objective != Objective::Max && sum <= bound && (graph.vertices() > LARGE || is_even)
    };
    let key = |found: &Mapping| model.key_of(&found.cost, objective);
    let offer = |best: &mut Mapping, other: Mapping| {
        if key(&other) < key(best) {
            *best = other;
        }
    };
    let (start, name) =
        found.unwrap_or_else(|| (layout.nodes()[..graph.vertices()].to_vec(), "placing"));
    let mut best = Mapping::new(model, graph, start, name);
    if done(&best) {
        return Some(best);
    }
    let mut share = budget.split(4);
    let node_of = rematched(symmetric, &best.node_of, nodes, model, &mut share);
    offer(&mut best, Mapping::new(model, graph, node_of, name));
    budget.put_back(share);
    let mut multisecting = budget.split(2);
    for (i, nodes) in choices.iter().enumerate() {
        if done(&best) {
            return Some(best);
        }
        let (ids, takes): (Vec<u32>, Vec<u32>) = nodes.iter().copied().unzip();
        let selected = model.select(&ids);
        let mut share = multisecting.split((choices.len() - i) as i64);
        let mut node_of = multisect(graph.vertices(), &selected, &takes, dividing, &mut share);
        multisecting.put_back(share);
        node_of.iter_mut().for_each(|node| *node = ids[*node as usize]);
        offer(&mut best, Mapping::new(model, graph, node_of, "multisection"));
    }
    budget.put_back(multisecting);
    if done(&best) {
        return Some(best);
    }
    let mut partition = Partition::new(symmetric, best.node_of.clone(), nodes);
    // Exchanges count edges from both of their ends, and may fill the node's links as long as others take longer.
    let most = match objective {
        Objective::Time => model.most_of_node(best.cost.time).saturating_mul(2),
        _ => i64::MAX,
    };
    let siblings = |a, b| model.siblings(a, b);
    swap_pairs_where(&mut partition, Goal { objective, most }, siblings, &mut budget.split(2));
    let better = partition.into_node_of();
    let algorithm = best.algorithm;
    offer(&mut best, Mapping::new(model, graph, better, algorithm));
    Some(best)
}

/// The same parts, each on the node where it is nearest to what it sends to.
fn rematched(
    symmetric: &impl Adjacency,
    node_of: &[u32],
    nodes: usize,
    model: &DistanceModel,
    budget: &mut Budget,
) -> Vec<u32> {
    let mut takes = vec![0; nodes];
    node_of.iter().for_each(|node| takes[*node as usize] += 1);
    let used: Vec<u32> = (0..nodes as u32).filter(|node| takes[*node as usize] > 0).collect();
    let mut part = vec![0; nodes];
    used.iter().zip(0..).for_each(|(node, at)| part[*node as usize] = at);
    let part_of: Vec<u32> = node_of.iter().map(|node| part[*node as usize]).collect();
    let between = Csr::between(symmetric, &part_of, used.len());
    let takes: Vec<u32> = used.iter().map(|node| takes[*node as usize]).collect();
    let node_of_part = graph::match_parts(&between, &model.select(&used), &takes, budget);
    part_of.into_iter().map(|part| used[node_of_part[part as usize] as usize]).collect()
}
