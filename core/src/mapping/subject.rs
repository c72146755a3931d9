//! The grid or graph that is mapped, as the search sees it; `cart/subject.rs` and `graph/subject.rs` have what differs.

use super::cost::{Adjacency, Goal};
use super::refine::Budget;

/// The seconds that the search for a mapping is worth.
pub(super) struct Seconds {
    /// For nodes alone.
    pub(super) alone: f64,
    /// For nodes and the levels above them.
    pub(super) with_levels: f64,
    /// The most of that for the nodes.
    pub(super) at_most: f64,
}

/// A grid or graph that is mapped.
pub(super) trait Subject: Adjacency {
    /// The edges in both directions, each with what the two weigh together, ready for the search.
    type Edges: Adjacency;

    /// The way in which its vertices are divided.
    type Divider<'a>: Divide;

    /// The seconds that a second's steps of this search take, for its nodes and the levels above.
    const STEP: f64;

    /// The part of the time with levels that the search for nodes alone gets.
    const NODES: f64;

    /// The tenths of the rest that division from the top down gets.
    const TOP_DOWN: usize;

    /// True if no node may get more edges to others than the busiest one had: for it all wait.
    const SPARES_BUSIEST: bool;

    /// The bound that no mapping to groups of these sizes goes below.
    fn lower_bound(&self, sizes: &[usize]) -> i64;

    /// The time that is spent where nothing else is asked.
    fn seconds(&self) -> Seconds;

    /// Its edges, unless the budget does not last for that.
    fn edges(&self, budget: Budget) -> Option<Self::Edges>;

    /// A divider of its vertices.
    fn divider<'a>(&self, edges: &'a Self::Edges) -> Self::Divider<'a>;
}

/// Vertices that are divided among nodes, and among groups of them.
pub(super) trait Divide {
    /// Mappings of all vertices to nodes of these sizes, none of them 0, with the names of what found them; one of them is
    /// the best that was found for the goal. The goal and the bound, at which the search may end, count every edge at
    /// both of its ends.
    fn map(
        &mut self,
        sizes: &[usize],
        goal: Goal,
        bound: i64,
        budget: &mut Budget,
    ) -> Vec<(Vec<u32>, &'static str)>;

    /// The part of each of some vertices, which are given in ascending order; part `i` gets `sizes[i]` of
    /// them, none of the sizes is 0, and there are at least two.
    fn divide(&mut self, vertices: &[u32], sizes: &[usize], budget: &mut Budget) -> Vec<u32>;
}
