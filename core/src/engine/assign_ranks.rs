//! Assigns new ranks to processes: the reordering of a constructor.
//!
//! Rank 0 knows the nodes of all processes, plans, and sends every process its new rank: 28 bytes per process in one
//! scatter, and nothing if all ranks are kept.

use std::sync::Arc;
use std::time::Instant;

use super::advisor::Advisor;
use super::check::Rule;
use super::comm::Comm;
use super::decision::{ReorderDecision, ReorderOutcome};
use super::history::{Decided, Identities, Made, Order};
use super::node_traffic::NodeTraffic;
use super::survey::{Survey, order_of_new_ranks};
use super::watcher::watcher;
use crate::machine::Machine;
use crate::mapping::{Csr, Grid, Options, Plan, follow_cart, last_plan};
use crate::topology::TopologySummary;

/// The placement of ranks, for the report. Only on rank 0, and only if a report was requested, if ranks were reordered
/// despite `reorder = 0`, or if a mapping was rejected as risky.
#[derive(Debug, Clone)]
pub struct Placement {
    /// The nodes of the old communicator's ranks, if they are known.
    pub layout: Option<Arc<Machine>>,
    /// The plan, even if it was not applied.
    pub plan: Option<Plan>,
    /// The outcome: applied, or why it was not.
    pub outcome: ReorderOutcome,
    /// The weights of the graph's edges from node to node, if there are not too many nodes.
    pub traffic: Option<NodeTraffic>,
    /// A summary of the new topology, even if rank 0 itself is left out.
    pub summary: TopologySummary,
    /// The seconds that planning took.
    pub seconds: f64,
    /// The rules that the arguments violated.
    pub broken: Vec<Rule>,
}

/// The new rank of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Assignment {
    /// Its new rank; `None` if it is left out.
    pub(super) new_rank: Option<i32>,
    /// The new rank of the process whose old rank is this one's new rank: it has the edges of this vertex.
    pub(super) edges_from: i32,
    /// True if any process has another rank than before.
    pub(super) moved: bool,
    /// True if this process is the [`watcher`].
    pub(super) watches: bool,
}

/// "No rank", in a row of the scatter.
const NO_RANK: i32 = -1;

/// "All ranks are kept", in a row of the scatter.
const STAY: i32 = -2;

/// The plan of rank 0.
pub(super) struct PlannedMapping {
    pub(super) plan: Plan,
    pub(super) traffic: Option<NodeTraffic>,
    /// The grid of the plan, if it is for one.
    pub(super) grid: Option<Grid>,
    /// True if the plan is that of an earlier grid.
    pub(super) follows: bool,
}

/// With more nodes, no picture shows the traffic between them.
const MOST_DRAWN_NODES: usize = 256;

impl PlannedMapping {
    /// A plan for a graph.
    pub(super) fn of_graph(
        graph: &Csr,
        machine: &Machine,
        decision: ReorderDecision,
        options: &Options,
    ) -> Self {
        let plan = last_plan::plan_graph(graph, machine, options);
        let drawn = decision.reporting && machine.node_sizes().len() <= MOST_DRAWN_NODES;
        let traffic = drawn.then(|| NodeTraffic::new(graph, machine, &plan));
        Self { plan, traffic, grid: None, follows: false }
    }
}

/// The facts on which all ranks agree before rank 0 plans.
pub(super) struct PlacementInput<'a> {
    pub(super) decision: ReorderDecision,
    /// The rules that the arguments violated.
    pub(super) broken: Vec<Rule>,
    /// Options of the search; those of rank 0 count.
    pub(super) options: Options,
    /// The sides, if it is a grid.
    pub(super) dims: Option<&'a [i32]>,
}

impl PlannedMapping {
    /// A plan for a grid: the decision about an earlier grid of these sides on the same processes applies to this one.
    pub(super) fn of_cart(
        grid: Grid,
        earlier: Option<&Decided>,
        machine: &Machine,
        options: &Options,
    ) -> Self {
        let order = earlier.map(|earlier| &earlier.old_rank);
        let is_other = earlier.is_some_and(|earlier| earlier.grid != grid);
        let planned = (!is_other).then(|| last_plan::plan_cart(&grid, machine, options));
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
        Self { plan, traffic: None, grid: Some(grid), follows }
    }
}

