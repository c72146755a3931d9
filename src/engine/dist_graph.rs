//! The constructors of distributed graphs: MPI 4.1, 8.5.4.
//!
//! Time and memory are O(degree + log P) here; what the split of the host costs comes on top. Only
//! where processes may be moved does rank 0 look at the whole graph, up to [`MOST_EDGES`].

use super::agree::{Agreed, Ballot, Choice, agree, first_fault, keep};
use super::arguments::{Argument, Function, Shared};
use super::check::Rule;
use super::create::{Made, seated};
use super::digest::mix;
use super::exchange::{Item, deliver};
use super::place::{Outset, Placed, Planned, Seat, place};
use super::policy::{Terms, Wish};
use super::{Comm, Error};
use crate::mapping::Csr;
use crate::report::Shape;
use crate::topology::{self, Class, DistGraph, Edges, Topology};

/// Weights as a rank passed them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights<'a> {
    /// `MPI_UNWEIGHTED`.
    Unweighted,
    /// One a edge; `MPI_WEIGHTS_EMPTY` is an array without entries.
    Given(&'a [i32]),
    /// A null pointer where there are no edges: fits a weighted graph and an unweighted one.
    Either,
}

impl Weights<'_> {
    /// Whether this rank says that the graph has weights; `None` if it does not say.
    fn weighted(self) -> Option<bool> {
        match self {
            Self::Unweighted => Some(false),
            Self::Given(_) => Some(true),
            Self::Either => None,
        }
    }

    fn entries(&self) -> &[i32] {
        match self {
            Self::Given(entries) => entries,
            _ => &[],
        }
    }
}

/// What a rank passed to `MPI_Dist_graph_create_adjacent`.
pub struct AdjacentArguments<'a> {
    /// Where edges into this process come from.
    pub sources: &'a [i32],
    /// Their weights.
    pub source_weights: Weights<'a>,
    /// Where edges out of this process lead.
    pub destinations: &'a [i32],
    /// Their weights.
    pub dest_weights: Weights<'a>,
    /// Whether ranks may be reordered.
    pub reorder: bool,
}

/// What a rank passed to `MPI_Dist_graph_create`: any edges of the graph, not only its own.
pub struct EdgeArguments<'a> {
    /// Where the edges start.
    pub sources: &'a [i32],
    /// How many entries of `destinations` belong to each of the `sources`.
    pub degrees: &'a [i32],
    /// Where the edges lead.
    pub destinations: &'a [i32],
    /// A weight for each of the `destinations`.
    pub weights: Weights<'a>,
    /// Whether ranks may be reordered.
    pub reorder: bool,
}

/// How many edges rank 0 gathers to plan a mapping: 12 bytes each on the way, 40 while it plans.
pub const MOST_EDGES: i64 = 1 << 24;

/// Agrees that all ranks are in `function`, reorder alike, and have weights or have none. Returns a
/// communicator of all processes, what was agreed on, and whether this rank's edges are weighted.
fn agree_on<C: Comm>(
    comm: &C,
    function: Function,
    fault: Option<topology::Error>,
    wish: Wish,
    weighted: Option<bool>,
) -> Result<(C, Agreed, bool), C::Error> {
    let reorder = [i32::from(wish.reorder)];
    // What hosts do with either where ranks differ: of the adjacent graph each process keeps what it
    // passed, the other makes some of them hang.
    let (tolerated, argument, reorder) = match function {
        Function::DistGraphCreateAdjacent => {
            (true, "sourceweights", Argument::tolerated("reorder", &reorder))
        }
        _ => (false, "weights", Argument::exact("reorder", &reorder)),
    };
    let chosen = weighted.map(usize::from);
    let ballot = Ballot {
        fault,
        shared: Shared { function, arguments: &[reorder] },
        vertices: Some(comm.size()?),
        wish: Some(wish),
        choice: Some(Choice { argument, ways: ["MPI_UNWEIGHTED", "given"], chosen, tolerated }),
    };
    let (all, agreed) = agree(comm, ballot)?;
    // Where nobody says, there are no edges, and no weights are as many weights as edges.
    let weighted = agreed.way != Some(0);
    Ok((all, agreed, weighted))
}

