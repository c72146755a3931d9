//! What a mapping costs: edges between nodes.

use serde::{Deserialize, Serialize};

/// Edges that lead from one node to another. An edge counts as often as its weight says; both
/// directions count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cost {
    /// All of them: J_sum.
    pub inter_node_edges: i64,
    /// Those that leave the worst node: J_max.
    pub max_node_edges: i64,
}

/// Which of the two figures comes first; the other decides between equals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Objective {
    /// The sum: what the network as a whole must carry.
    #[default]
    Sum,
    /// The maximum: what the busiest node must send, which bounds an exchange where links are full.
    Max,
}

impl Cost {
    /// Smaller is better.
    pub fn key(self, objective: Objective) -> (i64, i64) {
        match objective {
            Objective::Sum => (self.inter_node_edges, self.max_node_edges),
            Objective::Max => (self.max_node_edges, self.inter_node_edges),
        }
    }
}

/// The edges that leave each vertex, however a topology keeps them.
pub trait Adjacency {
    /// How many vertices there are: `0..vertices()`.
    fn vertices(&self) -> usize;

    /// Calls `visit(to, weight)` for every edge that leaves `vertex`. Loops may occur and never count.
    fn for_each_edge(&self, vertex: usize, visit: impl FnMut(usize, i64));

    /// The cost of having each vertex on the node `node_of[vertex]`. O(vertices + edges).
    fn cost(&self, node_of: &[u32]) -> Cost {
        let nodes = node_of.iter().max().map_or(0, |most| *most as usize + 1);
        let mut leaving = vec![0i64; nodes];
        for vertex in 0..self.vertices() {
            let node = node_of[vertex];
            let mut sum = 0;
            self.for_each_edge(vertex, |to, weight| {
                sum += if node_of[to] == node { 0 } else { weight };
            });
            leaving[node as usize] += sum;
        }
        Cost {
            inter_node_edges: leaving.iter().sum(),
            max_node_edges: leaving.iter().copied().max().unwrap_or(0),
        }
    }
}