/// Finds the new rank of every process. Collective if a plan is made; `plan` is called on rank 0 only, and returns
/// nothing if the graph is too large.
pub(super) fn assign_ranks<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    PlacementInput { decision, broken, mut options, dims }: PlacementInput<'_>,
    (vertices, summary): (i32, impl FnOnce() -> TopologySummary),
    plan: impl FnOnce(&Machine, &Options, Option<&Decided>) -> Option<PlannedMapping>,
) -> Result<(Assignment, Option<Placement>), C::Error> {
    let rank = comm.rank()?;
    let stay = Assignment {
        edges_from: rank,
        moved: false,
        watches: false,
        new_rank: (rank < vertices).then_some(rank),
    };
    if !decision.planning {
        return Ok((stay, None));
    }
    let layout = advisor.machine(decision.known)?;
    let size = comm.size()?;
    let survey = if decision.surveys { Some(Survey::of(comm, advisor)?) } else { None };
    let (history, process) = (advisor.history(), advisor.process());
    let (mut placement, mut decided, mut orders) = (None, None, [None; 2]);
    if rank == 0 {
        let known = if decision.moving { advisor.identities() } else { None };
        let order = survey.map(|found| found.order).or(known.as_ref().map(Identities::order));
        let is_part = survey.is_some_and(|found| found.is_part)
            || known.as_ref().is_some_and(|known| known.are_part(history, process));
        let started = Instant::now();
        options.scramble = options.scramble.filter(|_| decision.scramble);
        // Random reordering ignores the nodes of processes.
        let anywhere = decision.scramble.then(|| Arc::new(Machine::one_node(size as usize)));
        let earlier = order.zip(dims);
        let earlier = earlier.and_then(|(order, dims)| history.decision(order, size, dims));
        let is_in_place = |order| is_part || history.has_made(order);
        let has_moved = earlier.as_ref().is_some_and(|earlier| earlier.old_rank.is_some());
        let in_place = decision.keeps_in_place && !has_moved && order.is_some_and(is_in_place);
        let at = layout.as_ref().or(anywhere.as_ref());
        let planned = at.and_then(|at| plan(at, &options, earlier.as_ref()));
        let seconds = started.elapsed().as_secs_f64();
        let (mut plan, mut traffic, mut grid, mut follows) = (None, None, None, false);
        if let Some(planned) = planned {
            grid = planned.grid;
            follows = planned.follows;
            (plan, traffic) = (Some(planned.plan), planned.traffic);
        }
        let outcome = match (decision.outcome, &layout, &plan) {
            (ReorderOutcome::Applied { .. }, ..) if in_place => ReorderOutcome::InPlace,
            (ReorderOutcome::Applied { .. }, None, _) if !decision.scramble => {
                ReorderOutcome::NoLayout
            }
            (ReorderOutcome::Applied { .. }, _, None) => ReorderOutcome::TooLarge,
            (ReorderOutcome::Applied { .. }, at, Some(plan)) if plan.old_rank.is_none() => match at
            {
                _ if follows => ReorderOutcome::AsBefore,
                Some(layout) if layout.is_flat() => ReorderOutcome::OneNode,
                _ if plan.rejected_as_risky.is_some() => ReorderOutcome::RejectedAsRisky,
                _ => ReorderOutcome::NothingGained,
            },
            (outcome, ..) => outcome,
        };
        if let (Some(grid), Some(plan)) = (grid, &plan) {
            let old_rank = plan.old_rank.as_deref().filter(|_| !in_place).map(Into::into);
            decided = Some(Decided { grid, old_rank });
        }
        let applied = matches!(outcome, ReorderOutcome::Applied { .. });
        let old_rank = plan.as_ref().filter(|_| applied).and_then(|plan| plan.old_rank.as_ref());
        orders = [order, known.zip(old_rank).map(|(known, old_rank)| known.new_order(old_rank))];
        let summary = summary();
        placement = Some(Placement { layout, plan, outcome, traffic, summary, seconds, broken });
    }
    let assignment = if decision.moving {
        let rows = match &placement {
            Some(placement) => {
                let applied = matches!(placement.outcome, ReorderOutcome::Applied { .. });
                rows(placement.plan.as_ref().filter(|_| applied), (size, dims), orders)
            }
            None => Vec::new(),
        };
        let [new_rank, edges_from, watches, words @ ..] = comm.scatter(&rows)?;
        orders = [[words[0], words[1]], [words[2], words[3]]].map(Order::of_words);
        match new_rank {
            STAY => stay,
            new_rank => Assignment {
                new_rank: (new_rank != NO_RANK).then_some(new_rank),
                edges_from,
                moved: true,
                watches: watches != 0,
            },
        }
    } else {
        stay
    };
    if let [Some(order), mut new] = orders {
        let new_rank = assignment.new_rank;
        if assignment.moved && decision.surveys {
            new = Some(order_of_new_ranks(comm, advisor.identity(), new_rank)?);
        }
        let made = Made { dims, vertices, new_rank, new, decision: decided };
        history.add((order, size), process, made);
    }
    let is_told = |placement: &Placement| {
        matches!(
            placement.outcome,
            ReorderOutcome::Applied { forced: true } | ReorderOutcome::RejectedAsRisky
        )
    };
    Ok((assignment, placement.filter(|placement| decision.reporting || is_told(placement))))
}

/// For every old rank, its new rank, the new rank of the process whose old rank that is, whether it is the [`watcher`],
/// and two orders. `dims` are the sides, if it is a grid.
fn rows(
    plan: Option<&Plan>,
    (size, dims): (i32, Option<&[i32]>),
    orders: [Option<Order>; 2],
) -> Vec<[i32; 7]> {
    let [[a, b], [c, d]] = orders.map(Order::words);
    let row = |new_rank, edges_from, watches| [new_rank, edges_from, watches, a, b, c, d];
    let Some(old_rank) = plan.and_then(|plan| plan.old_rank.as_ref()) else {
        return vec![row(STAY, STAY, 0); size as usize];
    };
    let watcher = dims.and_then(|dims| watcher(dims, old_rank, size));
    let mut new_rank = vec![NO_RANK; size as usize];
    for (new, old) in (0..).zip(old_rank) {
        new_rank[*old as usize] = new;
    }
    let from = |new: i32| if new == NO_RANK { NO_RANK } else { new_rank[new as usize] };
    let watches = |new| i32::from(watcher == Some(new));
    new_rank.iter().map(|new| row(*new, from(*new), watches(*new))).collect()
}
