//! The grid or graph to map, as the search sees it; `cart/subject.rs` and `graph/subject.rs` have the differences.

use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::objective::Goal;

/// A grid or graph to map.
pub(in crate::mapping) trait Subject: Adjacency {
    /// The edges in both directions, each with the sum of both weights, ready for the search.
    type Edges: Adjacency;

    /// The way its vertices are divided.
    type Divider<'a>: Divide;

    /// The seconds that a second's steps of this search take, for the nodes and the levels above.
    const STEP: f64;

    /// The tenths of the time for levels that division from the top down gets.
    const TOP_DOWN: usize;

    /// A bound below which no mapping to groups of these sizes can go.
    fn lower_bound(&self, sizes: &[usize]) -> i64;

    /// The seconds for this number of nodes, and for the levels above them if there are some; their sum is the
    /// requested time or, by default, a suitable one.
    fn seconds(&self, asked: Option<f64>, nodes: usize, has_levels: bool) -> (f64, f64);

    /// Its edges, unless the budget is too small for them.
    fn edges(&self, budget: Budget) -> Option<Self::Edges>;

    /// A divider of its vertices.
    fn divider<'a>(&self, edges: &'a Self::Edges) -> Self::Divider<'a>;
}

/// Vertices that are divided among nodes, and among groups of them.
pub(in crate::mapping) trait Divide {
    /// Mappings of all vertices to nodes of these sizes, none of which is 0, with the names of their algorithms; one of
    /// them is the best that was found for the goal. The goal and the bound, at which the search may end, count every
    /// edge at both of its ends.
    fn map(
        &mut self,
        sizes: &[usize],
        goal: Goal,
        bound: i64,
        budget: &mut Budget,
    ) -> Vec<(Vec<u32>, &'static str)>;

    /// The part of each of some vertices, which are given in ascending order. Part `i` gets `sizes[i]` of them; no size
    /// is 0, and there are at least two.
    fn divide(&mut self, vertices: &[u32], sizes: &[usize], budget: &mut Budget) -> Vec<u32>;
}
