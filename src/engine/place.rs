//! Who takes which vertex: the reordering of a constructor.
//!
//! Rank 0 knows where all processes run, plans, and tells every process its new rank: 8 bytes a
//! process in one scatter, and nothing at all where nobody moves.

use std::sync::Arc;
use std::time::Instant;

use super::Comm;
use super::check::Rule;
use super::policy::{Course, Verdict};
use crate::mapping::{Csr, Layout, Options, Plan, recall_graph};
use crate::report::{Shape, Traffic};

/// What rank 0 can tell of a placement, where somebody wants to know or it was forced on the program. On
/// other ranks there is none.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Where the processes of the old communicator run, if that is known.
    pub layout: Option<Arc<Layout>>,
    /// What was planned, applied or not.
    pub plan: Option<Plan>,
    /// Whether it was applied.
    pub verdict: Verdict,
    /// What the graph sends from node to node, for graphs on not too many nodes.
    pub traffic: Option<Traffic>,
    /// What was created, also where rank 0 itself is left out.
    pub shape: Shape,
    /// How long the planning took.
    pub seconds: f64,
    /// Rules that the arguments broke.
    pub broken: Vec<Rule>,
}

/// Where a process finds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seat {
    /// Its new rank; `None` if it is left out.
    pub(super) new_rank: Option<i32>,
    /// The new rank of the process whose old rank is this one's new rank. It has this vertex' edges.
    pub(super) edges_from: i32,
    /// Whether anyone at all has another rank than before.
    pub(super) moved: bool,
}

/// "No rank", in a scattered pair.
const NOBODY: i32 = -1;

/// "Everybody stays", in a scattered pair.
const STAY: i32 = -2;

/// What rank 0 comes up with.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) traffic: Option<Traffic>,
}

/// On more nodes than these nobody draws what they send each other.
const MOST_DRAWN_NODES: usize = 256;

impl Planned {
    /// A plan for a graph.
    pub(super) fn of_graph(
        graph: &Csr,
        layout: &Layout,
        course: Course,
        options: &Options,
    ) -> Self {
        let plan = recall_graph(graph, layout, options);
        let drawn = course.reporting && layout.node_sizes().len() <= MOST_DRAWN_NODES;
        let traffic = drawn.then(|| Traffic::new(graph, layout, &plan));
        Self { plan, traffic }
    }
}

/// What is agreed on before anything is planned.
pub(super) struct Outset {
    pub(super) course: Course,
    /// Rules that the arguments broke.
    pub(super) broken: Vec<Rule>,
    /// How to search; rank 0's count.
    pub(super) options: Options,
}

/// Finds every process its seat. Collective where the course plans; `plan` is called on rank 0 alone,
/// and gives nothing where the graph is too large.
pub(super) fn place<C: Comm>(
    comm: &C,
    Outset { course, broken, mut options }: Outset,
    (vertices, shape): (i32, Shape),
    plan: impl FnOnce(&Layout, &Options) -> Option<Planned>,
) -> Result<(Seat, Option<Placed>), C::Error> {
    let rank = comm.rank()?;
    let stay = Seat { new_rank: (rank < vertices).then_some(rank), edges_from: rank, moved: false };
    if !course.planning {
        return Ok((stay, None));
    }
    let layout = comm.layout(course.known)?;
    let size = comm.size()?;
    let placed = (rank == 0).then(|| {
        let started = Instant::now();
        options.scramble = options.scramble.filter(|_| course.scramble);
        // At random processes are moved wherever they run.
        let anywhere = course.scramble.then(|| Arc::new(Layout::one_node(size as usize)));
        let planned = layout.as_ref().or(anywhere.as_ref()).and_then(|at| plan(at, &options));
        let seconds = started.elapsed().as_secs_f64();
        let (plan, traffic) = planned.map_or((None, None), |p| (Some(p.plan), p.traffic));
        let verdict = match (course.verdict, &layout, &plan) {
            (Verdict::Applied { .. }, None, _) if !course.scramble => Verdict::NoLayout,
            (Verdict::Applied { .. }, _, None) => Verdict::TooLarge,
            (Verdict::Applied { .. }, at, Some(plan)) if plan.old_rank.is_none() => match at {
                Some(layout) if layout.is_flat() => Verdict::OneNode,
                _ if plan.withheld.is_some() => Verdict::Withheld,
                _ => Verdict::NothingGained,
            },
            (verdict, ..) => verdict,
        };
        Placed { layout, plan, verdict, traffic, shape, seconds, broken }
    });
    let seat = if course.moving {
        let pairs = match &placed {
            Some(placed) => pairs(placed.plan.as_ref(), size),
            None => Vec::new(),
        };
        match comm.scatter(&pairs)? {
            [STAY, _] => stay,
            [NOBODY, edges_from] => Seat { new_rank: None, edges_from, moved: true },
            [new_rank, edges_from] => Seat { new_rank: Some(new_rank), edges_from, moved: true },
        }
    } else {
        stay
    };
    let forced = |placed: &Placed| placed.verdict == Verdict::Applied { forced: true };
    Ok((seat, placed.filter(|placed| course.reporting || forced(placed))))
}

/// For every old rank its new rank, and the new rank of the process whose old rank that is.
fn pairs(plan: Option<&Plan>, size: i32) -> Vec<[i32; 2]> {
    let size = size as usize;
    let Some(old_rank) = plan.and_then(|plan| plan.old_rank.as_ref()) else {
        return vec![[STAY; 2]; size];
    };
    let mut new_rank = vec![NOBODY; size];
    for (new, old) in (0..).zip(old_rank) {
        new_rank[*old as usize] = new;
    }
    let from = |new: i32| if new == NOBODY { NOBODY } else { new_rank[new as usize] };
    new_rank.iter().map(|new| [*new, from(*new)]).collect()
}
