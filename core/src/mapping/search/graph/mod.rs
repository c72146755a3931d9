//! Graphs: parts of exact sizes with few edges between them.
//!
//! Recursive bisection, each by multilevel coarsening and refinement, of the graph or, if that takes too long, of one
//! that is coarser; then small groups of neighboring parts are divided anew as long as the budget lasts.
//!
//! Why not METIS, which does the first half: built as its crate `metis-sys` 0.3.2 builds it, METIS 5.1
//! seeds the process's own `rand()`, replaces the process's handlers of SIGABRT and SIGTERM while it
//! runs, prints to stderr, and its global symbols take the place of, or are replaced by, those of a
//! program's own METIS of another integer width. A preloaded library must do none of this to an
//! application. And its parts are only nearly of the sizes asked. The benchmarks compare with it.

mod bisect;
mod coarsen;
mod fm;
mod kway;
mod partition;
mod queue;
mod repartition;
mod subject;
mod sweep;

#[cfg(test)]
mod tests;

use self::bisect::Bisections;
use self::repartition::Repartition;
pub(super) use self::repartition::improve;
use super::refine::{Partition, first_on_first, swap_pairs};
use super::rng::Rng;
use super::subject::Divide;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::{Adjacency, Goal, Objective};
use crate::mapping::model::csr::Csr;

/// The steps of the budget that a step of this search counts as; its queues take more time than that.
pub(super) const STEP: f64 = 0.3;

/// A graph that is divided again and again.
pub(in crate::mapping) struct GraphDivider<'a> {
    graph: &'a Csr,
    /// Scratch: an entry a vertex, all of them `u32::MAX` between uses.
    local: Vec<u32>,
}

impl<'a> GraphDivider<'a> {
    pub(super) fn new(graph: &'a Csr) -> Self {
        Self { graph, local: vec![u32::MAX; graph.vertices()] }
    }
}

impl Divide for GraphDivider<'_> {
    fn map(
        &mut self,
        sizes: &[usize],
        goal: Goal,
        _: i64,
        budget: &mut Budget,
    ) -> Vec<(Vec<u32>, &'static str)> {
        let found = search(self.graph, sizes, goal, budget);
        found.into_iter().map(|part| (part, "multilevel")).collect()
    }

    fn divide(&mut self, vertices: &[u32], sizes: &[usize], budget: &mut Budget) -> Vec<u32> {
        let induced;
        let graph = if vertices.len() == self.graph.vertices() {
            self.graph
        } else {
            induced = Csr::induced(self.graph, vertices, &mut self.local);
            budget.spend(induced.sweep());
            &induced
        };
        search(graph, sizes, Objective::Sum.into(), budget).swap_remove(0)
    }
}

/// Seconds that a graph is worth: one for a mesh of triangles of 100,000 vertices, and for each 200,000 of large ones.
/// From 1,024 parts on others get less, so that meshes take less than 1.5 times as long as by METIS, and large ones more,
/// by the bisections that lead to a part, up to twice as much if bisections cannot begin with a coarser graph.
pub(super) fn seconds_for(graph: &Csr, parts: usize) -> f64 {
    let size = (graph.vertices() + graph.len()) as f64 / 7e5;
    let bisections = f64::from(parts.next_power_of_two().ilog2());
    let many = (parts as f64 / 1024.0).max(1.0);
    let twice = (2 * kway::PER_PART * parts) as f64 / graph.vertices() as f64;
    (size / many).sqrt().max(size / 2.0 * (bisections / 10.0).max(1.0) * twice.clamp(1.0, 2.0))
}

/// A lower bound: of the edges that leave a vertex, at most `largest - 1`, one a neighbor, lead to its own node, at
/// best the heaviest. Valid for negative weights as well. O(edges log degree).
fn lower_bound(graph: &Csr, largest: usize) -> i64 {
    let outside = |vertex| {
        let mut weights: Vec<i64> = graph.edges(vertex).map(|(_, weight)| weight).collect();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let (inside, outside) = weights.split_at(largest.saturating_sub(1).min(weights.len()));
        inside.iter().map(|weight| *weight.min(&0)).chain(outside.iter().copied()).sum::<i64>()
    };
    (0..graph.vertices()).map(outside).sum()
}

/// The part of each vertex, all parts of the given sizes. If the busiest node counts most, two results:
/// the one for the sum, and what a tenth more time makes of it for the busiest node; so the better of them
/// is never worse for it than the result for the sum, even if edges have only one direction.
fn search(graph: &Csr, sizes: &[usize], goal: Goal, budget: &mut Budget) -> Vec<Vec<u32>> {
    let mut more = { *budget }.split(10);
    let mut rest = budget.split(50);
    let mut rng = Rng::new(1);
    let how = Bisections::new(8, sizes.len());
    let mut parts =
        Repartition::new(graph, kway::divide(graph, sizes, how, &mut rng, budget), sizes.len());
    if graph.cut(&parts.part) > 0 {
        parts.improve_groups(usize::MAX, &mut rng, budget);
    }
    let part = first_on_first(graph, parts.part, sizes.len(), budget);
    let mut partition = Partition::new(graph, part, sizes.len());
    swap_pairs(&mut partition, Goal { objective: Objective::Sum, ..goal }, &mut rest);
    budget.put_back(rest);
    let mut answers = vec![partition.node_of().to_vec()];
    if goal.objective == Objective::Max {
        swap_pairs(&mut partition, goal, &mut more);
        answers.push(partition.into_node_of());
    }
    answers
}
