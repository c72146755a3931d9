//! Agreement on the arguments of a constructor. A fault on one rank becomes the same error on all,
//! and no rank waits in a collective call that others never enter.
//!
//! A constructor needs a split of its communicator in any case, and the split itself can show whether all ranks agree:
//! the color is a digest of everything that must be the same. If all ranks have one color, all are on one new
//! communicator, and no further message is needed. Otherwise every new communicator lacks a process, so every rank
//! notices; only then does a reduction of a few words find the fault, if there is one.
//!
//! Every constructor begins with a split, even `MPI_Cart_sub`, so that ranks in different constructors meet.

use super::advisor::Advisor;
use super::check::{Check, Rule};
use super::comm::{Comm, keep};
use super::contribution::Contribution;
use super::decision::ReorderDecision;
use super::error::Error;
use super::faults::{NO_RANK, differs, name_difference, tell};

/// The result of an agreement, known to all processes.
pub(super) struct Agreement {
    /// The chosen form; `None` if the arguments of all processes fit both, or there was no choice. If different choices
    /// are accepted, it is this process's own.
    pub(super) way: Option<usize>,
    /// The decision whether to reorder ranks.
    pub(super) decision: ReorderDecision,
    /// The rules that are checked.
    pub(super) check: Check,
    /// The rules that were violated but are not checked.
    pub(super) broken: Vec<Rule>,
    /// How neighborhood collectives run.
    pub(super) collectives: Collectives,
}

/// How neighborhood collectives run on a new communicator; the same on all processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collectives {
    /// True if they are the host's own: if some process wants it and all allow it.
    pub host_graph: bool,
    /// The [pairing](Advisor::pairing) of blocks: the greatest number among processes that know theirs.
    pub pairing: i32,
}

/// Returns, the same on all processes, the agreement, or the fault of the lowest rank that has one, with a new
/// communicator of all processes in rank order. Differing arguments pass unnoticed in one of 2^25 cases; that all
/// processes call one function is always checked. Collective.
///
/// # Errors
///
/// [`Error::OnRank`], or an error of the communicator's own methods.
pub(super) fn agree<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    contribution: Contribution<'_>,
) -> Result<(C, Agreement), C::Error> {
    let (rank, size) = (comm.rank()?, comm.size()?);
    let all_of = |color| comm.split(Some(color), rank).map(|made| made.expect("a color was given"));
    let host_graph = contribution.host_graph(advisor);
    let pairing = contribution.pairing(advisor);
    let all = all_of(contribution.color(size, host_graph, pairing))?;
    if contribution.fault.is_none() && all.size()? == size {
        let request = contribution.request.unwrap_or_default();
        let decision = request.decide(comm, advisor);
        let (all, decision) = keep(all, decision)?;
        let way = contribution.way();
        let (check, broken) = (request.settings.check, Vec::new());
        let collectives = Collectives { host_graph, pairing: pairing.max(0) };
        return Ok((all, Agreement { way, decision, check, broken, collectives }));
    }
    all.free()?;
    let agreed = agree_by_reduction(comm, advisor, contribution, true)?;
    Ok((all_of(0)?, agreed))
}

/// The numbers of a rank in the reduction, and then the least of all ranks. The complement of the least complement is
/// the greatest number.
struct Numbers {
    /// This rank if it is at fault; and this rank if the result so far does not fit its arguments.
    at_fault: i64,
    does_not_fit: i64,
    /// Numbers that must be equal on all ranks, and their complements: the function with the number of vertices, a
    /// digest of the arguments that must be equal, and a digest of all arguments.
    alike: [[i64; 2]; 3],
    /// This rank if it chose the first form of the call; and this rank if it chose the second form.
    chose: [i64; 2],
    permission_rank: i64,
    /// The facts that only rank 0 contributes.
    root: i64,
    check: i64,
    /// This rank if it wants native collectives; and this rank if it does not allow them.
    wants_host_graph: i64,
    forbids_host_graph: i64,
    /// The complement of the pairing.
    pairing: i64,
}

