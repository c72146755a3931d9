//! Agreement on the arguments of a constructor. A fault on one rank becomes the same error on all,
//! and no rank waits in a collective call that others never enter.
//!
//! A constructor needs a split of its communicator in any case, and the split itself can show whether all ranks agree:
//! the color is a digest of everything that must be the same. If all ranks have one color, all are on one new
//! communicator, and no further message is needed. Otherwise every new communicator lacks a process, so every rank
//! notices; only then does a reduction of a few words find the fault, if there is one.
//!
//! Digests may collide. The subsequent calls on the communicator must not depend on that, so the part of the color that
//! determines them is exact: `Contribution::call_sequence`. They depend only on that part, on rank 0's contribution,
//! and on the sizes of communicators.
//!
//! Every constructor begins with a split, even `MPI_Cart_sub`, so that ranks in different constructors meet.

use super::advisor::Advisor;
use super::arguments::{Function, Shared};
use super::check::{Check, Rule};
use super::comm::{Comm, keep};
use super::decision::{ReorderDecision, ReorderRequest};
use super::digest::Digest;
use super::error::Error;
use crate::topology::{self, Class};

/// "No rank", in a minimum over ranks.
const NO_RANK: i64 = i64::MAX;

/// The contribution of one process to the agreement of all.
pub struct Contribution<'a> {
    /// The first fault in this process' own arguments, if there is one.
    pub fault: Option<topology::Error>,
    /// The arguments that must be the same on all processes; ignored if there is a fault.
    pub shared: Shared<'a>,
    /// The number of processes in the new topology. `None` in `MPI_Cart_sub`, whose sub-grids together have all.
    pub vertices: Option<i32>,
    /// The request of this process about reordering; `None` in functions that do not reorder.
    pub request: Option<ReorderRequest>,
    /// The choice of this process if a function has two forms.
    pub choice: Option<Choice>,
    /// The neighbors in the new topology; `None` if there is a fault.
    pub neighbors: Option<Neighbors<'a>>,
}

/// The neighbors of a process in a new topology, to its knowledge.
#[derive(Clone, Copy)]
pub struct Neighbors<'a> {
    /// The number of processes that it has.
    pub processes: i32,
    /// True if, to the knowledge of this process, some process is a neighbor of a process more than once.
    pub repeated: &'a dyn Fn() -> bool,
}

/// A choice between two forms of a call, such as with or without weights, which must be the same on all processes.
pub struct Choice {
    /// The argument that makes the choice.
    pub argument: &'static str,
    /// The two forms, as text.
    pub ways: [&'static str; 2],
    /// The choice of this process, 0 or 1; `None` if its arguments fit both.
    pub chosen: Option<usize>,
    /// True if different choices are accepted, because every host accepts them, unless [`Rule::Weights`] is
    /// checked.
    pub tolerated: bool,
}

/// The result of an agreement, known to all processes.
pub struct Agreement {
    /// The chosen form; `None` if the arguments of all processes fit both, or there was no choice. If different choices
    /// are accepted, it is this process's own.
    pub way: Option<usize>,
    /// The decision whether to reorder ranks.
    pub decision: ReorderDecision,
    /// The rules that are checked.
    pub check: Check,
    /// The rules that were violated but are not checked.
    pub broken: Vec<Rule>,
    /// True if neighborhood collectives are the host's own: if some process wants it and all allow it.
    pub host_graph: bool,
    /// The [pairing](Advisor::pairing) of blocks: the greatest number of all processes that know theirs.
    pub pairing: i32,
}

/// The number of bits of a color that hold a digest.
const DIGEST_BITS: u32 = 25;

/// Colors from here on are digests; lower ones are those of functions that split into several parts.
const DIGESTS: i32 = 1 << 29;

/// More than the number of call sequences. With the bits of the digest they use up all colors.
const CALL_SEQUENCES: i32 = 48;
const _: () = assert!(DIGESTS as i64 + ((CALL_SEQUENCES as i64) << DIGEST_BITS) == 1 << 31);

/// The color in `MPI_Comm_split` of a process with a fault. It differs from all others, so that processes without a
/// fault notice.
pub const AT_FAULT: i32 = DIGESTS - 1;
const _: () = assert!(AT_FAULT < DIGESTS);

/// Returns, the same on all processes, the agreement, or the fault of the lowest rank that has one, with a new
/// communicator of all processes in rank order. Differing arguments pass unnoticed in one of 2^25 cases; that all
/// processes call one function is always checked. Collective.
///
/// # Errors
///
/// [`Error::OnRank`], or an error of the communicator's own methods.
pub fn agree<C: Comm>(
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
        let way = contribution.choice.and_then(|choice| choice.chosen);
        let (check, broken) = (request.settings.check, Vec::new());
        let pairing = pairing.max(0);
        return Ok((all, Agreement { way, decision, check, broken, host_graph, pairing }));
    }
    all.free()?;
    let agreed = agree_by_reduction(comm, advisor, contribution, true)?;
    Ok((all_of(0)?, agreed))
}

