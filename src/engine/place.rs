//! Who takes which vertex: the reordering of a constructor.
//!
//! Rank 0 knows where all processes run, plans, and tells every process its new rank: 8 bytes a
//! process in one scatter, and nothing at all where nobody moves.

use std::sync::Arc;
use std::time::Instant;

use super::check::{Check, Rule};
use super::{Comm, Knowledge};
use crate::mapping::{Csr, Layout, Options, Plan, recall_graph};
use crate::report::{Shape, Traffic};

/// Whether processes may be moved at all: `CARTOGRAPH_REORDER`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reorder {
    /// Never.
    Off,
    /// Where the program passes `reorder = 1`.
    #[default]
    On,
    /// Also where it passes 0.
    Always,
}

/// What a process brings along to every constructor. Of those that differ from rank to rank the most
/// cautious [`Reorder`] counts, and rank 0's other wishes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Terms {
    /// Whether processes may be moved.
    pub reorder: Reorder,
    /// Whether somebody wants to know how ranks are placed, also where nobody is moved.
    pub reporting: bool,
    /// Rules whose breach is an error.
    pub check: Check,
    /// How to search.
    pub options: Options,
}

/// What a process wants of a placement.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wish {
    /// The argument of the constructor.
    pub reorder: bool,
    /// What holds for all constructors.
    pub terms: Terms,
}

impl Wish {
    /// What this rank says of moving processes, as a number that is not negative; the least of all
    /// ranks counts.
    pub(super) fn caution(&self) -> i64 {
        match self.terms.reorder {
            Reorder::Off => OFF,
            Reorder::On if !self.reorder => NOT_ASKED,
            Reorder::On | Reorder::Always => GIVEN,
        }
    }

    /// Whether it matters what rank 0 knows.
    pub(super) fn asks(&self) -> bool {
        self.caution() == GIVEN || self.terms.reporting
    }

    /// What only rank 0 says, as a number that is not negative.
    pub(super) fn of_root<C: Comm>(&self, comm: &C) -> i64 {
        // Not asked for where it is of no use: that takes time.
        let knowledge = if self.asks() { comm.knowledge() } else { Knowledge::Unknown };
        (knowledge as i64) << 1 | i64::from(self.terms.reporting)
    }

    /// What is going to happen where all ranks of `comm` wish the same. It is rank 0 that says so, and
    /// all [ask](Self::asks) or none.
    pub(super) fn course_of_all<C: Comm>(&self, comm: &C) -> Result<Course, C::Error> {
        let root = if comm.rank()? == 0 { self.of_root(comm) } else { 0 };
        let mut words = [self.caution(), root];
        if self.asks() {
            let mut bytes = words.map(i64::to_le_bytes);
            comm.broadcast(0, bytes.as_flattened_mut())?;
            words = bytes.map(i64::from_le_bytes);
        }
        Ok(self.agreed(words[0], words[1]))
    }

    /// What the least [`caution`](Self::caution) of all ranks and rank 0's number mean for this call.
    pub(super) fn agreed(&self, caution: i64, root: i64) -> Course {
        let reporting = root & 1 != 0;
        let knowledge = root >> 1;
        let verdict = match caution {
            OFF => Verdict::Off,
            NOT_ASKED => Verdict::NotAsked,
            _ if knowledge == Knowledge::OneNode as i64 => Verdict::OneNode,
            _ => Verdict::Applied { forced: !self.reorder },
        };
        let moving = matches!(verdict, Verdict::Applied { .. });
        let known = knowledge != Knowledge::Unknown as i64;
        Course { moving, planning: moving || reporting, reporting, known, verdict }
    }
}

/// [`Wish::caution`] of a rank that is never to be moved, of one that passes `reorder = 0`, and of one
/// that may be moved.
const OFF: i64 = 0;
const NOT_ASKED: i64 = 1;
const GIVEN: i64 = 2;

/// What is going to happen in a constructor; the same on every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// Processes may be moved.
    pub moving: bool,
    /// Rank 0 makes a plan, to move processes by or to report what it would bring.
    pub planning: bool,
    reporting: bool,
    known: bool,
    verdict: Verdict,
}

impl Course {
    /// The same where ranks passed arguments that differ: nobody is moved.
    pub(super) fn of_differing_arguments(self) -> Self {
        let verdict = if self.moving { Verdict::Differing } else { self.verdict };
        Self { moving: false, planning: self.reporting, verdict, ..self }
    }
}

/// Whether a plan was applied, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was; `forced` where the program had passed `reorder = 0`.
    Applied {
        /// By `CARTOGRAPH_REORDER=always`.
        forced: bool,
    },
    /// The program passed `reorder = 0`.
    NotAsked,
    /// `CARTOGRAPH_REORDER=off` on some rank.
    Off,
    /// All processes are on one node.
    OneNode,
    /// Arguments that must be the same on all ranks differ.
    Differing,
    /// Nothing that was found is better than the order of the ranks.
    NothingGained,
    /// The graph is too large to be looked at as a whole.
    TooLarge,
    /// The host cannot tell which processes share a node.
    NoLayout,
}

/// What rank 0 can tell of a placement. On other ranks there is none.
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

/// Finds every process its seat. Collective where `course` plans; `plan` is called on rank 0 alone,
/// and gives nothing where the graph is too large.
pub(super) fn place<C: Comm>(
    comm: &C,
    course: Course,
    broken: Vec<Rule>,
    (vertices, shape): (i32, Shape),
    plan: impl FnOnce(&Layout) -> Option<Planned>,
) -> Result<(Seat, Option<Placed>), C::Error> {
    let rank = comm.rank()?;
    let stay = Seat { new_rank: (rank < vertices).then_some(rank), edges_from: rank, moved: false };
    if !course.planning {
        return Ok((stay, None));
    }
    let layout = comm.layout(course.known)?;
    let placed = (rank == 0).then(|| {
        let started = Instant::now();
        let planned = layout.as_deref().and_then(plan);
        let seconds = started.elapsed().as_secs_f64();
        let (plan, traffic) = planned.map_or((None, None), |p| (Some(p.plan), p.traffic));
        let verdict = match (course.verdict, &layout, &plan) {
            (Verdict::Applied { .. }, None, _) => Verdict::NoLayout,
            (Verdict::Applied { .. }, _, None) => Verdict::TooLarge,
            (Verdict::Applied { .. }, Some(layout), _) if layout.is_flat() => Verdict::OneNode,
            (Verdict::Applied { .. }, _, Some(plan)) if plan.old_rank.is_none() => {
                Verdict::NothingGained
            }
            (verdict, ..) => verdict,
        };
        Placed { layout, plan, verdict, traffic, shape, seconds, broken }
    });
    let seat = if course.moving {
        let pairs = match &placed {
            Some(placed) => pairs(placed.plan.as_ref(), comm.size()?),
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
    Ok((seat, placed.filter(|_| course.reporting)))
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
