//! The plan of rank 0 for a new topology.

use super::history::Decided;
use super::reason::Reason;
use crate::machine::Machine;
use crate::mapping::{Csr, Grid, Options, Plan, follow_cart, last_plan};
use crate::topology::{Cart, Graph, TopologySummary};

/// A new topology, as this process knows it.
pub(super) enum Shape<'a> {
    /// A grid and its sides, with the weights of dimensions if this process makes a plan and they are known.
    Cart {
        grid: &'a Cart,
        dims: &'a [i32],
        weights: Option<Vec<i64>>,
    },
    Graph(&'a Graph),
    Edges(AllEdges),
}

/// The edges of a distributed graph, as rank 0 has gathered them.
pub(super) struct AllEdges {
    pub(super) processes: i32,
    pub(super) weighted: bool,
    /// Their number, if they were counted.
    pub(super) total: Option<i64>,
    /// Each edge as (from, to, weight); `None` if there are too many.
    pub(super) gathered: Option<Vec<i32>>,
}

impl Shape<'_> {
    /// The number of its processes.
    pub(super) fn vertices(&self) -> i32 {
        match self {
            Self::Cart { grid, .. } => grid.size(),
            Self::Graph(graph) => graph.nnodes(),
            Self::Edges(edges) => edges.processes,
        }
    }

    /// The sides, if it is a grid.
    pub(super) fn dims(&self) -> Option<&[i32]> {
        match self {
            Self::Cart { dims, .. } => Some(dims),
            _ => None,
        }
    }

    pub(super) fn summary(&self) -> TopologySummary {
        match self {
            Self::Cart { grid, weights, .. } => TopologySummary::of_cart(grid, weights.clone()),
            Self::Graph(graph) => (*graph).into(),
            Self::Edges(AllEdges { total, weighted, .. }) => {
                TopologySummary::DistGraph { edges: *total, weighted: *weighted }
            }
        }
    }

    /// Plans a mapping; `None` if the graph is too large. On rank 0 only.
    pub(super) fn plan(
        &self,
        machine: &Machine,
        options: &Options,
        earlier: Option<&Decided>,
    ) -> Option<PlannedMapping> {
        let graph = match self {
            Self::Cart { grid, weights, .. } => {
                let grid = Grid::of_cart(grid, weights.as_deref());
                return Some(PlannedMapping::of_cart(grid, earlier, machine, options));
            }
            Self::Graph(graph) => Csr::from(*graph),
            Self::Edges(AllEdges { processes, gathered, .. }) => {
                let edge = |words: &[i32]| (words[0] as u32, words[1] as u32, i64::from(words[2]));
                let edges = gathered.as_ref()?.chunks_exact(3).map(edge);
                Csr::from_edges(*processes as usize, edges)
            }
        };
        let plan = last_plan::plan_graph(&graph, machine, options);
        Some(PlannedMapping { plan, grid: None, follows: false })
    }
}

/// The plan of rank 0.
pub(super) struct PlannedMapping {
    pub(super) plan: Plan,
    /// The grid of the plan, if it is for one.
    pub(super) grid: Option<Grid>,
    /// True if the plan is that of an earlier grid.
    pub(super) follows: bool,
}

impl PlannedMapping {
    /// A plan for a grid: the decision about an earlier grid of these sides on the same processes applies to this one.
    fn of_cart(
        grid: Grid,
        earlier: Option<&Decided>,
        machine: &Machine,
        options: &Options,
    ) -> Self {
        let order = earlier.map(|earlier| &earlier.old_rank);
        let is_other = earlier.is_some_and(|earlier| earlier.grid != grid);
        let planned = (!is_other).then(|| last_plan::plan_grid(&grid, machine, options));
        let is_it =
            |plan: &Plan| order.is_none_or(|order| plan.old_rank.as_deref() == order.as_deref());
        let (plan, follows) = match (planned.filter(is_it), order) {
            (None, Some(order)) => {
                let order = order.as_deref().map(Into::into);
                (follow_cart(&grid, machine, options, order), true)
            }
            (Some(plan), _) => (plan, false),
            (None, None) => unreachable!("a plan that follows no other is as it is"),
        };
        Self { plan, grid: Some(grid), follows }
    }

    /// Why it keeps all ranks; `None` if it reorders them. `machine` is known unless ranks are reordered at random.
    pub(super) fn reason_to_keep(&self, machine: Option<&Machine>) -> Option<Reason> {
        self.plan.old_rank.is_none().then(|| match machine {
            _ if self.follows => Reason::AsBefore,
            Some(machine) if machine.is_flat() => Reason::OneNode,
            _ if self.plan.rejected_as_risky.is_some() => Reason::RejectedAsRisky,
            _ => Reason::NothingToGain,
        })
    }
}
