//! The search for a mapping where the distance of nodes counts.

use super::Tree;
use super::multisection::{Divide, multisect};
use crate::machine::Machine;
use crate::mapping::cost::{Adjacency, Cost, Objective};
use crate::mapping::csr::Csr;
use crate::mapping::graph::place_parts;
use crate::mapping::refine::Budget;

/// A mapping that was found.
pub(in crate::mapping) struct Found {
    /// The node of each vertex.
    pub(in crate::mapping) node_of: Vec<u32>,
    /// What it costs at each level, the outermost first and the nodes last.
    pub(in crate::mapping) costs: Vec<Cost>,
    /// What found it.
    pub(in crate::mapping) algorithm: &'static str,
}

impl Found {
    /// With what it costs.
    pub(in crate::mapping) fn new(
        tree: &Tree,
        graph: &impl Adjacency,
        node_of: Vec<u32>,
        algorithm: &'static str,
    ) -> Self {
        Self { costs: tree.costs(graph, &node_of), node_of, algorithm }
    }
}

/// What is to be mapped through all levels.
pub(in crate::mapping) struct Question<'a, G, S> {
    /// The edges as they are.
    pub(in crate::mapping) graph: &'a G,
    /// The same in both directions, each with what the two weigh together.
    pub(in crate::mapping) symmetric: &'a S,
    /// The nodes and what is above them.
    pub(in crate::mapping) tree: &'a Tree,
    /// Nodes that may take part, and how many vertices each takes then.
    pub(in crate::mapping) choices: &'a [Vec<(u32, u32)>],
    /// What no mapping costs less than, as keys of mappings count it.
    pub(in crate::mapping) bound: i128,
}

/// From so many vertices on a sum at the bound is good enough.
const LARGE: usize = 20_000;

/// The best mapping to nodes where their distance counts: what was found for nodes alone, its parts placed
/// where they are near each other, and what comes of dividing the vertices from the top down; the better of these
/// is made better. `layout` is what the
/// vertices are in without any mapping. `None` if nothing was found at all.
pub(in crate::mapping) fn through<G: Adjacency, S: Adjacency>(
    question: &Question<'_, G, S>,
    layout: &Machine,
    found: Option<(Vec<u32>, &'static str)>,
    dividing: &mut impl Divide,
    objective: Objective,
    budget: &mut Budget,
) -> Option<Found> {
    let Question { graph, symmetric, tree, choices, bound } = *question;
    let nodes = layout.node_sizes().len();
    // A sum at the bound ends the search, on small machines only if no node has more than its share.
    let done = |best: &Found| {
        let (Key(sum, _), of_nodes) =
            (tree.key_of(&best.costs, Objective::Sum), best.costs[tree.depth()]);
        let most = i128::from(of_nodes.max_node_edges) * nodes as i128;
        let is_even = most <= of_nodes.inter_node_edges.into();
        objective == Objective::Sum && sum <= bound && (graph.vertices() > LARGE || is_even)
    };
    let key = |found: &Found| tree.key_of(&found.costs, objective);
    let offer = |best: &mut Found, other: Found| {
        if key(&other) < key(best) {
            *best = other;
        }
    };
    let (start, name) =
        found.unwrap_or_else(|| (layout.nodes()[..graph.vertices()].to_vec(), "placing"));
    let mut best = Found::new(tree, graph, start, name);
    if done(&best) {
        return Some(best);
    }
    let mut share = budget.split(4);
    let node_of = placed(symmetric, &best.node_of, nodes, tree, &mut share);
    offer(&mut best, Found::new(tree, graph, node_of, name));
    budget.put_back(share);
    let mut multisecting = budget.split(2);
    for (i, nodes) in choices.iter().enumerate() {
        if done(&best) {
            return Some(best);
        }
        let (ids, takes): (Vec<u32>, Vec<u32>) = nodes.iter().copied().unzip();
        let selected = tree.select(&ids);
        let mut share = multisecting.split((choices.len() - i) as i64);
        let mut node_of = multisect(graph.vertices(), &selected, &takes, dividing, &mut share);
        multisecting.put_back(share);
        node_of.iter_mut().for_each(|node| *node = ids[*node as usize]);
        offer(&mut best, Found::new(tree, graph, node_of, "multisection"));
    }
    budget.put_back(multisecting);
    if done(&best) {
        return Some(best);
    }
    let better = tree.improve(symmetric, best.node_of.clone(), nodes, objective, budget);
    let algorithm = best.algorithm;
    offer(&mut best, Found::new(tree, graph, better, algorithm));
    Some(best)
}

/// The same parts, each on the node where it is nearest to what it sends to.
fn placed(
    symmetric: &impl Adjacency,
    node_of: &[u32],
    nodes: usize,
    tree: &Tree,
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
    let node_of_part = place_parts(&between, &tree.select(&used), &takes, budget);
    part_of.into_iter().map(|part| used[node_of_part[part as usize] as usize]).collect()
}

/// What decides between two mappings; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::mapping) struct Key(i128, i128);

impl Key {
    pub(super) fn new(sum: i128, nodes: Cost, objective: Objective) -> Self {
        match objective {
            Objective::Sum => Self(sum, nodes.max_node_edges.into()),
            Objective::Max => Self(nodes.max_node_edges.into(), sum),
        }
    }
}