/// `MPI_Dist_graph_create_adjacent`. Collective. Each rank's lists keep their order. Edges that their
/// two ends do not give alike are an error only where [`Rule::Edges`] is checked.
///
/// # Errors
///
/// The same on every rank: [`Error::OnRank`] for a fault in anyone's arguments; or what the
/// communicator's own methods return.
pub fn dist_graph_create_adjacent<C: Comm>(
    comm: &C,
    terms: Terms,
    arguments: Result<AdjacentArguments<'_>, topology::Error>,
) -> Result<Made<C>, C::Error> {
    let (rank, size) = (comm.rank()?, comm.size()?);
    let checked = arguments.and_then(|a| a.check(size));
    let (reorder, weighted) = checked.as_ref().map_or((false, None), |(a, w)| (a.reorder, *w));
    let fault = checked.as_ref().err().cloned();
    let function = Function::DistGraphCreateAdjacent;
    let wish = Wish { reorder, distributed: true, terms };
    let (all, agreed, weighted) = agree_on(comm, function, fault, wish, weighted)?;
    let (arguments, _) = checked.expect("a fault here would have ended the agreement");

    let alike = match agreed.check.has(Rule::Edges) {
        true => check_edges(&all, &arguments),
        false => Ok(()),
    };
    let (all, ()) = keep(all, alike)?;
    let graph = Given {
        leaving: || arguments.leaving(rank, weighted),
        imbalance: || imbalance(rank, &arguments),
    };
    let places = place_edges(comm, agreed, (terms, weighted), graph);
    let (all, (seat, placed)) = keep(all, places)?;
    let made = seated(comm, all, seat, size)?.expect("every process has a place");
    let graph = match seat.moved {
        true => fetch_lists(&made, rank, seat, &arguments.lists(weighted)),
        false => Ok(arguments.lists(weighted)),
    };
    let (made, graph) = keep(made, graph)?;
    Ok(Made { member: Some((made, Topology::DistGraph(graph))), placed })
}

/// `MPI_Dist_graph_create`. Collective. Every edge goes to its two ends, where lists are ordered
/// by the rank that gave an edge, and for one rank in the order given; so the k-th of several
/// edges between two processes is the same edge at both ends.
///
/// # Errors
///
/// As [`dist_graph_create_adjacent`].
pub fn dist_graph_create<C: Comm>(
    comm: &C,
    terms: Terms,
    arguments: Result<EdgeArguments<'_>, topology::Error>,
) -> Result<Made<C>, C::Error> {
    let (rank, size) = (comm.rank()?, comm.size()?);
    let checked = arguments.and_then(|a| a.check(size));
    let (reorder, weighted) =
        checked.as_ref().map_or((false, None), |a| (a.reorder, a.weights.weighted()));
    let (fault, wish) =
        (checked.as_ref().err().cloned(), Wish { reorder, distributed: true, terms });
    let function = Function::DistGraphCreate;
    let (all, agreed, weighted) = agree_on(comm, function, fault, wish, weighted)?;
    let arguments = checked.expect("a fault here would have ended the agreement");

    let graph = Given { leaving: || arguments.given(weighted), imbalance: || 0 };
    let places = place_edges(comm, agreed, (terms, weighted), graph);
    let (all, (seat, placed)) = keep(all, places)?;
    // On a new communicator, where vertex i is rank i and no message of the program can be met.
    let made = seated(comm, all, seat, size)?.expect("every process has a place");
    let items = deliver(&made, arguments.items(rank, weighted));
    let (made, items) = keep(made, items)?;
    Ok(Made { member: Some((made, Topology::DistGraph(collect(&items, weighted)))), placed })
}

