//! A graph that is divided, and its parts divided on.

use super::bisect::Bisections;
use super::kway;
use super::repartition::Repartition;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;
use crate::mapping::model::objective::{Goal, Objective};
use crate::mapping::search::refine::{Partition, first_on_first, swap_pairs};
use crate::mapping::search::rng::Rng;
use crate::mapping::search::subject::Divide;

/// A graph that is divided repeatedly.
pub(in crate::mapping) struct GraphDivider<'a> {
    graph: &'a Csr,
    /// Scratch space: an entry per vertex, all `u32::MAX` between uses.
    local: Vec<u32>,
}

impl<'a> GraphDivider<'a> {
    pub(in crate::mapping::search) fn new(graph: &'a Csr) -> Self {
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

/// The part of each vertex, all parts of the given sizes. If the busiest node counts most, there are two results: the
/// one for the sum, and the same one improved for the busiest node in a tenth more time; so the better of them is never
/// worse for the busiest node than the result for the sum, even if edges have only one direction.
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
    if goal.objective.rules().busiest_first {
        swap_pairs(&mut partition, goal, &mut more);
        answers.push(partition.into_node_of());
    }
    answers
}
