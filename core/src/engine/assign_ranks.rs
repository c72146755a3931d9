//! Assigns new ranks to processes: the reordering of a constructor.
//!
//! Rank 0 knows where all processes run, plans, and tells every process its new rank: 8 bytes a
//! process in one scatter, and nothing at all where no process moves.

use std::sync::Arc;
use std::time::Instant;

use super::Comm;
use super::NodeTraffic;
use super::check::Rule;
use super::decision::{ReorderDecision, ReorderOutcome};
use crate::machine::Machine;
use crate::mapping::{Csr, Options, Plan};
use crate::topology::TopologySummary;

/// The placement of ranks, for the report. Only on rank 0, and only where a report is asked for, where the program is
/// moved though it passed `reorder = 0`, and where a mapping was rejected as risky.
#[derive(Debug, Clone)]
pub struct Placement {
    /// The nodes of the old communicator's ranks, if they are known.
    pub layout: Option<Arc<Machine>>,
    /// The plan, whether it was applied or not.
    pub plan: Option<Plan>,
    /// The outcome: applied, or why not.
    pub outcome: ReorderOutcome,
    /// The weights of the graph's edges from node to node, if there are not too many nodes.
    pub traffic: Option<NodeTraffic>,
    /// A summary of the new topology, also where rank 0 itself is left out.
    pub summary: TopologySummary,
    /// Seconds that planning took.
    pub seconds: f64,
    /// Rules that the arguments broke.
    pub broken: Vec<Rule>,
}

/// The new rank of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Assignment {
    /// Its new rank; `None` if it is left out.
    pub(super) new_rank: Option<i32>,
    /// The new rank of the process whose old rank is this one's new rank. It has this vertex' edges.
    pub(super) edges_from: i32,
    /// True if any process has another rank than before.
    pub(super) moved: bool,
}

/// "No rank", in a scattered pair.
const NO_RANK: i32 = -1;

/// "All ranks stay", in a scattered pair.
const STAY: i32 = -2;

/// The plan of rank 0.
pub(super) struct PlannedMapping {
    pub(super) plan: Plan,
    pub(super) traffic: Option<NodeTraffic>,
}

/// On more nodes than these no picture shows what they send each other.
const MOST_DRAWN_NODES: usize = 256;

impl PlannedMapping {
    /// A plan for a graph.
    pub(super) fn of_graph<C: Comm>(
        comm: &C,
        graph: Csr,
        layout: &Machine,
        decision: ReorderDecision,
        options: &Options,
    ) -> Self {
        let graph = &comm.weighed(graph);
        let plan = comm.plan_graph(graph, layout, options);
        let drawn = decision.reporting && layout.node_sizes().len() <= MOST_DRAWN_NODES;
        let traffic = drawn.then(|| NodeTraffic::new(graph, layout, &plan));
        Self { plan, traffic }
    }
}

/// The facts on which all ranks agree before rank 0 plans.
pub(super) struct PlacementInput {
    pub(super) decision: ReorderDecision,
    /// Rules that the arguments broke.
    pub(super) broken: Vec<Rule>,
    /// Options of the search; those of rank 0 count.
    pub(super) options: Options,
}

/// Finds the new rank of every process. Collective where a plan is made; `plan` is called on rank 0 alone,
/// and gives nothing where the graph is too large.
pub(super) fn assign_ranks<C: Comm>(
    comm: &C,
    PlacementInput { decision, broken, mut options }: PlacementInput,
    (vertices, summary): (i32, TopologySummary),
    plan: impl FnOnce(&Machine, &Options) -> Option<PlannedMapping>,
) -> Result<(Assignment, Option<Placement>), C::Error> {
    let rank = comm.rank()?;
    let stay =
        Assignment { new_rank: (rank < vertices).then_some(rank), edges_from: rank, moved: false };
    if !decision.planning {
        return Ok((stay, None));
    }
    let layout = comm.machine(decision.known)?;
    let size = comm.size()?;
    let placement = (rank == 0).then(|| {
        let started = Instant::now();
        options.scramble = options.scramble.filter(|_| decision.scramble);
        // At random processes are moved wherever they run.
        let anywhere = decision.scramble.then(|| Arc::new(Machine::one_node(size as usize)));
        let planned = layout.as_ref().or(anywhere.as_ref()).and_then(|at| plan(at, &options));
        let seconds = started.elapsed().as_secs_f64();
        let (plan, traffic) = planned.map_or((None, None), |p| (Some(p.plan), p.traffic));
        let outcome = match (decision.outcome, &layout, &plan) {
            (ReorderOutcome::Applied { .. }, None, _) if !decision.scramble => {
                ReorderOutcome::NoLayout
            }
            (ReorderOutcome::Applied { .. }, _, None) => ReorderOutcome::TooLarge,
            (ReorderOutcome::Applied { .. }, at, Some(plan)) if plan.old_rank.is_none() => match at
            {
                Some(layout) if layout.is_flat() => ReorderOutcome::OneNode,
                _ if plan.rejected_as_risky.is_some() => ReorderOutcome::RejectedAsRisky,
                _ => ReorderOutcome::NothingGained,
            },
            (outcome, ..) => outcome,
        };
        Placement { layout, plan, outcome, traffic, summary, seconds, broken }
    });
    let assignment = if decision.moving {
        let pairs = match &placement {
            Some(placement) => pairs(placement.plan.as_ref(), size),
            None => Vec::new(),
        };
        match comm.scatter(&pairs)? {
            [STAY, _] => stay,
            [NO_RANK, edges_from] => Assignment { new_rank: None, edges_from, moved: true },
            [new_rank, edges_from] => {
                Assignment { new_rank: Some(new_rank), edges_from, moved: true }
            }
        }
    } else {
        stay
    };
    let is_told = |placement: &Placement| {
        matches!(
            placement.outcome,
            ReorderOutcome::Applied { forced: true } | ReorderOutcome::RejectedAsRisky
        )
    };
    Ok((assignment, placement.filter(|placement| decision.reporting || is_told(placement))))
}

/// For every old rank its new rank, and the new rank of the process whose old rank that is.
fn pairs(plan: Option<&Plan>, size: i32) -> Vec<[i32; 2]> {
    let size = size as usize;
    let Some(old_rank) = plan.and_then(|plan| plan.old_rank.as_ref()) else {
        return vec![[STAY; 2]; size];
    };
    let mut new_rank = vec![NO_RANK; size];
    for (new, old) in (0..).zip(old_rank) {
        new_rank[*old as usize] = new;
    }
    let from = |new: i32| if new == NO_RANK { NO_RANK } else { new_rank[new as usize] };
    new_rank.iter().map(|new| [*new, from(*new)]).collect()
}