/// What a rank gives of a graph, worked out where it is needed.
struct Given<Leaving: FnOnce() -> Vec<i32>, Imbalance: FnOnce() -> i64> {
    /// Edges, each as (from, to, weight), that no other rank gives as well.
    leaving: Leaving,
    /// A number that is 0 in the sum over all ranks where both ends of each edge give it alike.
    imbalance: Imbalance,
}

/// Finds every process its seat, by the whole graph, whose edges rank 0 gathers.
fn place_edges<C: Comm>(
    comm: &C,
    Agreed { course, mut broken, .. }: Agreed,
    (terms, weighted): (Terms, bool),
    given: Given<impl FnOnce() -> Vec<i32>, impl FnOnce() -> i64>,
) -> Result<(Seat, Option<Placed>), C::Error> {
    let size = comm.size()?;
    let (mut total, mut gathered) = (None, None);
    if course.planning {
        let own = (given.leaving)();
        let mut sums = [own.len() as i64 / 3, (given.imbalance)()];
        comm.sum(&mut sums)?;
        let [edges, imbalance] = sums;
        if !is_balanced(imbalance) {
            broken.push(Rule::Edges);
        }
        total = Some(edges);
        if edges <= MOST_EDGES {
            gathered = Some(comm.gather(&own)?);
        }
    }
    let shape = Shape::DistGraph { edges: total, weighted };
    let outset = Outset { course, broken, options: terms.options };
    place(comm, outset, (size, shape), |layout, options| {
        let words = gathered?;
        let edges = words.chunks_exact(3).map(|e| (e[0] as u32, e[1] as u32, i64::from(e[2])));
        let graph = Csr::from_edges(size as usize, edges);
        Some(Planned::of_graph(&comm.weighed(graph), layout, course, options))
    })
}

/// After a reorder new rank i has vertex i, whose lists the process with old rank i passed: every
/// process hands its lists on, and gets those of its vertex.
fn fetch_lists<C: Comm>(
    made: &C,
    old_rank: i32,
    seat: Seat,
    own: &DistGraph,
) -> Result<DistGraph, C::Error> {
    let (into, away) = (&own.sources, &own.destinations);
    let head = [into.degree(), away.degree(), own.weighted.into()];
    let words = [&head[..], &into.ranks, &away.ranks, &into.weights, &away.weights].concat();
    let words = made.send_receive(old_rank, &words, seat.edges_from)?;
    let (head, mut rest) = words.split_at(3);
    let mut take = |length: i32| -> Box<[i32]> {
        let (taken, left) = rest.split_at(length as usize);
        rest = left;
        taken.into()
    };
    let [into, away] = [take(head[0]), take(head[1])];
    // Of another rank that passed MPI_UNWEIGHTED there are none, though this one passed some.
    let weighted = head[2] != 0;
    let weights = |degree| if weighted { degree } else { 0 };
    let [weights_into, weights_away] = [take(weights(head[0])), take(weights(head[1]))];
    Ok(DistGraph {
        sources: Edges { ranks: into, weights: weights_into },
        destinations: Edges { ranks: away, weights: weights_away },
        weighted,
    })
}

impl<'a> AdjacentArguments<'a> {
    /// What this rank can find wrong alone; with whether it says that the graph is weighted.
    fn check(self, size: i32) -> Result<(Self, Option<bool>), topology::Error> {
        use topology::dist_graph::{check_nodes, check_not_negative};
        check_nodes("sources", self.sources, size)?;
        check_nodes("destinations", self.destinations, size)?;
        check_not_negative("sourceweights", self.source_weights.entries())?;
        check_not_negative("destweights", self.dest_weights.entries())?;
        let half = |unweighted, weighted| topology::Error::HalfWeighted { unweighted, weighted };
        match (self.source_weights.weighted(), self.dest_weights.weighted()) {
            (Some(false), Some(true)) => Err(half("sourceweights", "destweights")),
            (Some(true), Some(false)) => Err(half("destweights", "sourceweights")),
            (one, other) => Ok((self, one.or(other))),
        }
    }

