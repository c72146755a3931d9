//! The traffic between nodes that a plan changes.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::mapping::{Adjacency, Plan};

/// The weights of the edges between each pair of nodes: one row per sending node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTraffic {
    /// With every process keeping its rank.
    pub before: Vec<Vec<i64>>,
    /// As planned.
    pub after: Vec<Vec<i64>>,
}

impl NodeTraffic {
    /// The traffic of a graph on a layout, before and after a plan. O(edges + nodes^2).
    pub fn new(graph: &impl Adjacency, machine: &Machine, plan: &Plan) -> Self {
        let nodes = machine.nodes();
        let after: Vec<u32> = plan.old_ranks().map(|old| nodes[old as usize]).collect();
        let count = machine.node_sizes().len();
        let matrix = |node_of: &[u32]| {
            let mut matrix = vec![vec![0; count]; count];
            for vertex in 0..graph.vertices() {
                let row: &mut Vec<i64> = &mut matrix[node_of[vertex] as usize];
                graph.for_each_edge(vertex, |to, weight| row[node_of[to] as usize] += weight);
            }
            matrix
        };
        Self { before: matrix(nodes), after: matrix(&after) }
    }
}
