//! From a grid or graph and a machine to a plan: what is searched, and how long.

use super::cart;
use super::cost::{Adjacency, Cost, Goal, Objective};
use super::csr::Csr;
use super::distance_model::{DistanceModel, Mapping, TreeCost};
use super::graph;
use super::grid::Grid;
use super::hierarchical::{MappingProblem, map_hierarchical};
use super::lattice::Lattice;
use super::levels::Divide;
use super::participants::participants;
use super::plan::{LevelCost, Options, Plan};
use super::rank_assignment::assign_ranks;
use super::rank_zero;
use super::refine::{Budget, LARGE};
use super::scramble::scramble;
use super::torus_placement::place_on_torus;
use super::unknown_weights;
use crate::machine::Machine;

/// The time to search for a better mapping of a grid, in seconds: 330 us a cell up to 250 ms; beyond some thousand
/// cells ever less, since a whole program waits for it, but no less than 0.3 us a cell.
fn seconds_for(cells: usize) -> f64 {
    let cells = cells as f64;
    (3.3e-4 * cells).min(0.25).min(1.3e3 / cells).max(LEAST_SECONDS * cells)
}

/// The time for a cell of a large grid, in seconds.
const LEAST_SECONDS: f64 = 3e-7;

/// The same where levels above the nodes count as well. It is less on all but large grids: what a long search for nodes
/// alone finds is hardly ever what the search through levels ends with, and that one gains next to nothing by more
/// time. Measured in docs/results/quality.md.
fn seconds_with_levels(cells: usize) -> f64 {
    (0.11 * seconds_for(cells)).max(1.5 * LEAST_SECONDS * cells as f64)
}

/// The time in which parts change their places in a torus, in seconds.
const PLACING: f64 = 0.2;

/// The time for each part of a search, in seconds.
struct SearchBudget {
    /// To find which node each vertex is on, as if all were equally far from each other.
    nodes: f64,
    /// To take the levels above into account.
    above: f64,
    /// For the levels below the nodes.
    below: f64,
}

impl SearchBudget {
    /// As long as is asked; else as long as pays for `nodes` alone, half of which again for the levels below, or for nodes
    /// and levels above `together`, of which nodes alone get two thirds but no more than `at_most`.
    fn new(
        asked: Option<f64>,
        model: &DistanceModel,
        (nodes, together, at_most): (f64, f64, f64),
    ) -> Self {
        let below = asked.unwrap_or(nodes / 2.0);
        if model.is_trivial() {
            return Self { nodes: asked.unwrap_or(nodes), above: 0.0, below };
        }
        let together = asked.unwrap_or(together);
        let nodes = (together / 1.5).min(at_most);
        Self { nodes, above: together - nodes, below }
    }
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
        None if grid.has_unknown_weights() => {
            rank_zero::keep(grid, layout, options, plan_by_unknown_weights(grid, layout, options))
        }
        None => {
            let plan =
                rank_zero::keep(grid, layout, options, plan_by_weights(grid, layout, options));
            // By weights that are known.
            if plan.gains_little(layout) { plan.undone() } else { plan }
        }
    }
}

/// The best mapping that is no loss where dimensions weigh otherwise than is assumed.
pub(super) fn plan_by_unknown_weights(grid: &Grid, layout: &Machine, options: &Options) -> Plan {
    let cells = grid.vertices();
    let seconds =
        if layout.above().is_empty() { seconds_for(cells) } else { seconds_with_levels(cells) };
    unknown_weights::guard(grid, layout, options, seconds, plan_by_weights)
}