/// The agreement by a reduction, which finds the rank that is at fault or that differs, if any. `fits`, whether the
/// result so far fits this rank's arguments, counts only if there is no other fault.
///
/// # Errors
///
/// As [`agree`].
pub fn agree_by_reduction<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    contribution: Contribution<'_>,
    fits: bool,
) -> Result<Agreement, C::Error> {
    let rank = i64::from(comm.rank()?);
    let this_rank_if = |holds: bool| if holds { rank } else { NO_RANK };
    let own_way = contribution.choice.as_ref().and_then(|choice| choice.chosen);
    let request = contribution.request.unwrap_or_default();
    let host_graph = contribution.host_graph(advisor);
    let [exact, whole] = contribution.shared.digests().map(|digest| digest as i64);
    let scope =
        (contribution.shared.function as i64) << 32 | i64::from(contribution.vertices.unwrap_or(0));
    // The minimum of a number's complement is the complement of its maximum.
    let mut words = [
        this_rank_if(contribution.fault.is_some()),
        this_rank_if(!fits),
        scope,
        !scope,
        exact,
        !exact,
        whole,
        !whole,
        this_rank_if(own_way == Some(0)),
        this_rank_if(own_way == Some(1)),
        request.permission_rank(),
        if rank == 0 { request.encode_root(advisor) } else { NO_RANK },
        if rank == 0 { request.settings.check.bits() } else { NO_RANK },
        this_rank_if(host_graph),
        this_rank_if(!contribution.allows_host_graph(advisor, host_graph)),
        !i64::from(contribution.pairing_among_others(advisor)),
    ];
    comm.min(&mut words)?;
    let [at_fault, differing_rank, words @ ..] = words;
    let [scope, no_scope, exact, no_exact, whole, no_whole, words @ ..] = words;
    let [first, second, permission_rank, root, check, words @ ..] = words;
    let [with_graph, against_graph, no_pairing] = words;

    if at_fault != NO_RANK {
        let own = contribution.fault.map(|fault| (fault.class(), fault.to_string()));
        return Err(tell(comm, at_fault as i32, own)?.into());
    }
    let check = Check::from_bits(check);
    let mut broken = Vec::new();
    if [scope, exact] != [!no_scope, !no_exact] {
        let strict = check.has(Rule::Arguments);
        return Err(name_difference(comm, &contribution.shared, strict)?.into());
    }
    if whole != !no_whole {
        if check.has(Rule::Arguments) {
            return Err(name_difference(comm, &contribution.shared, true)?.into());
        }
        broken.push(Rule::Arguments);
    }
    if differing_rank != NO_RANK {
        return Err(differs(differing_rank as i32, contribution.shared.function).into());
    }
    let mut way = [first, second].iter().position(|rank| *rank != NO_RANK);
    if let Some(choice) =
        contribution.choice.as_ref().filter(|_| ![first, second].contains(&NO_RANK))
    {
        if !choice.tolerated || check.has(Rule::Weights) {
            return Err(choice.made_differently(first, second).into());
        }
        broken.push(Rule::Weights);
        way = own_way;
    }
    let mut decision = request.decision(permission_rank, root);
    if broken.contains(&Rule::Arguments) {
        // Each rank has its own view of the topology, which is valid only if ranks are kept.
        decision = decision.of_differing_arguments();
    }
    let host_graph = with_graph != NO_RANK && against_graph == NO_RANK;
    let pairing = (!no_pairing as i32).max(0);
    Ok(Agreement { way, decision, check, broken, host_graph, pairing })
}

