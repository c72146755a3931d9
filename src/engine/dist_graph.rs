//! The constructors of distributed graphs: MPI 4.1, 8.5.4.
//!
//! Time and memory are O(degree + log P) here; what the split of the host costs comes on top. Only
//! where processes may be moved does rank 0 look at the whole graph, up to [`MOST_EDGES`].

use super::agree::{Ballot, Choice, Shared, agree, first_fault, keep};
use super::create::{Made, seated};
use super::exchange::{Item, deliver};
use super::place::{Course, Placed, Planned, Seat, Terms, Wish, place};
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
/// communicator of all processes, whether the graph is weighted, and how processes will be placed.
fn agree_on<C: Comm>(
    comm: &C,
    function: &'static str,
    fault: Option<topology::Error>,
    wish: Wish,
    argument: &'static str,
    weighted: Option<bool>,
) -> Result<(C, (bool, Course)), C::Error> {
    let shared = Shared { function, arguments: &[("reorder", &[i32::from(wish.reorder)])] };
    let chosen = weighted.map(usize::from);
    let choice = Some(Choice { argument, ways: ["MPI_UNWEIGHTED", "given"], chosen });
    let (all, agreed) = agree(comm, Ballot { fault, shared, wish: Some(wish), choice })?;
    // Where no rank says, there are no edges, and no weights are as many weights as edges.
    Ok((all, (agreed.way != Some(0), agreed.course)))
}

/// `MPI_Dist_graph_create_adjacent`. Collective. Each rank's lists keep their order.
///
/// # Errors
///
/// The same on every rank: [`Error::OnRank`] for a fault in anyone's arguments, and for edges
/// that their two ends do not give alike; or what the communicator's own methods return.
pub fn dist_graph_create_adjacent<C: Comm>(
    comm: &C,
    terms: Terms,
    arguments: Result<AdjacentArguments<'_>, topology::Error>,
) -> Result<Made<C>, C::Error> {
    let (rank, size) = (comm.rank()?, comm.size()?);
    let checked = arguments.and_then(|a| a.check(size));
    let (reorder, weighted) = checked.as_ref().map_or((false, None), |(a, w)| (a.reorder, *w));
    let fault = checked.as_ref().err().cloned();
    let function = "MPI_Dist_graph_create_adjacent";
    let wish = Wish { reorder, terms };
    let (all, (weighted, course)) =
        agree_on(comm, function, fault, wish, "sourceweights", weighted)?;
    let (arguments, _) = checked.expect("a fault here would have ended the agreement");

    let alike = edges_match(&all, &arguments).and_then(|alike| match alike {
        true => Ok(()),
        false => Err(name_mismatch(&all, &arguments)?.into()),
    });
    let (all, ()) = keep(all, alike)?;
    let places = place_edges(comm, course, (terms, weighted), || arguments.leaving(rank, weighted));
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
    let (fault, wish) = (checked.as_ref().err().cloned(), Wish { reorder, terms });
    let function = "MPI_Dist_graph_create";
    let (all, (weighted, course)) = agree_on(comm, function, fault, wish, "weights", weighted)?;
    let arguments = checked.expect("a fault here would have ended the agreement");

    let places = place_edges(comm, course, (terms, weighted), || arguments.given(weighted));
    let (all, (seat, placed)) = keep(all, places)?;
    // On a new communicator, where vertex i is rank i and no message of the program can be met.
    let made = seated(comm, all, seat, size)?.expect("every process has a place");
    let items = deliver(&made, arguments.items(rank, weighted));
    let (made, items) = keep(made, items)?;
    Ok(Made { member: Some((made, Topology::DistGraph(collect(&items, weighted)))), placed })
}