/// The best mapping by the weights that the grid has.
pub(super) fn plan_by_weights(grid: &Grid, layout: &Machine, options: &Options) -> Plan {
    let cells = grid.vertices();
    let directed = Lattice::directed(grid);
    let plan = Plan::identity(grid, layout, &options.distances, |sizes| {
        cart::lower_bound(&directed, sizes)
    });
    if cells < 2 || layout.is_flat() {
        return plan;
    }
    let model = DistanceModel::new(layout, &options.distances);
    let most = plan.before.max_node_edges;
    let seconds =
        (seconds_for(cells), seconds_with_levels(cells), 2.0 * LEAST_SECONDS * cells as f64);
    let seconds = SearchBudget::new(options.seconds, &model, seconds);
    let mut budget = Budget::seconds(seconds.nodes);
    let lattice = Lattice::symmetric(grid);
    let choices = participants(layout, cells);
    let goal = Goal {
        objective: options.objective,
        most: if model.is_trivial() { 2 * most } else { i64::MAX },
    };
    let search = cart::Search {
        goal,
        bound: 2 * plan.lower_bound,
        // Weights that the guard tries are no knowledge.
        as_graph: !grid.has_unknown_weights(),
    };
    let mut best: Option<cart::Candidate> = None;
    for (i, nodes) in choices.iter().enumerate() {
        let mut share = budget.split((choices.len() - i) as i64);
        let sizes: Vec<u32> = nodes.iter().map(|(_, size)| *size).collect();
        if let Some(mut found) = cart::map(&lattice, &sizes, search, &mut share) {
            found.node_of.iter_mut().for_each(|node| *node = nodes[*node as usize].0);
            best = Some(match best {
                Some(best) => best.or(found, goal),
                None => found,
            });
        }
        budget.put_back(share);
    }
    let start = best.map(|found| (found.node_of, found.algorithm));
    let taken = Budget::seconds(seconds.nodes).left() - budget.left();
    let mut above = Budget::seconds(seconds.above);
    if options.seconds.is_none() && cells > LARGE {
        // Half as much as the nodes alone took; but that may have been next to nothing.
        let least = above.split(2);
        above = above.no_more_than(taken / 2 - least.left());
        above.put_back(least);
    }
    let problem = MappingProblem {
        graph: grid,
        symmetric: &lattice,
        model: &model,
        choices: &choices,
        bound: plan.beyond_edges(&model),
    };
    let mut divider = cart::GridDivider::new(&lattice);
    let budgets = (above, Budget::seconds(seconds.below));
    // For the busiest node all wait.
    let is_no_worse = |cost: &TreeCost| {
        !model.is_trivial()
            || options.objective == Objective::Max
            || cost.levels[0].max_node_edges <= most
    };
    complete(plan, &problem, (layout, options), start, &mut divider, is_no_worse, budgets)
}

/// The best mapping of a graph.
pub(super) fn plan_by_edges(graph: &Csr, layout: &Machine, options: &Options) -> Plan {
    let plan = Plan::identity(graph, layout, &options.distances, |sizes| {
        graph::lower_bound(graph, sizes.iter().copied().max().unwrap_or(0))
    });
    if graph.vertices() < 2 || layout.is_flat() {
        return plan;
    }
    let model = DistanceModel::new(layout, &options.distances);
    let seconds = graph::seconds_for(graph);
    let seconds = SearchBudget::new(options.seconds, &model, (seconds, 1.5 * seconds, seconds));
    let mut budget = Budget::seconds(seconds.nodes * graph::STEP);
    if budget.left() < graph::Net::steps(graph) as i64 {
        return plan;
    }
    let net = graph::Net::new(graph);
    let mut best = None;
    let choices = participants(layout, graph.vertices());
    if plan.before.inter_node_edges > plan.lower_bound {
        for (i, nodes) in choices.iter().enumerate() {
            let mut share = budget.split((choices.len() - i) as i64);
            let sizes: Vec<usize> = nodes.iter().map(|(_, size)| *size as usize).collect();
            for part in graph::search(&net, &sizes, options.objective, &mut share) {
                let node_of: Vec<u32> = part.iter().map(|part| nodes[*part as usize].0).collect();
                let key = graph.cost(&node_of).key(options.objective);
                if best.as_ref().is_none_or(|(than, _)| key < *than) {
                    best = Some((key, node_of));
                }
            }
            budget.put_back(share);
        }
    }
    let start = best.map(|(_, node_of)| (node_of, "multilevel"));
    let bound = plan.beyond_edges(&model);
    let problem =
        MappingProblem { graph, symmetric: &net, model: &model, choices: &choices, bound };
    let mut divider = graph::GraphDivider::new(&net);
    let budgets = (Budget::seconds(seconds.above * graph::STEP), Budget::seconds(seconds.below));
    complete(plan, &problem, (layout, options), start, &mut divider, |_| true, budgets)
}

