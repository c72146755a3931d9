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

impl Cost {
    /// The cost of these edges that leave each node.
    pub(in crate::mapping) fn of_loads(leaving: &[i64]) -> Self {
        Self {
            inter_node_edges: leaving.iter().sum(),
            max_node_edges: leaving.iter().copied().max().unwrap_or(0),
        }
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