/// The fault of a rank whose arguments differ from those of others, if the differing argument is unknown.
fn differs(rank: i32, function: Function) -> Error {
    let text = format!("the arguments of {} differ from other ranks'", function.name());
    Error::OnRank { rank, class: Class::Arg, text }
}

impl Choice {
    /// The fault of the first rank whose choice differs from that of a rank below it.
    fn made_differently(&self, first: i64, second: i64) -> Error {
        let [way, other_way] = self.ways;
        let (late, early, way, other_way) = match first < second {
            true => (second, first, other_way, way),
            false => (first, second, way, other_way),
        };
        let text = format!(
            "{} is {way}, but {other_way} on rank {early}; it must be one or the other on all ranks",
            self.argument
        );
        Error::OnRank { rank: late as i32, class: Class::Arg, text }
    }
}

/// Broadcasts the class and the text of the fault that `root` found. Collective.
pub fn tell<C: Comm>(comm: &C, root: i32, own: Option<(Class, String)>) -> Result<Error, C::Error> {
    let is_root = comm.rank()? == root;
    let (class, text) = own.filter(|_| is_root).unwrap_or((Class::Arg, String::new()));
    let mut bytes = text.into_bytes();
    bytes.push(class.index() as u8);
    let mut bytes = broadcast_vec(comm, root, bytes)?;
    let class = bytes.pop().map_or(Class::Arg, |index| Class::ALL[usize::from(index)]);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Error::OnRank { rank: root, class, text })
}

/// The `fault` of the lowest rank that has one, on all processes; `None` if no rank has one. Collective.
pub fn first_fault<C: Comm>(comm: &C, fault: Option<String>) -> Result<Option<Error>, C::Error> {
    let mut lowest = [if fault.is_some() { i64::from(comm.rank()?) } else { NO_RANK }];
    comm.min(&mut lowest)?;
    if lowest[0] == NO_RANK {
        return Ok(None);
    }
    tell(comm, lowest[0] as i32, fault.map(|text| (Class::Arg, text))).map(Some)
}

impl Contribution<'_> {
    /// True if this process wants native neighborhood collectives, given the neighbors that it knows.
    fn host_graph<C: Comm>(&self, advisor: &impl Advisor<C>) -> bool {
        let of = |Neighbors { processes, repeated }| advisor.host_graph(processes, repeated);
        self.neighbors.is_some_and(of)
    }

    /// True if this process allows them if others want them: it does not know all neighbors in a distributed graph.
    fn allows_host_graph<C: Comm>(&self, advisor: &impl Advisor<C>, own: bool) -> bool {
        let distributed = [Function::DistGraphCreate, Function::DistGraphCreateAdjacent];
        match self.neighbors {
            Some(known) if distributed.contains(&self.shared.function) => {
                advisor.host_graph(known.processes, &|| true)
            }
            _ => own,
        }
    }

    /// The pairing of blocks that this process wants, given the neighbors that it knows.
    fn pairing<C: Comm>(&self, advisor: &impl Advisor<C>) -> i32 {
        self.neighbors.map_or(0, |known| advisor.pairing(known.repeated))
    }

    /// The pairing that it wants if others may know of other neighbors, or do not know their pairing.
    fn pairing_among_others<C: Comm>(&self, advisor: &impl Advisor<C>) -> i32 {
        match self.neighbors {
            // Its parts are alike.
            Some(known) if self.vertices.is_none() => advisor.pairing(known.repeated),
            Some(_) => advisor.pairing(&|| true),
            None => 0,
        }
    }

    /// The color of this rank on a communicator of `size` processes.
    fn color(&self, size: i32, host_graph: bool, pairing: i32) -> i32 {
        if self.fault.is_some() {
            return AT_FAULT;
        }
        let request = self.request.unwrap_or_default();
        let way = self.choice.as_ref().and_then(|choice| choice.chosen);
        let [_, arguments] = self.shared.digests();
        let own_settings = [request.permission_rank() as i32, request.settings.reporting.into()];
        let digest = Digest::default()
            .number(arguments)
            .array(&[way.map_or(-1, |way| way as i32)])
            .array(&own_settings)
            .array(&[pairing])
            .number(request.settings.check.bits() as u64)
            .finish();
        DIGESTS
            + ((self.call_sequence(size, host_graph) << DIGEST_BITS)
                | (digest as i32 & ((1 << DIGEST_BITS) - 1)))
    }

    /// Encodes the calls on the communicator that follow the split, with `host_graph` for those of neighborhood
    /// collectives: ranks whose sequences differ never have one color. A number below [`CALL_SEQUENCES`].
    fn call_sequence(&self, size: i32, host_graph: bool) -> i32 {
        let request = self.request.unwrap_or_default();
        let parts = match (self.shared.function, self.vertices) {
            (Function::CartCreate, Some(vertices)) if vertices == size => 0,
            (Function::CartCreate, _) => 1,
            (Function::GraphCreate, Some(0)) => 2,
            (Function::GraphCreate, Some(vertices)) if vertices == size => 3,
            (Function::GraphCreate, _) => 4,
            (Function::DistGraphCreate, _) => 5,
            (Function::DistGraphCreateAdjacent, _) if !request.settings.check.has(Rule::Edges) => 6,
            (Function::DistGraphCreateAdjacent, _) => 7,
            (Function::CartSub, _) => unreachable!("it splits by its parts"),
        };
        4 * parts + 2 * i32::from(host_graph) + i32::from(request.needs_broadcast())
    }
}

