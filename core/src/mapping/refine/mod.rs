//! Making a mapping better by exchanging vertices between nodes, whose sizes stay exact.
//!
//! Everything here takes a symmetric adjacency: if `u` has an edge to `v`, `v` has one to `u` of the
//! same weight. A directed graph is given with the weights of both directions added up; then the
//! sum is exact, and what is compared for the worst node is what crosses its border either way.

mod anneal;
mod budget;
mod pairs;
mod partition;

pub(super) use anneal::{anneal, anneal_through};
pub(super) use budget::Budget;
#[cfg(test)]
pub(super) use budget::SPENT;
pub use budget::stop_searches;
pub(super) use pairs::{swap_pairs, swap_pairs_where};
pub(super) use partition::Partition;
