//! Distances on a machine with levels above the nodes: what edges cost between any two nodes.

use super::cost::{Adjacency, Cost, Objective};
use super::distances::Distances;
use crate::machine::Machine;

/// The nodes of a layout and what is above them, for mapping.
#[derive(Debug, Clone)]
pub(super) struct DistanceModel {
    /// For each level above the nodes, the outermost first, the group of each node.
    groups: Vec<Vec<u32>>,
    /// The additional cost of an edge that crosses a level: of each level above, the outermost first, and the nodes.
    level_costs: Vec<i64>,
    /// The cost of every edge.
    least: i64,
}

impl DistanceModel {
    /// Of a layout with these distances.
    pub(super) fn new(layout: &Machine, distances: &Distances) -> Self {
        let nodes = layout.node_sizes().len();
        let of_level = |level: &crate::machine::Level| {
            let mut groups = vec![0; nodes];
            let mut first = 0;
            for run in layout.nodes().chunk_by(|a, b| a == b) {
                groups[run[0] as usize] = level.group_of[first];
                first += run.len();
            }
            groups
        };
        let distances = distances.of(layout.above().len());
        let groups: Vec<_> = layout.above().iter().map(of_level).collect();
        let level_costs = match groups.is_empty() {
            // There is nothing to weigh against: two distances that are alike must not hide what crosses nodes.
            true => vec![1],
            false => distances.windows(2).rev().map(|pair| pair[1] - pair[0]).collect(),
        };
        Self { groups, level_costs, least: distances[0] }
    }

    /// Returns whether nothing is above the nodes.
    pub(super) fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// The number of levels above the nodes.
    pub(super) fn depth(&self) -> usize {
        self.groups.len()
    }

    /// The group of a node at a level above, 0 the outermost.
    pub(super) fn group(&self, level: usize, node: u32) -> u32 {
        self.groups[level][node as usize]
    }

    /// The same for some of the nodes: node `i` of it is `nodes[i]` here.
    pub(super) fn select(&self, nodes: &[u32]) -> Self {
        let select = |groups: &Vec<u32>| nodes.iter().map(|node| groups[*node as usize]).collect();
        let groups = self.groups.iter().map(select).collect();
        Self { groups, level_costs: self.level_costs.clone(), least: self.least }
    }

    /// The cost of an edge between two nodes in addition to the cost between any two nodes.
    #[inline]
    pub(super) fn extra_cost(&self, a: u32, b: u32) -> i64 {
        let levels = self.groups.iter().zip(&self.level_costs);
        levels
            .map(|(groups, step)| if groups[a as usize] == groups[b as usize] { 0 } else { *step })
            .sum()
    }

    /// The additional cost of an edge that joins two nodes.
    pub(super) fn node_step(&self) -> i64 {
        self.level_costs[self.groups.len()]
    }

    /// Returns whether two nodes are in one group at every level above.
    pub(super) fn siblings(&self, a: u32, b: u32) -> bool {
        self.groups.last().is_none_or(|groups| groups[a as usize] == groups[b as usize])
    }

    /// The sum over all edges of the distance of their ends, from the weight of all edges and of those that
    /// cross each level, the outermost first and the nodes last.
    pub(super) fn weighted(&self, edges: i128, crossing: impl Iterator<Item = i64>) -> i128 {
        let crossing = crossing
            .zip(&self.level_costs)
            .map(|(edges, step)| i128::from(edges) * i128::from(*step));
        i128::from(self.least) * edges + crossing.sum::<i128>()
    }

    /// By what mappings are compared, smaller is better: the distances of all edges and what crosses nodes.
    /// Without levels above as [`Cost::key`] compares.
    pub(super) fn key(&self, graph: &impl Adjacency, node_of: &[u32], objective: Objective) -> Key {
        self.key_of(&self.costs(graph, node_of), objective)
    }

    /// The same of what a mapping costs at each level, the outermost first and the nodes last.
    pub(super) fn key_of(&self, costs: &[Cost], objective: Objective) -> Key {
        let sum = self.weighted(0, costs.iter().map(|cost| cost.inter_node_edges));
        Key::new(sum, costs[self.depth()], objective)
    }

    /// The costs of a mapping at each level, the outermost first and the nodes last.
    pub(super) fn costs(&self, graph: &impl Adjacency, node_of: &[u32]) -> Vec<Cost> {
        match self.is_trivial() {
            true => vec![graph.cost(node_of)],
            false => graph.costs(node_of, &self.groups),
        }
    }
}

/// The key by which two mappings are compared; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(pub(super) i128, pub(super) i128);

impl Key {
    fn new(sum: i128, nodes: Cost, objective: Objective) -> Self {
        match objective {
            Objective::Sum => Self(sum, nodes.max_node_edges.into()),
            Objective::Max => Self(nodes.max_node_edges.into(), sum),
        }
    }
}