fn broadcast_vec<C: Comm>(comm: &C, root: i32, bytes: Vec<u8>) -> Result<Vec<u8>, C::Error> {
    let mut length = (bytes.len() as u64).to_le_bytes();
    comm.broadcast(root, &mut length)?;
    let mut bytes = bytes;
    bytes.resize(u64::from_le_bytes(length) as usize, 0);
    comm.broadcast(root, &mut bytes)?;
    Ok(bytes)
}

/// All ranks compare their arguments with rank 0's, and the lowest rank that differs describes the difference.
fn name_difference<C: Comm>(
    comm: &C,
    shared: &Shared<'_>,
    strict: bool,
) -> Result<Error, C::Error> {
    let own = if comm.rank()? == 0 { shared.encode() } else { Vec::new() };
    let theirs = broadcast_vec(comm, 0, own)?;
    let difference = shared.difference(&theirs, strict);
    Ok(first_fault(comm, difference)?.unwrap_or_else(|| differs(0, shared.function)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::decision::CallSettings;

    /// The colors of a call with each number of vertices, either kind of collectives, and settings and choices that
    /// lead to other calls or another result.
    #[test]
    fn different_arguments_have_different_colors() {
        let mut colors = Vec::new();
        let functions = [
            (Function::CartCreate, &[Some(4), Some(3)][..]),
            (Function::GraphCreate, &[Some(0), Some(4), Some(3)]),
            (Function::DistGraphCreate, &[Some(4)]),
            (Function::DistGraphCreateAdjacent, &[Some(4)]),
        ];
        for (function, sizes) in functions {
            for (vertices, bits) in sizes.iter().flat_map(|size| (0..8).map(move |b| (*size, b))) {
                let bit = |at: i32| bits >> at & 1 == 1;
                let settings = CallSettings {
                    reporting: bit(0),
                    check: if bit(1) {
                        Check::default().with(Rule::Edges)
                    } else {
                        Check::default()
                    },
                    ..CallSettings::default()
                };
                let request = Some(ReorderRequest { settings, ..ReorderRequest::default() });
                for chosen in [None, Some(0), Some(1)] {
                    let choice = Some(Choice {
                        argument: "weights",
                        ways: ["one", "the other"],
                        chosen,
                        tolerated: false,
                    });
                    let shared = Shared { function, arguments: &[] };
                    let contribution = Contribution {
                        fault: None,
                        shared,
                        vertices,
                        request,
                        choice,
                        neighbors: None,
                    };
                    let sequence = contribution.call_sequence(4, bit(2));
                    assert!((0..CALL_SEQUENCES).contains(&sequence), "{sequence}");
                    colors.push(contribution.color(4, bit(2), 0));
                }
            }
        }
        assert!(colors.iter().all(|color| *color >= DIGESTS));
        let count = colors.len();
        colors.sort_unstable();
        colors.dedup();
        assert_eq!(colors.len(), count);
    }
}
