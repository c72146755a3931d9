//! The constructors of distributed graphs: MPI 4.1, 8.5.4.
//!
//! Time and memory are O(degree + log P) here, plus the cost of the host's split. Only if ranks may be reordered does
//! rank 0 gather the whole graph, up to [`MOST_EDGES`].

use super::advisor::Advisor;
use super::agree::{Agreement, Collectives, agree};
use super::arguments::{AdjacentArguments, Argument, EdgeArguments, EdgeWeights, Function, Shared};
use super::assign_ranks::{Assignment, Placement, PlacementInput, assign_ranks};
use super::check::Rule;
use super::comm::{Comm, keep};
use super::contribution::{Choice, Contribution, Neighbors};
use super::create::{Created, split_members};
use super::decision::{CallSettings, ReorderRequest};
use super::edge_match::{check_edges, imbalance, is_balanced};
use super::exchange::{Item, deliver};
use super::planned::{AllEdges, Shape};
use crate::topology::{self, DistGraph, Edges, Topology};

/// The largest number of edges that rank 0 gathers to plan a mapping: 12 bytes each in messages, 40 while it
/// plans.
pub const MOST_EDGES: i64 = 1 << 24;

/// Agrees that all ranks are in `function`, have the same `reorder`, and either all or none have weights. Some
/// neighbors of this rank may be `repeated`. Returns a communicator of all processes, the agreement, and whether this
/// rank's edges are weighted.
fn agree_on<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    function: Function,
    fault: Option<topology::Error>,
    request: ReorderRequest,
    weighted: Option<bool>,
    repeated: &dyn Fn() -> bool,
) -> Result<(C, Agreement, bool), C::Error> {
    let reorder = [i32::from(request.reorder)];
    // If ranks differ: for the adjacent graph, hosts let each process keep its own choice; for the other, some hosts
    // hang.
    let (tolerated, argument, reorder) = match function {
        Function::DistGraphCreateAdjacent => {
            (true, "sourceweights", Argument::tolerated("reorder", &reorder))
        }
        _ => (false, "weights", Argument::exact("reorder", &reorder)),
    };
    let chosen = weighted.map(usize::from);
    let size = comm.size()?;
    let neighbors = fault.is_none().then_some(Neighbors { processes: size, repeated });
    let contribution = Contribution {
        fault,
        shared: Shared { function, arguments: &[reorder] },
        vertices: Some(size),
        request: Some(request),
        choice: Some(Choice { argument, ways: ["MPI_UNWEIGHTED", "given"], chosen, tolerated }),
        neighbors,
    };
    let (all, agreed) = agree(comm, advisor, contribution)?;
    // If no rank passes either, there are no edges, so the number of weights, 0, equals that of the edges.
    let weighted = agreed.way != Some(0);
    Ok((all, agreed, weighted))
}

/// `MPI_Dist_graph_create_adjacent`: MPI 4.1, 8.5.4. Collective. Each rank's lists keep their order. Edges that differ
/// at their two ends are an error only if [`Rule::Edges`] is checked.
///
/// # Errors
///
/// The same on every rank: [`OnRank`](super::error::Error::OnRank) for a fault in the arguments of any rank; or an
/// error of the communicator's own methods.
pub fn dist_graph_create_adjacent<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    settings: CallSettings,
    arguments: Result<AdjacentArguments<'_>, topology::Error>,
) -> Result<Created<C>, C::Error> {
    let (rank, size) = (comm.rank()?, comm.size()?);
    let checked = arguments.and_then(|a| a.check(size));
    let (reorder, weighted) = checked.as_ref().map_or((false, None), |(a, w)| (a.reorder, *w));
    let fault = checked.as_ref().err().cloned();
    let function = Function::DistGraphCreateAdjacent;
    let request = request(reorder, settings);
    let repeated = || checked.as_ref().is_ok_and(|(lists, _)| lists.repeats_neighbors());
    let (all, agreed, weighted) =
        agree_on(comm, advisor, function, fault, request, weighted, &repeated)?;
    let collectives = agreed.collectives;
    let (arguments, _) = checked.expect("a fault here would have ended the agreement");

    let alike = match agreed.check.has(Rule::Edges) {
        true => check_edges(&all, &arguments),
        false => Ok(()),
    };
    let (all, ()) = keep(all, alike)?;
    let graph = LocalEdges {
        leaving: || arguments.leaving(rank, weighted),
        imbalance: || imbalance(rank, &arguments),
    };
    let places = place_edges(comm, advisor, agreed, settings, weighted, graph);
    let (all, (assignment, placement)) = keep(all, places)?;
    let made = split_members(comm, all, assignment, size)?.expect("every process has a place");
    let graph = match assignment.moved {
        true => fetch_lists(&made, rank, assignment, &arguments.lists(weighted)),
        false => Ok(arguments.lists(weighted)),
    };
    let (made, graph) = keep(made, graph)?;
    Ok(created((made, graph), assignment, placement, collectives))
}