    /// The lists as they were passed.
    fn lists(&self, weighted: bool) -> DistGraph {
        let edges = |ranks: &[i32], weights: Weights<'_>| Edges {
            ranks: ranks.into(),
            weights: weights.entries().into(),
        };
        DistGraph {
            sources: edges(self.sources, self.source_weights),
            destinations: edges(self.destinations, self.dest_weights),
            weighted,
        }
    }

    /// The edges that leave this process: (from, to, weight).
    fn leaving(&self, rank: i32, weighted: bool) -> Vec<i32> {
        let weight = |i: usize| if weighted { self.dest_weights.entries()[i] } else { 1 };
        self.destinations.iter().enumerate().flat_map(|(i, to)| [rank, *to, weight(i)]).collect()
    }
}

impl EdgeArguments<'_> {
    /// What this rank can find wrong alone.
    fn check(self, size: i32) -> Result<Self, topology::Error> {
        use topology::dist_graph::{check_nodes, check_not_negative};
        check_nodes("sources", self.sources, size)?;
        check_nodes("destinations", self.destinations, size)?;
        check_not_negative("weights", self.weights.entries())?;
        Ok(self)
    }

    /// The edges that this rank gives: (from, to, weight).
    fn edges(&self, weighted: bool) -> impl Iterator<Item = [i32; 3]> + '_ {
        let starts = self.sources.iter().zip(self.degrees);
        let starts = starts.flat_map(|(source, degree)| (0..*degree).map(move |_| *source));
        starts.zip(self.destinations).enumerate().map(move |(i, (source, destination))| {
            [source, *destination, if weighted { self.weights.entries()[i] } else { 1 }]
        })
    }

    /// The same, one after the other.
    fn given(&self, weighted: bool) -> Vec<i32> {
        self.edges(weighted).flatten().collect()
    }

    /// Every edge twice, addressed to its two ends: (whether it leaves the receiver, the other end, weight).
    fn items(&self, from: i32, weighted: bool) -> Vec<Item<3>> {
        let mut items = Vec::with_capacity(2 * self.destinations.len());
        for [source, destination, weight] in self.edges(weighted) {
            items.push(Item { to: source, from, words: [1, destination, weight] });
            items.push(Item { to: destination, from, words: [0, source, weight] });
        }
        items
    }
}

/// The edges of this process out of the items that arrived.
fn collect(items: &[Item<3>], weighted: bool) -> DistGraph {
    let edges = |leaving: i32| {
        let edges = || items.iter().map(|item| item.words).filter(move |words| words[0] == leaving);
        Edges {
            ranks: edges().map(|[_, other, _]| other).collect(),
            weights: edges().filter(|_| weighted).map(|[_, _, weight]| weight).collect(),
        }
    };
    DistGraph { sources: edges(0), destinations: edges(1), weighted }
}

/// What a rank's edges add to a sum over all ranks: numbers made of the edges are added where they
/// arrive and subtracted where they leave. Far below 63 bits, so that a sum over a million ranks fits.
fn imbalance(rank: i32, arguments: &AdjacentArguments<'_>) -> i64 {
    let add = |ranks: &[i32], weights: Weights<'_>, edge: &dyn Fn(i32) -> (i32, i32)| {
        let weight = |i: usize| weights.entries().get(i).copied().unwrap_or(0);
        let numbers = ranks.iter().enumerate().map(|(i, other)| number(edge(*other), weight(i)));
        numbers.fold(0u64, u64::wrapping_add)
    };
    let arriving = add(arguments.sources, arguments.source_weights, &|other| (other, rank));
    let leaving = add(arguments.destinations, arguments.dest_weights, &|other| (rank, other));
    arriving.wrapping_sub(leaving) as i64 & BALANCE
}

/// The bits of an imbalance.
const BALANCE: i64 = (1 << 40) - 1;

/// Whether the sum of all imbalances says that every edge is given alike at both ends. In 2^40 cases
/// of edges that are not, one passes.
fn is_balanced(sum: i64) -> bool {
    sum & BALANCE == 0
}

