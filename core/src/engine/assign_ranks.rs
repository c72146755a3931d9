//! Assigns new ranks to processes: the reordering of a constructor.
//!
//! Rank 0 knows the nodes of all processes, plans, and sends every process its new rank: 28 bytes per process in one
//! scatter, and nothing if all ranks are kept.

use std::sync::Arc;
use std::time::Instant;

use super::advisor::Advisor;
use super::check::Rule;
use super::comm::Comm;
use super::decision::ReorderDecision;
use super::history::{Decided, Identities, Made, Order};
use super::planned::Shape;
use super::reason::Reason;
use super::survey::{Survey, order_of_new_ranks};
use super::watcher::watcher;
use crate::machine::Machine;
use crate::mapping::{Options, Plan};
use crate::topology::TopologySummary;

/// The placement of ranks, for the report. Only on rank 0, and only if a report was requested or ranks were reordered
/// despite `reorder = 0`.
#[derive(Debug, Clone)]
pub struct Placement {
    /// The nodes of the old communicator's ranks, if they are known.
    pub machine: Option<Arc<Machine>>,
    /// The plan, even if it was not applied.
    pub plan: Option<Plan>,
    /// Why all ranks were kept; `None` if the plan was applied.
    pub kept: Option<Reason>,
    /// True if the plan was applied although the program passed `reorder = 0`.
    pub forced: bool,
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

impl Assignment {
    /// The assignment of a process that keeps its rank.
    fn unchanged(rank: i32, vertices: i32) -> Self {
        let new_rank = (rank < vertices).then_some(rank);
        Self { new_rank, edges_from: rank, moved: false, watches: false }
    }
}

/// The facts on which all ranks agree before rank 0 plans.
pub(super) struct PlacementInput<'a> {
    pub(super) decision: ReorderDecision,
    /// The rules that the arguments violated.
    pub(super) broken: Vec<Rule>,
    /// Options of the search; those of rank 0 count.
    pub(super) options: Options,
    pub(super) shape: Shape<'a>,
}

/// Finds the new rank of every process. Collective if a plan is made.
pub(super) fn assign_ranks<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    input: PlacementInput<'_>,
) -> Result<(Assignment, Option<Placement>), C::Error> {
    let (rank, size) = (comm.rank()?, comm.size()?);
    let PlacementInput { decision, ref shape, .. } = input;
    let (vertices, dims) = (shape.vertices(), shape.dims());
    let unchanged = Assignment::unchanged(rank, vertices);
    if !decision.planning {
        return Ok((unchanged, None));
    }
    let machine = advisor.machine(decision.known)?;
    let survey = if decision.surveys { Some(Survey::of(comm, advisor)?) } else { None };
    let root = (rank == 0).then(|| RootPlan::new(advisor, size, &input, machine, survey));
    let mut assignment = unchanged;
    if decision.moving {
        let rows = root.as_ref().map_or(Vec::new(), |root| root.rows(size, dims));
        let row = Row::of_words(comm.scatter(&rows)?);
        assignment = row.assignment().unwrap_or(unchanged);
        if let Some(old) = Order::of_words(row.old_order) {
            let new_rank = assignment.new_rank;
            let new = match assignment.moved && decision.surveys {
                true => Some(order_of_new_ranks(comm, advisor.identity(), new_rank)?),
                false => Order::of_words(row.new_order),
            };
            let decision = root.as_ref().and_then(|root| root.decided.clone());
            let made = Made { dims, vertices, new_rank, new, decision };
            advisor.history().add((old, size), advisor.process(), made);
        }
    }
    let is_reported = |placement: &Placement| decision.reporting || placement.forced;
    Ok((assignment, root.map(|root| root.placement).filter(is_reported)))
}

/// The decision of rank 0.
struct RootPlan {
    placement: Placement,
    /// The decision about a grid, for later grids.
    decided: Option<Decided>,
    /// The order of the processes, if it is known.
    old_order: Option<Order>,
    /// The order of the new communicator, if ranks are reordered and all processes are known.
    new_order: Option<Order>,
}