/// The plan by a mapping to nodes that was found, made better through the levels above and below the nodes; the plan as it
/// is, by which every process keeps its rank, where the mapping is not better or may not be taken. The levels above and the
/// nodes decide, then those below, one after the other.
fn complete<G: Adjacency, S: Adjacency>(
    plan: Plan,
    problem: &MappingProblem<'_, G, S>,
    (layout, options): (&Machine, &Options),
    start: Option<(Vec<u32>, &'static str)>,
    divider: &mut impl Divide,
    may_be_taken: impl Fn(&TreeCost) -> bool,
    (mut above, mut below): (Budget, Budget),
) -> Plan {
    let MappingProblem { graph, symmetric, model, .. } = *problem;
    let objective = options.objective;
    let found = if model.is_trivial() {
        start.map(|(node_of, algorithm)| Mapping::new(model, graph, node_of, algorithm))
    } else {
        map_hierarchical(problem, layout, start, divider, objective, &mut above)
    };
    // Of the nodes and the levels above, and of those below.
    let with_below = |outer: &TreeCost, below: &[Cost]| {
        let below: Vec<_> = below.iter().map(|cost| cost.key(objective)).collect();
        (model.key_of(outer, objective), below)
    };
    let [before, _] = plan.tree_costs(layout);
    let key = |cost: &TreeCost| model.key_of(cost, objective);
    let is_better = |found: &Mapping| {
        may_be_taken(&found.cost)
            && model.spares(&found.cost, &before, objective)
            && key(&found.cost) < key(&before)
    };
    let mut candidates = Vec::from_iter(found);
    if let Some(coordinates) = model.coordinates() {
        let own = layout.nodes()[..graph.vertices()].to_vec();
        candidates.push(Mapping::new(model, graph, own, "placing"));
        let placed = |found: &Mapping| {
            let node_of = place_on_torus(
                coordinates,
                symmetric,
                &found.node_of,
                &mut Budget::seconds(PLACING),
            );
            Mapping::new(model, graph, node_of, found.algorithm)
        };
        candidates.extend(candidates.iter().map(placed).collect::<Vec<_>>());
    }
    let found = candidates.into_iter().filter(is_better).min_by_key(|found| key(&found.cost));
    let Mapping { node_of, cost, algorithm } = match found {
        Some(found) => found,
        None if layout.below().is_empty() => return plan,
        None => {
            let node_of = layout.nodes()[..graph.vertices()].to_vec();
            Mapping { node_of, cost: before.clone(), algorithm: Plan::INSIDE_NODES }
        }
    };
    let old_rank = assign_ranks(symmetric, &node_of, layout, objective, &mut below);
    drop(node_of);
    let found = plan.clone().with_cost(graph, layout, cost, old_rank, algorithm);
    let below = |of: fn(&LevelCost) -> Cost, plan: &Plan| -> Vec<Cost> {
        plan.levels.iter().skip(model.depth() + 1).map(of).collect()
    };
    let [_, after] = found.tree_costs(layout);
    let after = with_below(&after, &below(|level| level.after, &found));
    let before = with_below(&before, &below(|level| level.before, &plan));
    if after < before { found } else { plan }
}

/// Maps a graph, for the constructors of graphs (MPI 4.1, 8.5.3 and 8.5.4) and `MPI_Graph_map` (8.5.9).
/// Deterministic. The process of rank 0 keeps its rank.
///
/// `layout` must have at least as many ranks as the graph has vertices.
pub fn plan_graph(graph: &Csr, layout: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(graph, layout, how),
        None => rank_zero::keep(graph, layout, options, plan_by_edges(graph, layout, options)),
    }
}
