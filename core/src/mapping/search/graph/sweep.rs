//! The steps that a search takes, and a look at all of a graph.

use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;

/// The steps of the budget that one step of this search counts as, since its queues take more time.
pub(in crate::mapping::search) const STEP: f64 = 0.3;

/// The factor by which reading an edge takes longer in a graph that exceeds the cache, since vertices come in random
/// order.
fn misses(vertices: usize) -> usize {
    1 + (vertices >> 19).min(6)
}

impl Csr {
    /// The steps of one sweep over the graph: ends of edges and vertices.
    pub(super) fn sweep(&self) -> usize {
        self.extent() * misses(self.vertices())
    }

    /// The number of vertices and ends of edges.
    pub(super) fn extent(&self) -> usize {
        self.len() + self.vertices()
    }
}