impl RootPlan {
    fn new<C: Comm>(
        advisor: &impl Advisor<C>,
        size: i32,
        input: &PlacementInput<'_>,
        machine: Option<Arc<Machine>>,
        survey: Option<Survey>,
    ) -> Self {
        let PlacementInput { decision, broken, shape, .. } = input;
        let mut options = input.options;
        let started = Instant::now();
        let (history, process) = (advisor.history(), advisor.process());
        let known = if decision.moving { advisor.identities() } else { None };
        let old_order = survey.map(|found| found.order).or(known.as_ref().map(Identities::order));
        let is_part = survey.is_some_and(|found| found.is_part)
            || known.as_ref().is_some_and(|known| known.are_part(history, process));
        let is_in_place = is_part || old_order.is_some_and(|order| history.has_made(order));
        let earlier = old_order
            .zip(shape.dims())
            .and_then(|(order, dims)| history.decision(order, size, dims));
        let has_moved = earlier.as_ref().is_some_and(|earlier| earlier.old_rank.is_some());
        let stays_in_place = decision.keeps_in_place && !has_moved && is_in_place;

        options.scramble = options.scramble.filter(|_| decision.scramble);
        // Random reordering ignores the nodes of processes.
        let anywhere = decision.scramble.then(|| Machine::one_node(size as usize));
        let used = machine.as_deref().or(anywhere.as_ref());
        let planned = used.and_then(|machine| shape.plan(machine, &options, earlier.as_ref()));
        let why = || match (stays_in_place, &planned) {
            (true, _) => Some(Reason::InPlace),
            (false, Some(planned)) => planned.reason_to_keep(machine.as_deref()),
            (false, None) if used.is_some() => Some(Reason::TooLarge),
            (false, None) => Some(Reason::NoLayout),
        };
        let kept = decision.kept.or_else(why);
        let (mut decided, mut plan) = (None, None);
        if let Some(planned) = planned {
            let old_rank = planned.plan.old_rank.as_deref().filter(|_| !stays_in_place);
            decided = planned.grid.map(|grid| Decided { grid, old_rank: old_rank.map(Into::into) });
            plan = Some(planned.plan);
        }
        let forced = decision.forced && kept.is_none();
        let seconds = started.elapsed().as_secs_f64();
        let (summary, broken) = (shape.summary(), broken.clone());
        let placement = Placement { machine, plan, kept, forced, summary, seconds, broken };
        let old_rank = placement.applied();
        let new_order = known.zip(old_rank).map(|(known, old_rank)| known.new_order(old_rank));
        Self { placement, decided, old_order, new_order }
    }

    /// The row of every old rank. `dims` are the sides, if it is a grid.
    fn rows(&self, size: i32, dims: Option<&[i32]>) -> Vec<[i32; 7]> {
        let stay = Row {
            new_rank: STAY,
            edges_from: STAY,
            watches: 0,
            old_order: Order::words(self.old_order),
            new_order: Order::words(self.new_order),
        };
        let Some(old_rank) = self.placement.applied() else {
            return vec![stay.words(); size as usize];
        };
        let watcher = dims.and_then(|dims| watcher(dims, old_rank, size));
        let mut new_rank = vec![NO_RANK; size as usize];
        for (new, old) in (0..).zip(old_rank) {
            new_rank[*old as usize] = new;
        }
        let row = |new: &i32| Row {
            new_rank: *new,
            edges_from: if *new == NO_RANK { NO_RANK } else { new_rank[*new as usize] },
            watches: i32::from(watcher == Some(*new)),
            ..stay
        };
        new_rank.iter().map(|new| row(new).words()).collect()
    }
}

impl Placement {
    /// The old rank of each new one, if ranks were reordered.
    fn applied(&self) -> Option<&[i32]> {
        self.plan.as_ref().filter(|_| self.kept.is_none())?.old_rank.as_deref()
    }
}

/// A process's part of the scatter.
#[derive(Clone, Copy)]
struct Row {
    /// Its new rank, [`NO_RANK`], or [`STAY`].
    new_rank: i32,
    /// The new rank of the process whose old rank is that.
    edges_from: i32,
    /// 1 if it is the [`watcher`].
    watches: i32,
    /// The order of the processes of the old communicator, and of the new one.
    old_order: [i32; 2],
    new_order: [i32; 2],
}

impl Row {
    fn words(self) -> [i32; 7] {
        let Self { new_rank, edges_from, watches, old_order: [a, b], new_order: [c, d] } = self;
        [new_rank, edges_from, watches, a, b, c, d]
    }

    fn of_words([new_rank, edges_from, watches, a, b, c, d]: [i32; 7]) -> Self {
        Self { new_rank, edges_from, watches, old_order: [a, b], new_order: [c, d] }
    }

    /// The assignment; `None` if all ranks are kept.
    fn assignment(self) -> Option<Assignment> {
        let new_rank = (self.new_rank != NO_RANK).then_some(self.new_rank);
        (self.new_rank != STAY).then_some(Assignment {
            new_rank,
            edges_from: self.edges_from,
            moved: true,
            watches: self.watches != 0,
        })
    }
}
