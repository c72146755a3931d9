//! The best mapping for the weights of the edges.

use super::hierarchical::{MappingProblem, map_hierarchical};
use super::participants::participants;
use super::rank_assignment::assign_ranks;
use super::subject::{Divide, Subject};
use super::torus_placement::place_on_torus;
use crate::machine::Machine;
use crate::mapping::budget::{Budget, Stop};
use crate::mapping::distance::distance_model::{DistanceModel, Mapping, TreeCost};
use crate::mapping::model::cost::Cost;
use crate::mapping::model::objective::Goal;
use crate::mapping::plan::{LevelCost, Options, Plan};

/// The time in which parts swap places in a torus, in seconds.
const PLACING: f64 = 0.2;

/// The best mapping for the weights of the edges; every process keeps its rank if none is better or allowed. The nodes
/// and the levels above are decided first, then the levels below, one after the other.
///
/// The process of rank 0 keeps its rank: programs read their input there, since it gets standard input, and some
/// programs end when another process gets rank 0. It is on node 0, and the first of all groups of nodes are those of
/// node 0; so vertex 0 is in the first part of every division, and exchanges leave it there.
pub(in crate::mapping) fn plan_by<S: Subject>(
    subject: &S,
    machine: &Machine,
    options: &Options,
) -> Plan {
    let plan =
        Plan::identity(subject, machine, &options.distances, |sizes| subject.lower_bound(sizes));
    if subject.vertices() < 2 || machine.is_flat() {
        return plan;
    }
    let model = DistanceModel::new(machine, &options.distances);
    let mut budgets = Budgets::new(subject, &model, options);
    let Some(edges) = subject.edges(budgets.nodes) else { return plan };
    let problem = MappingProblem {
        subject,
        edges: &edges,
        model: &model,
        choices: &participants(machine, subject.vertices()),
        bound: plan.beyond_edges(&model),
        objective: options.objective,
    };
    let found = map_to_groups(&problem, machine, &plan, options.stop, &mut budgets);
    let Mapping { node_of, cost, algorithm } = match found {
        Some(found) => found,
        None if machine.below().is_empty() => return plan,
        None => {
            let node_of = machine.nodes()[..subject.vertices()].to_vec();
            let [cost, _] = plan.tree_costs(machine);
            Mapping { node_of, cost, algorithm: Plan::INSIDE_NODES }
        }
    };
    let old_rank = assign_ranks(&edges, &node_of, machine, options.objective, &mut budgets.below);
    drop(node_of);
    let found = plan.clone().with_cost(subject, machine, cost, old_rank, algorithm);
    // The costs of nodes and the levels above, and of the levels below.
    let key = |outer: &TreeCost, of: fn(&LevelCost) -> Cost, plan: &Plan| {
        let below = plan.levels.iter().skip(model.depth() + 1);
        let below = below.map(|level| of(level).key(options.objective));
        (model.key_of(outer, options.objective), below.collect::<Vec<_>>())
    };
    let [before, after] = found.tree_costs(machine);
    let is_better =
        key(&after, |level| level.after, &found) < key(&before, |level| level.before, &plan);
    if is_better { found } else { plan }
}

/// The steps for the parts of the search.
struct Budgets {
    nodes: Budget,
    /// For the levels above the nodes.
    above: Budget,
    /// For the levels below: half as much as for nodes.
    below: Budget,
}

impl Budgets {
    fn new<S: Subject>(subject: &S, model: &DistanceModel, options: &Options) -> Self {
        let of = |seconds| Budget::seconds(seconds).until(options.stop);
        let (nodes, above) = subject.seconds(options.seconds, model.nodes(), !model.is_trivial());
        let below = || subject.seconds(None, model.nodes(), false).0 / 2.0;
        Self {
            nodes: of(nodes * S::STEP),
            above: of(above * S::STEP),
            below: of(options.seconds.unwrap_or_else(below)),
        }
    }
}

/// The best mapping to nodes and the groups of nodes above them, if it is better than rank order.
fn map_to_groups<S: Subject>(
    problem: &MappingProblem<'_, S>,
    machine: &Machine,
    plan: &Plan,
    stop: Stop,
    budgets: &mut Budgets,
) -> Option<Mapping> {
    let MappingProblem { subject, edges, model, objective, .. } = *problem;
    let mut divider = subject.divider(edges);
    let [before, _] = plan.tree_costs(machine);
    // No node gets more edges to others than the busiest one had, since all wait for that. With levels, links count
    // instead.
    let most = if model.is_trivial() { plan.before.max_node_edges } else { i64::MAX };
    let goal = Goal { objective, most };
    let mut found = None;
    if !problem.is_done(&before) {
        found = map_to_nodes(problem, &mut divider, goal, plan.lower_bound, &mut budgets.nodes);
    }
    if !model.is_trivial() {
        let above = &mut budgets.above;
        found = Some(map_hierarchical(problem, machine, found, &mut divider, above));
    }
    let key = |cost: &TreeCost| model.key_of(cost, objective);
    let is_better = |found: &Mapping| {
        found.node_of[0] == 0
            && goal.excess(found.cost.levels[model.depth()].max_node_edges) == 0
            && model.spares(&found.cost, &before, objective)
            && key(&found.cost) < key(&before)
    };
    let candidates = candidates(problem, machine, found, stop).into_iter();
    candidates.filter(is_better).min_by_key(|found| key(&found.cost))
}

/// The best mapping for nodes, without levels above them. The bound is one on the edges between nodes.
fn map_to_nodes<S: Subject>(
    problem: &MappingProblem<'_, S>,
    divider: &mut impl Divide,
    goal: Goal,
    bound: i64,
    budget: &mut Budget,
) -> Option<Mapping> {
    let at_both_ends = Goal { most: goal.most.saturating_mul(2), ..goal };
    let key = |found: &Mapping| goal.key(found.cost.levels[problem.model.depth()]);
    let mut best: Option<Mapping> = None;
    for (i, nodes) in problem.choices.iter().enumerate() {
        let mut share = budget.split((problem.choices.len() - i) as i64);
        let sizes: Vec<usize> = nodes.iter().map(|(_, size)| *size as usize).collect();
        for (mut node_of, algorithm) in divider.map(&sizes, at_both_ends, 2 * bound, &mut share) {
            node_of.iter_mut().for_each(|node| *node = nodes[*node as usize].0);
            let found = problem.mapping(node_of, algorithm);
            if best.as_ref().is_none_or(|best| key(&found) < key(best)) {
                best = Some(found);
            }
        }
        budget.put_back(share);
    }
    best
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
