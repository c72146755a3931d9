//! Improves a mapping by exchanging vertices between nodes, whose sizes stay exact.
//!
//! Everything here takes a symmetric adjacency: if `u` has an edge to `v`, `v` has one to `u` of the same weight. For a
//! directed graph, the weights of both directions are added; then the sum is exact, and the busiest node is compared by
//! the edges across its border in both directions.
//!
//! Vertex 0 stays in place: the process of rank 0 keeps its rank.

mod anneal;
mod pairs;
mod partition;
mod settle;

pub(super) use self::anneal::anneal;
pub(super) use self::pairs::swap_pairs;
pub(super) use self::partition::Partition;
pub(super) use self::settle::{Gains, first_on_first, settle};

/// From this number of vertices on, a sum at the bound suffices, and constructions take most of the time.
pub(super) const LARGE: usize = 20_000;
