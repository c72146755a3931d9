//! Graphs as subjects of the search.

use super::divider::GraphDivider;
use super::kway;
use super::sweep::STEP;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;
use crate::mapping::search::subject::Subject;

/// The seconds to spend on a graph: one for a mesh of triangles of 100,000 vertices, and for every 200,000 vertices of
/// a large one. With 1,024 parts or more, other graphs get less, so that meshes take less than 1.5 times as long as
/// with METIS; large ones get more, in proportion to the bisections that lead to a part, up to twice as much if
/// bisections cannot begin with a coarser graph.
pub(in crate::mapping::search) fn seconds_for(graph: &Csr, parts: usize) -> f64 {
    let size = (graph.vertices() + graph.len()) as f64 / 7e5;
    let bisections = f64::from(parts.next_power_of_two().ilog2());
    let many = (parts as f64 / 1024.0).max(1.0);
    let twice = (2 * kway::PER_PART * parts) as f64 / graph.vertices() as f64;
    (size / many).sqrt().max(size / 2.0 * (bisections / 10.0).max(1.0) * twice.clamp(1.0, 2.0))
}

/// A lower bound: at most `largest - 1` of the edges that leave a vertex, one per neighbor, lead to its own node, at
/// best the heaviest. Valid for negative weights as well. O(edges log degree).
pub(super) fn lower_bound(graph: &Csr, largest: usize) -> i64 {
    let outside = |vertex| {
        let mut weights: Vec<i64> = graph.edges(vertex).map(|(_, weight)| weight).collect();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let (inside, outside) = weights.split_at(largest.saturating_sub(1).min(weights.len()));
        inside.iter().map(|weight| *weight.min(&0)).chain(outside.iter().copied()).sum::<i64>()
    };
    (0..graph.vertices()).map(outside).sum()
}

/// The fraction of the time for levels that the search for nodes gets. With this and [`TOP_DOWN`](Subject::TOP_DOWN), J
/// over 30 graphs of 6,000 to 100,000 vertices is 0.97 of that of SharedMap's eco; with the values of grids, 1.04.
const NODES: f64 = 0.1;

impl Subject for Csr {
    type Edges = Csr;
    type Divider<'a> = GraphDivider<'a>;
    const STEP: f64 = STEP;
    const TOP_DOWN: usize = 9;

    fn lower_bound(&self, sizes: &[usize]) -> i64 {
        lower_bound(self, sizes.iter().copied().max().unwrap_or(0))
    }

    fn seconds(&self, asked: Option<f64>, nodes: usize, has_levels: bool) -> (f64, f64) {
        let alone = seconds_for(self, nodes);
        if !has_levels {
            return (asked.unwrap_or(alone), 0.0);
        }
        let together = asked.unwrap_or(1.5 * alone);
        (NODES * together, (1.0 - NODES) * together)
    }

    fn edges(&self, budget: Budget) -> Option<Csr> {
        (budget.left() >= 2 * self.sweep() as i64).then(|| self.symmetric())
    }

    fn divider<'a>(&self, edges: &'a Csr) -> GraphDivider<'a> {
        GraphDivider::new(edges)
    }
}
