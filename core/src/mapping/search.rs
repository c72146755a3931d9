//! From a grid or graph and a machine to a plan: what is searched, and how long.

use super::assumed;
use super::cart;
use super::cost::{Adjacency, Goal, Objective};
use super::csr::Csr;
use super::graph;
use super::grid::Grid;
use super::lattice::Lattice;
use super::levels::{Found, Question, Tree, through};
use super::plan::{Options, Plan, Worth};
use super::rank_zero;
use super::refine::Budget;
use super::scramble::scramble;
use crate::machine::Machine;

/// What a grid gets to search for a better mapping, in seconds: 330 us a cell up to 250 ms; beyond some
/// thousand cells ever less, since a whole program waits for it, but no less than 0.3 us a cell.
fn worth(cells: usize) -> f64 {
    let cells = cells as f64;
    (3.3e-4 * cells).min(0.25).min(1.3e3 / cells).max(LEAST_WORTH * cells)
}

/// What a cell of a large grid is worth, in seconds.
const LEAST_WORTH: f64 = 3e-7;

/// The same where levels above the nodes count as well. It is less on all but large grids: what a long search for nodes
/// alone finds is hardly ever what the search through levels ends with, and that one gains next to nothing by more
/// time. Measured in docs/results/quality.md.
fn worth_through(cells: usize) -> f64 {
    (0.11 * worth(cells)).max(1.5 * LEAST_WORTH * cells as f64)
}

/// What of it the search for nodes alone needs at most, from which the one through levels begins.
fn worth_to_begin(cells: usize) -> f64 {
    2.0 * LEAST_WORTH * cells as f64
}

/// Maps a grid, for `MPI_Cart_create` (MPI 4.1, 8.5.1) and `MPI_Cart_map` (8.5.9). Deterministic. The process of rank
/// 0 keeps its rank.
///
/// `layout` must have at least as many ranks as the grid has cells. If it has more, those ranks take part that
/// need few nodes. Time: under half a second for a million cells, unless [`Options::seconds`] says otherwise,
/// nearly all of it for constructions; grids of some hundred cells are searched for up to 0.25 s. Memory: 17
/// bytes a cell beyond the layout from 100,000 cells on, up to about 120 where smaller grids are annealed
/// (docs/results/quality.md).
pub fn plan_cart(grid: &Grid, layout: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(grid, layout, how),
        None if grid.is_assumed() => {
            rank_zero::keep(grid, layout, options, plan_assumed(grid, layout, options))
        }
        None => {
            let plan = rank_zero::keep(grid, layout, options, plan_weighed(grid, layout, options));
            // By weights that are known.
            if plan.gains_little(layout) { plan.undone() } else { plan }
        }
    }
}

/// The best mapping that is no loss where dimensions weigh otherwise than is assumed.
pub(super) fn plan_assumed(grid: &Grid, layout: &Machine, options: &Options) -> Plan {
    let cells = grid.vertices();
    let worth = if layout.above().is_empty() { worth(cells) } else { worth_through(cells) };
    assumed::guard(grid, layout, options, worth, plan_weighed)
}

/// The best mapping by the weights that the grid has.
pub(super) fn plan_weighed(grid: &Grid, layout: &Machine, options: &Options) -> Plan {
    let cells = grid.vertices();
    let directed = Lattice::directed(grid);
    let plan = Plan::identity(grid, layout, &options.distances, |sizes| {
        cart::lower_bound(&directed, sizes)
    });
    if cells < 2 || layout.is_flat() {
        return plan;
    }
    let tree = Tree::new(layout, &options.distances);
    let worth =
        Worth { nodes: worth(cells), all: worth_through(cells), begin: worth_to_begin(cells) };
    let seconds = options.seconds_for(&tree, worth);
    let mut budget = Budget::seconds(seconds.nodes);
    let lattice = Lattice::symmetric(grid);
    let choices = cart::participants(layout, cells);
    let goal = Goal {
        objective: options.objective,
        most: if tree.is_trivial() { 2 * plan.before.max_node_edges } else { i64::MAX },
    };
    let search = cart::Search {
        goal,
        bound: 2 * plan.lower_bound,
        even: true,
        // Weights that the guard tries are no knowledge.
        as_graph: !grid.is_assumed(),
    };
    let mut best: Option<cart::FoundMapping> = None;
    for (i, nodes) in choices.iter().enumerate() {
        let mut share = budget.split((choices.len() - i) as i64);
        let sizes: Vec<u32> = nodes.iter().map(|(_, size)| *size).collect();
        if let Some(mut found) = cart::map(&lattice, &sizes, search, &mut share)
            && best.as_ref().is_none_or(|best| found.key < best.key)
        {
            found.node_of.iter_mut().for_each(|node| *node = nodes[*node as usize].0);
            best = Some(found);
        }
        budget.put_back(share);
    }
    let found = best.map(|found| (found.node_of, found.algorithm));
    let found = if tree.is_trivial() {
        // For the worst node all wait.
        let is_no_worse = |found: &Found| {
            options.objective == Objective::Max
                || found.costs[0].max_node_edges <= plan.before.max_node_edges
        };
        let found = found.map(|(node_of, algorithm)| Found::new(&tree, grid, node_of, algorithm));
        found.filter(is_no_worse)
    } else {
        let taken = Budget::seconds(seconds.nodes).left() - budget.left();
        let mut budget = Budget::seconds(seconds.above);
        if options.seconds.is_none() && cells > cart::LARGE {
            // Half as much as the nodes alone took; but that may have been next to nothing.
            let least = budget.split(2);
            budget = budget.no_more_than(taken / 2 - least.left());
            budget.put_back(least);
        }
        let mut regions = cart::Regions::new(&lattice);
        let question = Question {
            graph: grid,
            symmetric: &lattice,
            tree: &tree,
            choices: &choices,
            bound: plan.beyond_edges(&tree),
        };
        through(&question, layout, found, &mut regions, options.objective, &mut budget)
    };
    plan.or_better(grid, &lattice, layout, (options, &seconds), (&tree, found))
}

/// Maps a graph, for the constructors of graphs (MPI 4.1, 8.5.3 and 8.5.4) and `MPI_Graph_map` (8.5.9).
/// Deterministic. The process of rank 0 keeps its rank.
///
/// `layout` must have at least as many ranks as the graph has vertices.
pub fn plan_graph(graph: &Csr, layout: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(graph, layout, how),
        None => rank_zero::keep(graph, layout, options, graph::plan(graph, layout, options)),
    }
}