/// A number that stands for an edge.
fn number((source, destination): (i32, i32), weight: i32) -> u64 {
    mix(mix((source as u64) << 32 | destination as u64).wrapping_add(weight as u64))
}

/// Checks that every edge is given alike at both ends, by one small reduction. `comm` is one of our own.
fn check_edges<C: Comm>(comm: &C, arguments: &AdjacentArguments<'_>) -> Result<(), C::Error> {
    let mut sum = [imbalance(comm.rank()?, arguments)];
    comm.sum(&mut sum)?;
    match is_balanced(sum[0]) {
        true => Ok(()),
        false => Err(name_mismatch(comm, arguments)?.into()),
    }
}

/// Finds an edge that is not given alike at both ends. Only used once it is known that there is one,
/// and on a communicator of our own. O(degree log degree) beside the messages.
fn name_mismatch<C: Comm>(comm: &C, arguments: &AdjacentArguments<'_>) -> Result<Error, C::Error> {
    let rank = comm.rank()?;
    let listed = |ranks: &[i32], weights: Weights<'_>| -> Vec<(i32, i32)> {
        let weight = |i: usize| weights.entries().get(i).copied().unwrap_or(0);
        ranks.iter().enumerate().map(|(i, other)| (*other, weight(i))).collect()
    };
    let items = listed(arguments.destinations, arguments.dest_weights)
        .into_iter()
        .map(|(to, weight)| Item { to, from: rank, words: [weight] })
        .collect();
    let arrived = deliver(comm, items)?;
    let theirs = arrived.iter().map(|item| (item.from, item.words[0])).collect();
    let own = listed(arguments.sources, arguments.source_weights);
    let fault = first_mismatch(own, theirs).map(|((from, weight), [own, theirs])| {
        let weight = match arguments.source_weights.weighted() {
            Some(true) => format!(" of weight {weight}"),
            _ => String::new(),
        };
        format!(
            "sources name rank {from} {own} times{weight}, but destinations on rank {from} name rank {rank} {theirs} times{weight}; each edge must be given at both ends"
        )
    });
    Ok(first_fault(comm, fault)?.unwrap_or(Error::OnRank {
        rank: 0,
        class: Class::Arg,
        text: "sources and destinations do not name the same edges".into(),
    }))
}

/// The least entry that two lists do not have equally often, and how often each has it.
fn first_mismatch(
    mut own: Vec<(i32, i32)>,
    mut theirs: Vec<(i32, i32)>,
) -> Option<((i32, i32), [usize; 2])> {
    own.sort_unstable();
    theirs.sort_unstable();
    let at = own.iter().zip(&theirs).take_while(|(own, theirs)| own == theirs).count();
    let edge = [own.get(at), theirs.get(at)].into_iter().flatten().min().copied()?;
    let count = |list: &[(i32, i32)]| {
        list.partition_point(|entry| *entry <= edge) - list.partition_point(|entry| *entry < edge)
    };
    Some((edge, [count(&own), count(&theirs)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mismatch_is_found_and_counted() {
        let edges = |ranks: &[i32]| ranks.iter().map(|rank| (*rank, 0)).collect::<Vec<_>>();
        let found = |own: &[i32], theirs: &[i32]| {
            first_mismatch(edges(own), edges(theirs)).map(|((rank, _), counts)| (rank, counts))
        };
        assert_eq!(found(&[], &[]), None);
        assert_eq!(found(&[3, 1, 2], &[2, 3, 1]), None);
        assert_eq!(found(&[1], &[]), Some((1, [1, 0])));
        assert_eq!(found(&[5, 1, 5], &[5, 1]), Some((5, [2, 1])));
        assert_eq!(found(&[5, 1, 5], &[5, 1, 4]), Some((4, [0, 1])));
        assert_eq!(found(&[2, 2, 9], &[2, 2, 2, 9]), Some((2, [2, 3])));
        assert_eq!(found(&[7, 8], &[8, 9]), Some((7, [1, 0])));
    }
}