/// `MPI_Dist_graph_create`: MPI 4.1, 8.5.4. Collective. Every edge goes to its two ends, whose lists are ordered by the
/// rank that passed an edge, and then in the order passed; so the k-th of several edges between two processes is the
/// same edge at both ends.
///
/// # Errors
///
/// Like [`dist_graph_create_adjacent`].
pub fn dist_graph_create<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    settings: CallSettings,
    arguments: Result<EdgeArguments<'_>, topology::Error>,
) -> Result<Created<C>, C::Error> {
    let (rank, size) = (comm.rank()?, comm.size()?);
    let checked = arguments.and_then(|a| a.check(size));
    let (reorder, weighted) =
        checked.as_ref().map_or((false, None), |a| (a.reorder, a.weights.weighted()));
    let (fault, request) = (checked.as_ref().err().cloned(), request(reorder, settings));
    let function = Function::DistGraphCreate;
    let repeated = || checked.as_ref().is_ok_and(EdgeArguments::repeats_edges);
    let (all, agreed, weighted) =
        agree_on(comm, advisor, function, fault, request, weighted, &repeated)?;
    let collectives = agreed.collectives;
    let arguments = checked.expect("a fault here would have ended the agreement");

    let graph = LocalEdges { leaving: || arguments.given(weighted), imbalance: || 0 };
    let places = place_edges(comm, advisor, agreed, settings, weighted, graph);
    let (all, (assignment, placement)) = keep(all, places)?;
    // Uses a new communicator, on which vertex i is rank i and no message meets one of the program's.
    let made = split_members(comm, all, assignment, size)?.expect("every process has a place");
    let items = deliver(&made, arguments.items(rank, weighted));
    let (made, items) = keep(made, items)?;
    let graph = collect(&items, weighted);
    Ok(created((made, graph), assignment, placement, collectives))
}

/// The result on every process, since all have a place.
fn created<C>(
    (made, graph): (C, DistGraph),
    assignment: Assignment,
    placement: Option<Placement>,
    collectives: Collectives,
) -> Created<C> {
    Created {
        member: Some((made, Topology::DistGraph(graph))),
        keeps_ranks: !assignment.moved,
        watched: None,
        placement,
        collectives,
    }
}

/// The request of a constructor of distributed graphs. On a communicator with a topology they are reordered only if the
/// program or the user requests it explicitly.
fn request(reorder: bool, settings: CallSettings) -> ReorderRequest {
    ReorderRequest { reorder, distributed: true, has_topology: false, settings }
}

/// The edges that this rank knows, computed only if needed.
struct LocalEdges<Leaving: FnOnce() -> Vec<i32>, Imbalance: FnOnce() -> i64> {
    /// Edges, each as (from, to, weight), that no other rank passes as well.
    leaving: Leaving,
    /// A number whose sum over all ranks is 0 if both ends of each edge agree.
    imbalance: Imbalance,
}

/// Finds the new rank of every process from the whole graph, which rank 0 gathers.
fn place_edges<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    Agreement { decision, mut broken, .. }: Agreement,
    settings: CallSettings,
    weighted: bool,
    local: LocalEdges<impl FnOnce() -> Vec<i32>, impl FnOnce() -> i64>,
) -> Result<(Assignment, Option<Placement>), C::Error> {
    let size = comm.size()?;
    let (mut total, mut gathered) = (None, None);
    if decision.planning {
        let own = (local.leaving)();
        let mut sums = [own.len() as i64 / 3, (local.imbalance)()];
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
    let shape = Shape::Edges(AllEdges { processes: size, weighted, total, gathered });
    let options = settings.options;
    assign_ranks(comm, advisor, PlacementInput { decision, broken, options, shape })
}

/// After reordering, new rank i has vertex i, whose lists the process with old rank i passed: every process sends its
/// lists on, and receives those of its vertex.
fn fetch_lists<C: Comm>(
    made: &C,
    old_rank: i32,
    assignment: Assignment,
    own: &DistGraph,
) -> Result<DistGraph, C::Error> {
    let (into, away) = (&own.sources, &own.destinations);
    let head = [into.degree(), away.degree(), own.weighted.into()];
    let words = [&head[..], &into.ranks, &away.ranks, &into.weights, &away.weights].concat();
    let words = made.send_receive(old_rank, &words, assignment.edges_from)?;
    let (head, mut rest) = words.split_at(3);
    let mut take = |length: i32| -> Box<[i32]> {
        let (taken, left) = rest.split_at(length as usize);
        rest = left;
        taken.into()
    };
    let [into, away] = [take(head[0]), take(head[1])];
    // Other ranks sent none to a rank that passed MPI_UNWEIGHTED, even if this one passed some.
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
    /// Checks the arguments that this rank can check locally; also returns whether it passes weights.
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

    /// True if a process is a neighbor of this one more than once.
    fn repeats_neighbors(&self) -> bool {
        [self.sources, self.destinations].into_iter().any(|ranks| repeats(ranks.to_vec()))
    }

    /// The lists as they were passed.
    fn lists(&self, weighted: bool) -> DistGraph {
        let edges = |ranks: &[i32], weights: EdgeWeights<'_>| Edges {
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
    /// Checks the arguments that this rank can check locally.
    fn check(self, size: i32) -> Result<Self, topology::Error> {
        use topology::dist_graph::{check_nodes, check_not_negative};
        check_nodes("sources", self.sources, size)?;
        check_nodes("destinations", self.destinations, size)?;
        check_not_negative("weights", self.weights.entries())?;
        Ok(self)
    }

    /// True if this rank passes an edge more than once. Edges from several ranks count as different.
    fn repeats_edges(&self) -> bool {
        repeats(self.edges(false).map(|[from, to, _]| [from, to]).collect())
    }

    /// The edges that this rank passes: (from, to, weight).
    fn edges(&self, weighted: bool) -> impl Iterator<Item = [i32; 3]> + '_ {
        let starts = self.sources.iter().zip(self.degrees);
        let starts = starts.flat_map(|(source, degree)| (0..*degree).map(move |_| *source));
        starts.zip(self.destinations).enumerate().map(move |(i, (source, destination))| {
            [source, *destination, if weighted { self.weights.entries()[i] } else { 1 }]
        })
    }

    /// The edges as numbers, one after the other.
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

/// True if some item occurs more than once.
fn repeats<T: Ord>(mut items: Vec<T>) -> bool {
    items.sort_unstable();
    items.windows(2).any(|two| two[0] == two[1])
}

/// The edges of this process from the items that arrived.
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
