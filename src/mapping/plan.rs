//! Plans: which process of a communicator takes which vertex, and what that brings.

use super::assumed;
use super::cart;
use super::cost::{Adjacency, Cost, Objective};
use super::csr::Csr;
use super::grid::Grid;
use super::lattice::Lattice;
use super::layout::Layout;
use super::refine::Budget;
use super::scramble::scramble;
use super::seats::seats;

/// What a grid gets to search for a better mapping, in seconds: 200 us a cell up to 150 ms; beyond some
/// thousand cells ever less, since a whole program waits for it, but no less than 0.3 us a cell.
pub(super) fn worth(cells: usize) -> f64 {
    let cells = cells as f64;
    (2e-4 * cells).min(0.15).min(8e2 / cells).max(3e-7 * cells)
}

/// What the levels below the nodes get, where nobody says how long a search may take.
const INSIDE_NODES: f64 = 1.0;

/// What a caller may ask of a mapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Which figure comes first.
    pub objective: Objective,
    /// How many seconds the search may take, on a machine of today. It is counted in steps, not by
    /// a clock, so that the same question always has the same answer. `None`: what is worth it.
    pub seconds: Option<f64>,
    /// A seed, if processes are to be moved at random, to find out whether a program stands it.
    pub scramble: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { objective: Objective::Sum, seconds: None, scramble: None }
    }
}

/// Which process takes which vertex of a grid or graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// `old_rank[v]` is the rank of the old communicator whose process takes vertex `v`, which
    /// becomes rank `v`; `None` where every process keeps its rank, because nothing else is better.
    pub old_rank: Option<Box<[i32]>>,
    /// How many vertices there are; processes of the old communicator may be more.
    pub vertices: i32,
    /// No mapping has fewer edges between nodes.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: Cost,
    /// As planned.
    pub after: Cost,
    /// The same as `before` at each level below the nodes: edges between different groups of that level,
    /// whether or not on one node, and those that leave the worst group.
    pub inner_before: Vec<Cost>,
    /// The same as `after` at each level below the nodes.
    pub inner_after: Vec<Cost>,
    /// What found it, in a word or two.
    pub algorithm: &'static str,
    /// What a mapping costs that gains where all dimensions weigh the same, and was not taken because that is
    /// not known and it could be a loss.
    pub withheld: Option<Cost>,
}

impl Plan {
    /// Every process keeps its rank; those beyond the last vertex are left out.
    pub fn identity(graph: &impl Adjacency, layout: &Layout, lower_bound: i64) -> Self {
        let vertices = graph.vertices();
        let mut costs = layout.levels().iter().map(|level| graph.cost(&level[..vertices]));
        let cost = costs.next().unwrap_or_default();
        let inner: Vec<Cost> = costs.collect();
        Self {
            old_rank: None,
            vertices: vertices as i32,
            lower_bound,
            before: cost,
            after: cost,
            inner_before: inner.clone(),
            inner_after: inner,
            algorithm: "none",
            withheld: None,
        }
    }

