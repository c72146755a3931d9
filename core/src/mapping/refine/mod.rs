//! Making a mapping better by exchanging vertices between nodes, whose sizes stay exact.
//!
//! Everything here takes a symmetric adjacency: if `u` has an edge to `v`, `v` has one to `u` of the
//! same weight. A directed graph is given with the weights of both directions added up; then the
//! sum is exact, and what is compared for the busiest node is what crosses its border either way.
//!
//! Vertex 0 stays where it is: the process of rank 0 keeps its rank.

mod anneal;
mod budget;
mod pairs;
mod partition;
mod settle;

use super::cost::{Adjacency, Goal};

use self::anneal::anneal;
pub(super) use self::budget::Budget;
#[cfg(test)]
pub(super) use self::budget::SPENT;
pub use self::budget::stop_searches;
pub(super) use self::pairs::swap_pairs;
pub(super) use self::partition::Partition;
pub(super) use self::settle::{Gains, first_on_first, settle};

/// From this number of vertices on a sum at the bound is good enough, and constructions take most of the time.
pub(super) const LARGE: usize = 20_000;

/// Annealing pays only with this number of steps for each vertex.
const ANNEALING_STEPS: i64 = 300;

/// Makes a mapping better by exchanges and, if the budget allows it, by annealing.
pub(super) fn improve<A: Adjacency>(
    partition: &mut Partition<'_, A>,
    goal: Goal,
    budget: &mut Budget,
) {
    let mut share = budget.split(2);
    swap_pairs(partition, goal, &mut share);
    budget.put_back(share);
    if budget.left() >= ANNEALING_STEPS * partition.vertices() as i64 {
        anneal(partition, goal, budget);
        // These end by themselves after some sweeps.
        swap_pairs(partition, goal, &mut Budget::seconds(1.0));
    }
}
