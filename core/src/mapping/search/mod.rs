//! From a grid or graph and a machine to a plan: the parts of the search, and their times.

mod cart;
mod follow;
mod graph;
mod hierarchical;
mod levels;
mod participants;
mod rank_assignment;
mod refine;
pub(super) mod rng;
mod scramble;
mod subject;
mod torus_placement;
mod unknown_weights;

pub use follow::follow_cart;

use hierarchical::{MappingProblem, map_hierarchical, map_to_nodes};
use participants::participants;
use rank_assignment::assign_ranks;
use scramble::scramble;
use subject::Subject;
use torus_placement::place_on_torus;

use crate::machine::Machine;
use crate::mapping::budget::{Budget, Stop};
use crate::mapping::model::cost::{Cost, Goal};
use crate::mapping::model::csr::Csr;
use crate::mapping::model::grid::Grid;
use crate::mapping::objective::distance_model::{DistanceModel, Mapping, TreeCost};
use crate::mapping::plan::{LevelCost, Options, Plan};

/// The time in which parts swap places in a torus, in seconds.
const PLACING: f64 = 0.2;

/// Maps a grid, for `MPI_Cart_create` (MPI 4.1, 8.5.1) and `MPI_Cart_map` (8.5.9). Deterministic. The process of rank
/// 0 keeps its rank.
///
/// `layout` must have at least as many ranks as the grid has cells. If it has more, a choice of ranks on few nodes
/// takes part. Time: under half a second for a million cells, unless [`Options::seconds`] is set, nearly all of it for
/// constructions; grids of some hundred cells are searched for up to 0.25 s. Memory: 17 bytes per cell beyond the
/// layout from 100,000 cells on (docs/results/quality.md), up to about 300 if smaller grids are improved as graphs.
pub fn plan_cart(grid: &Grid, machine: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(grid, machine, how),
        None if grid.has_unknown_weights() => {
            unknown_weights::guard(grid, machine, options, plan_by)
        }
        None => {
            let plan = plan_by(grid, machine, options);
            // With known weights.
            if plan.gains_little(machine) { plan.undone() } else { plan }
        }
    }
}

/// Maps a graph, for the constructors of graphs (MPI 4.1, 8.5.3 and 8.5.4) and `MPI_Graph_map` (8.5.9).
/// Deterministic. The process of rank 0 keeps its rank.
///
/// `layout` must have at least as many ranks as the graph has vertices.
pub fn plan_graph(graph: &Csr, machine: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(graph, machine, how),
        None => plan_by(graph, machine, options),
    }
}

/// The best mapping for the weights of the edges; every process keeps its rank if none is better or allowed. The nodes
/// and the levels above are decided first, then the levels below, one after the other.
///
/// The process of rank 0 keeps its rank: programs read their input there, since it gets standard input, and some
/// programs end when another process gets rank 0. It is on node 0, and the first of all groups of nodes are those of
/// node 0; so vertex 0 is in the first part of every division, and exchanges leave it there.
pub(super) fn plan_by<S: Subject>(subject: &S, machine: &Machine, options: &Options) -> Plan {
    let plan =
        Plan::identity(subject, machine, &options.distances, |sizes| subject.lower_bound(sizes));
    if subject.vertices() < 2 || machine.is_flat() {
        return plan;
    }
    let model = DistanceModel::new(machine, &options.distances);
    let (nodes, above) = subject.seconds(options.seconds, model.nodes(), !model.is_trivial());
    let [mut nodes, mut above] =
        [nodes, above].map(|time| Budget::seconds(time * S::STEP).until(options.stop));
    // The levels below the nodes get half as much as nodes.
    let below = || subject.seconds(None, model.nodes(), false).0 / 2.0;
    let mut below = Budget::seconds(options.seconds.unwrap_or_else(below)).until(options.stop);
    let Some(edges) = subject.edges(nodes) else { return plan };
    let problem = MappingProblem {
        subject,
        edges: &edges,
        model: &model,
        choices: &participants(machine, subject.vertices()),
        bound: plan.beyond_edges(&model),
        objective: options.objective,
    };
    let mut divider = subject.divider(&edges);
    let [before, _] = plan.tree_costs(machine);
    // No node gets more edges to others than the busiest one had, since all wait for that. With levels, links count
    // instead.
    let most = if model.is_trivial() { plan.before.max_node_edges } else { i64::MAX };
    let goal = Goal { objective: options.objective, most };
    let mut found = None;
    if !problem.is_done(&before) {
        found = map_to_nodes(&problem, &mut divider, (goal, plan.lower_bound), &mut nodes);
    }
    if !model.is_trivial() {
        found = Some(map_hierarchical(&problem, machine, found, &mut divider, &mut above));
    }
    let key = |cost: &TreeCost| model.key_of(cost, options.objective);
    let is_better = |found: &Mapping| {
        found.node_of[0] == 0
            && goal.excess(found.cost.levels[model.depth()].max_node_edges) == 0
            && model.spares(&found.cost, &before, options.objective)
            && key(&found.cost) < key(&before)
    };
    let candidates = candidates(&problem, machine, found, options.stop).into_iter();
    let found = candidates.filter(is_better).min_by_key(|found| key(&found.cost));
    let Mapping { node_of, cost, algorithm } = match found {
        Some(found) => found,
        None if machine.below().is_empty() => return plan,
        None => {
            let node_of = machine.nodes()[..subject.vertices()].to_vec();
            Mapping { node_of, cost: before.clone(), algorithm: Plan::INSIDE_NODES }
        }
    };
    let old_rank = assign_ranks(&edges, &node_of, machine, options.objective, &mut below);
    drop(node_of);
    let found = plan.clone().with_cost(subject, machine, cost, old_rank, algorithm);
    // The budgets of nodes and the levels above, and of the levels below.
    let all = |outer: &TreeCost, of: fn(&LevelCost) -> Cost, plan: &Plan| {
        let below = plan.levels.iter().skip(model.depth() + 1);
        (key(outer), below.map(|level| of(level).key(options.objective)).collect::<Vec<_>>())
    };
    let [_, after] = found.tree_costs(machine);
    let is_better =
        all(&after, |level| level.after, &found) < all(&before, |level| level.before, &plan);
    if is_better { found } else { plan }
}

/// The mapping that was found; if nodes have coordinates, also rank order, and both with parts that have swapped
/// places.
fn candidates<S: Subject>(
    problem: &MappingProblem<'_, S>,
    machine: &Machine,
    found: Option<Mapping>,
    stop: Stop,
) -> Vec<Mapping> {
    let MappingProblem { subject, edges, model, .. } = *problem;
    let mut candidates = Vec::from_iter(found);
    if let Some(coordinates) = model.coordinates() {
        let own = machine.nodes()[..subject.vertices()].to_vec();
        candidates.push(Mapping::new(model, subject, own, "placing"));
        let placed = |found: &Mapping| {
            let mut budget = Budget::seconds(PLACING).until(stop);
            let node_of = place_on_torus(coordinates, edges, &found.node_of, &mut budget);
            Mapping::new(model, subject, node_of, found.algorithm)
        };
        candidates.extend(candidates.iter().map(placed).collect::<Vec<_>>());
    }
    candidates
}
