//! The grid or graph that is mapped, as the search sees it; `cart/subject.rs` and `graph/subject.rs` have what differs.

use crate::mapping::budget::Budget;
use crate::mapping::model::cost::{Adjacency, Goal};

/// A grid or graph that is mapped.
pub(in crate::mapping) trait Subject: Adjacency {
    /// The edges in both directions, each with what the two weigh together, ready for the search.
    type Edges: Adjacency;

    /// How its vertices are divided.
    type Divider<'a>: Divide;

    /// The seconds that a second's steps of this search take, for its nodes and the levels above.
    const STEP: f64;

    /// The tenths of the time for levels that division from the top down gets.
    const TOP_DOWN: usize;

    /// The bound that no mapping to groups of these sizes goes below.
    fn lower_bound(&self, sizes: &[usize]) -> i64;

    /// The seconds for this number of nodes, and for the levels above them if there are some; both together as much as
    /// is asked, else as much as a search is worth.
    fn seconds(&self, asked: Option<f64>, nodes: usize, has_levels: bool) -> (f64, f64);

    /// Its edges, unless the budget does not last for that.
    fn edges(&self, budget: Budget) -> Option<Self::Edges>;

    /// A divider of its vertices.
    fn divider<'a>(&self, edges: &'a Self::Edges) -> Self::Divider<'a>;
}

/// Vertices that are divided among nodes, and among groups of them.
pub(in crate::mapping) trait Divide {
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