    /// This plan, or the mapping that was found where that is better: nodes first, then level by level.
    ///
    /// `node_of` is the node of each vertex, or `None` where none was found that is better than the
    /// nodes they are on. `symmetric` has the edges of `graph` in both directions, each with what the
    /// two weigh together.
    #[must_use]
    pub(super) fn or_better(
        self,
        graph: &impl Adjacency,
        symmetric: &impl Adjacency,
        layout: &Layout,
        options: &Options,
        found: Option<(Vec<u32>, &'static str)>,
    ) -> Self {
        let objective = options.objective;
        let better = |found: &(Vec<u32>, _)| {
            graph.cost(&found.0).key(objective) < self.before.key(objective)
        };
        let (node_of, algorithm) = match found.filter(better) {
            Some(found) => found,
            None if layout.levels().len() == 1 => return self,
            None => (layout.nodes()[..graph.vertices()].to_vec(), "inside nodes"),
        };
        let mut budget = Budget::seconds(options.seconds.unwrap_or(INSIDE_NODES));
        let old_rank = seats(symmetric, &node_of, layout, objective, &mut budget);
        drop(node_of);
        let found = self.clone().with(graph, layout, old_rank, algorithm);
        let keys = |nodes: Cost, inner: &[Cost]| -> Vec<(i64, i64)> {
            std::iter::once(&nodes).chain(inner).map(|cost| cost.key(objective)).collect()
        };
        if keys(found.after, &found.inner_after) >= keys(self.before, &self.inner_before) {
            return self;
        }
        found
    }

    /// The same question, answered with these old ranks.
    pub(super) fn with(
        self,
        graph: &impl Adjacency,
        layout: &Layout,
        old_rank: Box<[i32]>,
        algorithm: &'static str,
    ) -> Self {
        let mut costs = layout.levels().iter().map(|level| {
            let groups: Vec<u32> = old_rank.iter().map(|rank| level[*rank as usize]).collect();
            graph.cost(&groups)
        });
        let after = costs.next().unwrap_or_default();
        let inner_after: Vec<Cost> = costs.collect();
        Self { old_rank: Some(old_rank), after, inner_after, algorithm, ..self }
    }

    /// The rank of the old communicator whose process takes each vertex.
    pub fn old_ranks(&self) -> impl Iterator<Item = i32> + '_ {
        (0..self.vertices).map(|v| self.old_rank.as_ref().map_or(v, |old| old[v as usize]))
    }
}

/// Plans a grid. What `MPI_Cart_map` answers and `MPI_Cart_create` does. Deterministic.
///
/// `layout` has at least as many ranks as the grid has cells. Of more ranks, those take part that need
/// few nodes. Time: under half a second for a million cells, unless [`Options::seconds`] says otherwise,
/// nearly all of it for constructions; grids of some hundred cells are searched for up to 0.15 s. Memory: 17
/// bytes a cell beyond the layout from 100,000 cells on, up to about 120 where smaller grids are annealed
/// (docs/quality.md).
pub fn plan_cart(grid: &Grid, layout: &Layout, options: &Options) -> Plan {
    match options.scramble {
        Some(seed) => scramble(grid, layout, seed),
        None if grid.is_assumed() => assumed::plan(grid, layout, options),
        None => plan_weighed(grid, layout, options),
    }
}

/// The best mapping by the weights that the grid has.
pub(super) fn plan_weighed(grid: &Grid, layout: &Layout, options: &Options) -> Plan {
    let cells = grid.vertices();
    let sizes = layout.node_sizes();
    let bound = cart::lower_bound(&Lattice::directed(grid), &sizes);
    let plan = Plan::identity(grid, layout, bound);
    if cells < 2 || layout.is_flat() {
        return plan;
    }
    let seconds = options.seconds.unwrap_or_else(|| worth(cells));
    let mut budget = Budget::seconds(seconds);
    let lattice = Lattice::symmetric(grid);
    let choices = cart::participants(&sizes, layout.nodes(), cells);
    let mut best: Option<cart::Found> = None;
    for (i, nodes) in choices.iter().enumerate() {
        let mut share = budget.split((choices.len() - i) as i64);
        let sizes: Vec<u32> = nodes.iter().map(|(_, size)| *size).collect();
        if let Some(mut found) =
            cart::map(&lattice, &sizes, options.objective, 2 * bound, &mut share)
            && best.as_ref().is_none_or(|best| found.key < best.key)
        {
            found.node_of.iter_mut().for_each(|node| *node = nodes[*node as usize].0);
            best = Some(found);
        }
        budget.put_back(share);
    }
    let found = best.map(|found| (found.node_of, found.algorithm));
    plan.or_better(grid, &lattice, layout, options, found)
}

/// Plans a graph. What `MPI_Graph_map` answers and the constructors of graphs do. Deterministic.
///
/// `layout` has at least as many ranks as the graph has vertices.
pub fn plan_graph(graph: &Csr, layout: &Layout, options: &Options) -> Plan {
    match options.scramble {
        Some(seed) => scramble(graph, layout, seed),
        None => super::graph::plan(graph, layout, options),
    }
}