impl Numbers {
    /// The numbers of this rank.
    fn of<C: Comm>(
        comm: &C,
        advisor: &impl Advisor<C>,
        contribution: &Contribution<'_>,
        fits: bool,
    ) -> Result<Self, C::Error> {
        let rank = i64::from(comm.rank()?);
        let this_rank_if = |holds: bool| if holds { rank } else { NO_RANK };
        let Contribution { fault, shared, vertices, request, .. } = contribution;
        let request = request.unwrap_or_default();
        let way = contribution.way();
        let host_graph = contribution.host_graph(advisor);
        let scope = (shared.function as i64) << 32 | i64::from(vertices.unwrap_or(0));
        let [exact, whole] = shared.digests().map(|digest| digest as i64);
        Ok(Self {
            at_fault: this_rank_if(fault.is_some()),
            does_not_fit: this_rank_if(!fits),
            alike: [scope, exact, whole].map(|number| [number, !number]),
            chose: [0, 1].map(|form| this_rank_if(way == Some(form))),
            permission_rank: request.permission_rank(),
            root: if rank == 0 { request.encode_root(advisor) } else { NO_RANK },
            check: if rank == 0 { request.settings.check.bits() } else { NO_RANK },
            wants_host_graph: this_rank_if(host_graph),
            forbids_host_graph: this_rank_if(!contribution.allows_host_graph(advisor, host_graph)),
            pairing: !i64::from(contribution.pairing_among_others(advisor)),
        })
    }

    /// Replaces each number by the least of all ranks. Collective.
    fn reduce<C: Comm>(&mut self, comm: &C) -> Result<(), C::Error> {
        let single = [
            &mut self.at_fault,
            &mut self.does_not_fit,
            &mut self.permission_rank,
            &mut self.root,
            &mut self.check,
            &mut self.wants_host_graph,
            &mut self.forbids_host_graph,
            &mut self.pairing,
        ];
        let several = self.alike.as_flattened_mut().iter_mut().chain(&mut self.chose);
        let places: Vec<&mut i64> = several.chain(single).collect();
        let mut words: Vec<i64> = places.iter().map(|place| **place).collect();
        comm.min(&mut words)?;
        places.into_iter().zip(words).for_each(|(place, least)| *place = least);
        Ok(())
    }

    /// Whether all ranks have the same function and vertices, the same exact arguments, and the same arguments.
    fn are_alike(&self) -> [bool; 3] {
        self.alike.map(|[least, complement]| least == !complement)
    }
}

/// The agreement by a reduction, which finds the rank that is at fault or that differs, if any. `fits`, whether the
/// result so far fits this rank's arguments, counts only if there is no other fault.
///
/// # Errors
///
/// Like [`agree`].
pub(super) fn agree_by_reduction<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    contribution: Contribution<'_>,
    fits: bool,
) -> Result<Agreement, C::Error> {
    let mut found = Numbers::of(comm, advisor, &contribution, fits)?;
    found.reduce(comm)?;
    if found.at_fault != NO_RANK {
        let own = contribution.fault.map(|fault| (fault.class(), fault.to_string()));
        return Err(tell(comm, found.at_fault as i32, own)?.into());
    }
    let check = Check::from_bits(found.check);
    let strict = check.has(Rule::Arguments);
    let [same_scope, same_exact, same_whole] = found.are_alike();
    if !(same_scope && same_exact) || (strict && !same_whole) {
        return Err(name_difference(comm, &contribution.shared, strict)?.into());
    }
    if found.does_not_fit != NO_RANK {
        return Err(differs(found.does_not_fit as i32, contribution.shared.function).into());
    }
    let request = contribution.request.unwrap_or_default();
    let mut decision = request.decision(found.permission_rank, found.root);
    let mut broken = Vec::new();
    if !same_whole {
        broken.push(Rule::Arguments);
        // Each rank has its own view of the topology, which is valid only if ranks are kept.
        decision = decision.of_differing_arguments();
    }
    let (way, is_same_way) = choose(&contribution, found.chose, check)?;
    if !is_same_way {
        broken.push(Rule::Weights);
    }
    let host_graph = found.wants_host_graph != NO_RANK && found.forbids_host_graph == NO_RANK;
    let collectives = Collectives { host_graph, pairing: (!found.pairing as i32).max(0) };
    Ok(Agreement { way, decision, check, broken, collectives })
}

/// The form of the call, by the lowest rank that chose each, and whether all ranks chose the same.
fn choose(
    contribution: &Contribution<'_>,
    [first, second]: [i64; 2],
    check: Check,
) -> Result<(Option<usize>, bool), Error> {
    match &contribution.choice {
        Some(choice) if first != NO_RANK && second != NO_RANK => {
            if !choice.tolerated || check.has(Rule::Weights) {
                return Err(choice.made_differently(first, second));
            }
            Ok((contribution.way(), false))
        }
        _ => Ok(([first, second].iter().position(|rank| *rank != NO_RANK), true)),
    }
}
