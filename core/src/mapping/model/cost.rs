//! The cost of a mapping: edges between nodes.

use serde::{Deserialize, Serialize};

/// The cost of a mapping: the weights of the edges between different nodes. Both directions count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cost {
    /// The sum over all nodes, J_sum in the literature.
    pub inter_node_edges: i64,
    /// The largest sum of edges that leave one node, J_max.
    pub max_node_edges: i64,
}

/// The figure that comes first; the others break ties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Objective {
    /// The time of an exchange, by the load of the busiest link, if levels above the nodes or coordinates describe
    /// links. Otherwise the sum; a grid may have 1 % more than the best sum if the busiest node then has fewer edges.
    #[default]
    Time,
    /// The sum: the load of the network as a whole.
    Sum,
    /// The maximum: the load of the busiest node, which bounds an exchange if links are saturated.
    Max,
}

impl Cost {
    /// The cost of these edges that leave each node.
    pub(in crate::mapping) fn of_loads(leaving: &[i64]) -> Self {
        Self {
            inter_node_edges: leaving.iter().sum(),
            max_node_edges: leaving.iter().copied().max().unwrap_or(0),
        }
    }

    /// The figures in the order in which they are compared; smaller is better.
    pub fn key(self, objective: Objective) -> (i64, i64) {
        match objective {
            Objective::Time | Objective::Sum => (self.inter_node_edges, self.max_node_edges),
            Objective::Max => (self.max_node_edges, self.inter_node_edges),
        }
    }
}

/// The quantity that a search minimizes: the sum before the maximum or the other way round, after the excess of nodes
/// over their limit.
#[derive(Debug, Clone, Copy)]
pub(in crate::mapping) struct Goal {
    pub(in crate::mapping) objective: Objective,
    /// The limit of a node, unless the objective is the maximum: a mapping in which no node exceeds it is better than
    /// any in which one does.
    pub(in crate::mapping) most: i64,
}

impl Goal {
    /// The key by which mappings are compared; smaller is better: the excess of nodes over their limit, then the
    /// [`Cost::key`].
    pub(in crate::mapping) fn key(self, cost: Cost) -> (i64, (i64, i64)) {
        (self.excess(cost.max_node_edges), cost.key(self.objective))
    }

    /// The excess of the edges that leave a node over their limit.
    #[inline]
    pub(in crate::mapping) fn excess(self, leaving: i64) -> i64 {
        match self.objective {
            Objective::Max => 0,
            _ => leaving.saturating_sub(self.most).max(0),
        }
    }
}

impl From<Objective> for Goal {
    /// Nodes may have any number of edges.
    fn from(objective: Objective) -> Self {
        Self { objective, most: i64::MAX }
    }
}

/// The weighted edges that leave each vertex, however a topology stores them.
pub trait Adjacency {
    /// The number of vertices, which are `0..vertices()`.
    fn vertices(&self) -> usize;

    /// The number of original vertices that a vertex represents: several if a graph was coarsened.
    fn size(&self, _vertex: usize) -> i64 {
        1
    }

    /// Calls `visit(to, weight)` for every edge that leaves `vertex`. Loops may occur and never count.
    fn for_each_edge(&self, vertex: usize, visit: impl FnMut(usize, i64));

    /// Calls `visit(from, to, weight)` for every edge between two nodes, with these nodes. O(vertices + edges).
    fn for_each_cut_edge(&self, node_of: &[u32], mut visit: impl FnMut(u32, u32, i64)) {
        for vertex in 0..self.vertices() {
            let from = node_of[vertex];
            self.for_each_edge(vertex, |to, weight| {
                if node_of[to] != from {
                    visit(from, node_of[to], weight);
                }
            });
        }
    }

    /// The cost of having each vertex on the node `node_of[vertex]`. O(vertices + edges).
    fn cost(&self, node_of: &[u32]) -> Cost {
        let nodes = node_of.iter().max().map_or(0, |most| *most as usize + 1);
        let mut leaving = vec![0i64; nodes];
        self.for_each_cut_edge(node_of, |from, _, weight| leaving[from as usize] += weight);
        Cost::of_loads(&leaving)
    }

    /// The edges that leave each group at several levels at once: the groups of each node in `groups`, level by level,
    /// and finally the nodes. This costs hardly more than for the nodes only, since most edges cross no level.
    fn loads(&self, node_of: &[u32], groups: &[Vec<u32>]) -> Vec<Vec<i64>> {
        let nodes = node_of.iter().max().map_or(0, |most| *most as usize + 1);
        let levels = groups.len() + 1;
        // For each node, level by level.
        let mut leaving = vec![0i64; nodes * levels];
        self.for_each_cut_edge(node_of, |from, to, weight| {
            let (from, to) = (from as usize, to as usize);
            let sums = &mut leaving[from * levels..(from + 1) * levels];
            sums[levels - 1] += weight;
            for (sum, groups) in sums.iter_mut().zip(groups) {
                *sum += if groups[to] == groups[from] { 0 } else { weight };
            }
        });
        let of_level = |level: usize| {
            let mut of_group: Vec<i64> = Vec::new();
            for node in 0..nodes {
                let group = groups.get(level).map_or(node, |groups| groups[node] as usize);
                of_group.resize(of_group.len().max(group + 1), 0);
                of_group[group] += leaving[node * levels + level];
            }
            of_group
        };
        (0..levels).map(of_level).collect()
    }

    /// The weight of all edges between two vertices. O(vertices + edges).
    fn total(&self) -> i128 {
        let mut sum = 0;
        for vertex in 0..self.vertices() {
            self.for_each_edge(vertex, |to, weight| {
                sum += if to == vertex { 0 } else { i128::from(weight) };
            });
        }
        sum
    }
}