/// Finds every process its seat, by the whole graph, whose edges rank 0 gathers: each as
/// (from, to, weight), given once by any rank.
fn place_edges<C: Comm>(
    comm: &C,
    course: Course,
    (terms, weighted): (Terms, bool),
    edges: impl FnOnce() -> Vec<i32>,
) -> Result<(Seat, Option<Placed>), C::Error> {
    let size = comm.size()?;
    let (mut total, mut gathered) = (None, None);
    if course.planning {
        let own = edges();
        let mut sum = [own.len() as i64 / 3];
        comm.sum(&mut sum)?;
        total = Some(sum[0]);
        if sum[0] <= MOST_EDGES {
            gathered = Some(comm.gather(&own)?);
        }
    }
    let shape = Shape::DistGraph { edges: total, weighted };
    place(comm, course, (size, shape), |layout| {
        let words = gathered?;
        let edges = words.chunks_exact(3).map(|e| (e[0] as u32, e[1] as u32, i64::from(e[2])));
        let graph = Csr::from_edges(size as usize, edges);
        Some(Planned::of_graph(&graph, layout, course, &terms.options))
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
    let head = [into.degree(), away.degree()];
    let words = [&head[..], &into.ranks, &away.ranks, &into.weights, &away.weights].concat();
    let words = made.send_receive(old_rank, &words, seat.edges_from)?;
    let (head, mut rest) = words.split_at(2);
    let mut take = |length: i32| -> Box<[i32]> {
        let (taken, left) = rest.split_at((length as usize).min(rest.len()));
        rest = left;
        taken.into()
    };
    let ranks = [take(head[0]), take(head[1])];
    let weights = [take(head[0]), take(head[1])];
    let [into, away] = ranks;
    let [weights_into, weights_away] = weights;
    Ok(DistGraph {
        sources: Edges { ranks: into, weights: weights_into },
        destinations: Edges { ranks: away, weights: weights_away },
        weighted: own.weighted,
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

/// Whether every edge is given alike at both ends, by one small reduction: numbers made of the
/// edges are added where they arrive and subtracted where they leave. In 2^40 cases of edges that
/// do not match, one passes.
fn edges_match<C: Comm>(comm: &C, arguments: &AdjacentArguments<'_>) -> Result<bool, C::Error> {
    // Far below 63 bits, so that a sum over a million ranks fits.
    const BITS: i64 = (1 << 40) - 1;
    let rank = comm.rank()?;
    let add = |ranks: &[i32], weights: Weights<'_>, edge: &dyn Fn(i32) -> (i32, i32)| {
        let weight = |i: usize| weights.entries().get(i).copied().unwrap_or(0);
        let numbers = ranks.iter().enumerate().map(|(i, other)| number(edge(*other), weight(i)));
        numbers.fold(0u64, u64::wrapping_add)
    };
    let arriving = add(arguments.sources, arguments.source_weights, &|other| (other, rank));
    let leaving = add(arguments.destinations, arguments.dest_weights, &|other| (rank, other));
    let mut sum = [arriving.wrapping_sub(leaving) as i64 & BITS];
    comm.sum(&mut sum)?;
    Ok(sum[0] & BITS == 0)
}

/// A number that stands for an edge; the mixing steps are those of the splitmix64 generator.
fn number((source, destination): (i32, i32), weight: i32) -> u64 {
    let mix = |x: u64| {
        let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    mix(mix((source as u64) << 32 | destination as u64).wrapping_add(weight as u64))
}

/// Finds an edge that is not given alike at both ends. Only used once it is known that there is one,
/// and on a communicator of our own.
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
    let mut theirs: Vec<_> = arrived.iter().map(|item| (item.from, item.words[0])).collect();
    let mut own = listed(arguments.sources, arguments.source_weights);
    own.sort_unstable();
    theirs.sort_unstable();
    let count = |list: &[(i32, i32)], edge| list.iter().filter(|e| **e == edge).count();
    let differing = own.iter().chain(&theirs).filter(|e| count(&own, **e) != count(&theirs, **e));
    let fault = differing.min().map(|edge| {
        let weight = match arguments.source_weights.weighted() {
            Some(true) => format!(" of weight {}", edge.1),
            _ => String::new(),
        };
        format!(
            "sources name rank {} {} times{weight}, but destinations on rank {0} name rank {rank} {} times{weight}; each edge must be given at both ends",
            edge.0,
            count(&own, *edge),
            count(&theirs, *edge),
        )
    });
    Ok(first_fault(comm, fault)?.unwrap_or(Error::OnRank {
        rank: 0,
        class: Class::Arg,
        text: "sources and destinations do not name the same edges".into(),
    }))
}
