//! The constructors on simulated processes.

mod agree;
mod collide;
mod differ;
mod host_graph;
mod orders;
mod outcomes;
mod random;
mod siblings;

use std::cell::Cell;
use std::collections::BTreeMap;

use super::arguments::{
    AdjacentArguments, CartArguments, EdgeArguments, EdgeWeights, GraphArguments,
};
use super::check::Check;
use super::create::{cart_create, cart_sub, graph_create};
use super::decision::CallSettings;
use super::dist_graph::{dist_graph_create, dist_graph_create_adjacent};
use super::policy::Reorder;
use super::sim::{self, Sim};
use super::{Comm, Error};
use crate::topology::{self, Cart, Class, DistGraph, Graph, Topology};

thread_local! {
    /// True on a thread where every digest collides with every other.
    pub(super) static COLLIDING: Cell<bool> = const { Cell::new(false) };
}

type Member = Option<(Sim, Topology)>;
type Result<T, E = Error> = core::result::Result<T, E>;

/// The error on which all ranks agree; it must be equal on all.
fn fault(results: Vec<Result<Member>>) -> (i32, Class, String) {
    let faults: Vec<Error> = results.into_iter().map(|result| result.err().unwrap()).collect();
    assert!(faults.iter().all(|fault| *fault == faults[0]), "{faults:?}");
    match faults[0].clone() {
        Error::OnRank { rank, class, text } => (rank, class, text),
        Error::Here(_) => panic!("a fault that others do not know of"),
    }
}

/// The settings of a program that is known to follow its new ranks.
fn known() -> CallSettings {
    CallSettings { reorder: Reorder::On, ..CallSettings::default() }
}

fn cart(comm: &Sim, dims: &[i32], periods: &[bool], reorder: bool) -> Result<Member> {
    let arguments = CartArguments { dims, periods, reorder };
    cart_create(comm, comm, known(), Ok(arguments)).map(|made| made.member)
}

fn graph(comm: &Sim, index: &[i32], edges: &[i32]) -> Result<Member> {
    let arguments = GraphArguments { index, edges, reorder: false };
    graph_create(comm, comm, CallSettings::default(), Ok(arguments)).map(|made| made.member)
}

#[test]
fn a_grid_leaves_out_surplus_processes() {
    for (size, dims) in [(1, vec![]), (4, vec![]), (6, vec![2, 3]), (7, vec![2, 3]), (5, vec![1])] {
        let periods = vec![true; dims.len()];
        let made = sim::run(size, |comm| {
            let made = cart(comm, &dims, &periods, true).unwrap();
            made.map(|(new, topology)| (new.rank().unwrap(), new.size().unwrap(), topology))
        });
        let grid = Cart::new(&dims, &periods, size).unwrap();
        for (rank, made) in (0..).zip(made) {
            let expected =
                (rank < grid.size()).then(|| (rank, grid.size(), Topology::Cart(grid.clone())));
            assert_eq!(made, expected);
        }
    }
}

#[test]
fn a_grid_splits_into_its_parts() {
    let grid = Cart::new(&[2, 3, 4], &[true, false, true], 24).unwrap();
    for (remain, parts, size) in [([true, false, true], 3, 8), ([false, false, true], 6, 4)] {
        let made = sim::run(24, |comm| {
            let (new, topology) =
                cart_sub(comm, comm, Ok((&grid, &remain))).unwrap().member.unwrap();
            assert_eq!(new.size().unwrap(), size);
            let Topology::Cart(sub) = topology else { panic!("a part of a grid is a grid") };
            let rank = new.rank().unwrap();
            // The kept coordinates are those of the process in the grid.
            let (mut old, mut kept) = ([0; 3], vec![0; sub.ndims()]);
            grid.coords(comm.rank().unwrap(), &mut old).unwrap();
            sub.coords(rank, &mut kept).unwrap();
            let expected: Vec<i32> = (0..3).filter(|i| remain[*i]).map(|i| old[i]).collect();
            assert_eq!(kept, expected);
            rank
        });
        assert_eq!(made.iter().filter(|rank| **rank == 0).count(), parts);
    }
}

#[test]
fn a_graph_leaves_out_surplus_processes() {
    let made = sim::run(5, |comm| {
        graph(comm, &[1, 1, 3], &[2, 0, 0])
            .unwrap()
            .map(|(new, topology)| (new.rank().unwrap(), topology))
    });
    let expected = Topology::Graph(Graph::new(&[1, 1, 3], &[2, 0, 0]).unwrap());
    for (rank, made) in (0..).zip(made) {
        assert_eq!(made, (rank < 3).then(|| (rank, expected.clone())));
    }
    assert!(sim::run(3, |comm| graph(comm, &[], &[]).unwrap().is_none()).into_iter().all(|x| x));
}

#[test]
fn ranks_are_kept_if_no_rank_is_left_out() {
    for size in [4, 5] {
        let kept = sim::run(size, |comm| {
            let settings = CallSettings::default;
            let grid = CartArguments { dims: &[2, 2], periods: &[false; 2], reorder: false };
            let graph =
                GraphArguments { index: &[1, 2, 3, 4], edges: &[1, 2, 3, 0], reorder: false };
            let grid = cart_create(comm, comm, settings(), Ok(grid)).unwrap();
            let graph = graph_create(comm, comm, settings(), Ok(graph)).unwrap();
            [grid.keeps_ranks, graph.keeps_ranks]
        });
        assert!(kept.into_iter().all(|kept| kept == [size == 4; 2]), "{size}");
    }
}

#[test]
fn a_fault_on_one_rank_is_known_to_all() {
    for wrong in 0..4 {
        let faults = fault(sim::run(4, |comm| {
            let dims = if comm.rank() == Ok(wrong) { [3, 2] } else { [2, 2] };
            cart(comm, &dims, &[false; 2], false)
        }));
        let text = "dims make a grid of 6 processes, but comm has only 4".to_owned();
        assert_eq!(faults, (wrong, Class::Arg, text));
        let faults = fault(sim::run(4, |comm| {
            if comm.rank() == Ok(wrong) {
                let fault = topology::Error::NullPointer { argument: "periods" };
                cart_create(comm, comm, CallSettings::default(), Err(fault)).map(|made| made.member)
            } else {
                cart(comm, &[2, 2], &[false; 2], false)
            }
        }));
        assert_eq!(faults, (wrong, Class::Arg, "periods is a null pointer".to_owned()));
    }
}

#[test]
fn arguments_that_differ_are_named() {
    let on_2 = |call: &(dyn Fn(&Sim, bool) -> Result<Member> + Sync)| {
        let (rank, class, text) = fault(sim::run(4, |comm| call(comm, comm.rank() == Ok(2))));
        assert_eq!((rank, class), (2, Class::Arg));
        text
    };
    let same = "it must be the same on all ranks";
    let none = [false; 2];
    assert_eq!(
        on_2(&|comm, odd| cart(comm, if odd { &[1, 4] } else { &[4, 1] }, &none, false)),
        format!("dims[0] is 1, but 4 on rank 0; {same}")
    );
    assert_eq!(
        on_2(&|comm, odd| cart(
            comm,
            if odd { &[2] } else { &[2, 1] },
            &none[odd as usize..],
            false
        )),
        format!("ndims is 1, but 2 on rank 0; {same}")
    );
    assert_eq!(
        on_2(&|comm, odd| cart(comm, &[2, 2], &none, odd)),
        format!("reorder is 1, but 0 on rank 0; {same}")
    );
    assert_eq!(
        on_2(&|comm, odd| if odd { graph(comm, &[0], &[]) } else { graph(comm, &[0, 0], &[]) }),
        format!("nnodes is 1, but 2 on rank 0; {same}")
    );
    assert_eq!(
        on_2(&|comm, odd| {
            if odd { graph(comm, &[1, 2], &[1, 0]) } else { cart(comm, &[2, 2], &none, false) }
        }),
        "calls MPI_Graph_create while rank 0 calls MPI_Cart_create"
    );
}

/// A small generator of pseudo-random numbers, the same on every rank.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i32) -> i32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % limit as u64) as i32
    }
}

/// Edges (giver, source, destination, weight) of a random graph with loops and multiple edges.
fn random_edges(seed: u64, size: i32) -> Vec<[i32; 4]> {
    let mut random = Random(seed);
    (0..random.below(4 * size))
        .map(|_| [random.below(size), random.below(size), random.below(size), random.below(3)])
        .collect()
}

/// The edges that a rank knows of a graph: the list of its edges in either direction, by giver.
fn expected(edges: &[[i32; 4]], rank: i32, size: i32, weighted: bool) -> DistGraph {
    let list = |end: usize| {
        let by_giver = (0..size).flat_map(|giver| edges.iter().filter(move |e| e[0] == giver));
        let own: Vec<_> = by_giver.filter(|edge| edge[end] == rank).collect();
        topology::Edges {
            ranks: own.iter().map(|edge| edge[3 - end]).collect(),
            weights: own.iter().filter(|_| weighted).map(|edge| edge[3]).collect(),
        }
    };
    DistGraph { sources: list(2), destinations: list(1), weighted }
}

#[test]
fn every_edge_reaches_its_two_ends() {
    for seed in 0..60 {
        let size = 1 + seed as i32 % 9;
        let (edges, weighted) = (random_edges(seed, size), seed % 2 == 0);
        // The list of ends is edge[1] and edge[2]; `expected` finds the other end at 3 - end.
        let by_create = sim::run(size, |comm| {
            let rank = comm.rank().unwrap();
            let own: Vec<_> = edges.iter().filter(|edge| edge[0] == rank).collect();
            let column = |i: usize| -> Vec<i32> { own.iter().map(|edge| edge[i]).collect() };
            let (sources, destinations, weights) = (column(1), column(2), column(3));
            let arguments = EdgeArguments {
                sources: &sources,
                degrees: &vec![1; own.len()],
                destinations: &destinations,
                weights: if weighted {
                    EdgeWeights::Given(&weights)
                } else {
                    EdgeWeights::Unweighted
                },
                reorder: true,
            };
            dist_graph_create(comm, comm, CallSettings::default(), Ok(arguments))
                .unwrap()
                .member
                .unwrap()
                .1
        });
        let by_adjacent = sim::run(size, |comm| {
            let graph = expected(&edges, comm.rank().unwrap(), size, weighted);
            let weights = |edges: &'static topology::Edges| match weighted {
                true => EdgeWeights::Given(&edges.weights),
                false => EdgeWeights::Unweighted,
            };
            let graph: &'static DistGraph = Box::leak(Box::new(graph));
            let arguments = AdjacentArguments {
                sources: &graph.sources.ranks,
                source_weights: weights(&graph.sources),
                destinations: &graph.destinations.ranks,
                dest_weights: weights(&graph.destinations),
                reorder: false,
            };
            dist_graph_create_adjacent(comm, comm, CallSettings::default(), Ok(arguments))
                .unwrap()
                .member
                .unwrap()
                .1
        });
        for rank in 0..size {
            let expected = Topology::DistGraph(expected(&edges, rank, size, weighted));
            assert_eq!(by_create[rank as usize], expected, "seed {seed} rank {rank}");
            assert_eq!(by_adjacent[rank as usize], expected, "seed {seed} rank {rank}");
        }
    }
}

#[test]
fn degrees_determine_the_source_of_an_edge() {
    let made = sim::run(3, |comm| {
        let root = comm.rank() == Ok(0);
        let arguments = EdgeArguments {
            sources: if root { &[2, 1, 0, 2] } else { &[] },
            degrees: if root { &[1, 0, 2, 1] } else { &[] },
            destinations: if root { &[0, 1, 2, 2] } else { &[] },
            weights: if root { EdgeWeights::Given(&[5, 6, 7, 8]) } else { EdgeWeights::Either },
            reorder: false,
        };
        dist_graph_create(comm, comm, CallSettings::default(), Ok(arguments))
            .unwrap()
            .member
            .unwrap()
            .1
    });
    let edges = [[0, 2, 0, 5], [0, 0, 1, 6], [0, 0, 2, 7], [0, 2, 2, 8]];
    for (rank, made) in (0..).zip(made) {
        assert_eq!(made, Topology::DistGraph(expected(&edges, rank, 3, true)));
    }
}

/// Runs the adjacent constructor, with all checks, on lists (sources, their weights, destinations, their
/// weights).
fn adjacent(lists: &[[&[i32]; 4]], weighted: bool) -> Vec<Result<Member>> {
    sim::run(lists.len() as i32, |comm| {
        let [sources, source_weights, destinations, dest_weights] =
            lists[comm.rank().unwrap() as usize];
        let weights = |w| if weighted { EdgeWeights::Given(w) } else { EdgeWeights::Unweighted };
        let arguments = AdjacentArguments {
            sources,
            source_weights: weights(source_weights),
            destinations,
            dest_weights: weights(dest_weights),
            reorder: false,
        };
        let settings = CallSettings { check: Check::ALL, ..CallSettings::default() };
        dist_graph_create_adjacent(comm, comm, settings, Ok(arguments)).map(|made| made.member)
    })
}

#[test]
fn unmatched_ends_are_named() {
    let must = "each edge must be given at both ends";
    // Rank 1 sends to rank 0, which does not list the edge.
    let (rank, class, text) =
        fault(adjacent(&[[&[], &[], &[], &[]], [&[], &[], &[0], &[]]], false));
    assert_eq!((rank, class), (0, Class::Arg));
    let expected = format!(
        "sources name rank 1 0 times, but destinations on rank 1 name rank 0 1 times; {must}"
    );
    assert_eq!(text, expected);
    // The same edge with another weight at each end.
    let lists: [[&[i32]; 4]; 2] = [[&[], &[], &[1], &[3]], [&[0], &[4], &[], &[]]];
    let (rank, _, text) = fault(adjacent(&lists, true));
    assert_eq!(rank, 1);
    assert!(text.contains("1 times of weight 4") || text.contains("1 times of weight 3"), "{text}");
    // Equal without weights, and with equal weights.
    assert!(adjacent(&lists, false).into_iter().all(|made| made.is_ok()));
    let lists: [[&[i32]; 4]; 2] = [[&[], &[], &[1, 1], &[3, 4]], [&[0, 0], &[4, 3], &[], &[]]];
    assert!(adjacent(&lists, true).into_iter().all(|made| made.is_ok()));
    // One of two equal edges is missing at one end.
    let lists: [[&[i32]; 4]; 2] = [[&[], &[], &[1, 1], &[3, 3]], [&[0], &[3], &[], &[]]];
    let (_, _, text) = fault(adjacent(&lists, true));
    assert!(text.contains("1 times of weight 3, but destinations on rank 0 name rank 1 2 times"));
}

#[test]
fn weights_on_some_ranks_are_an_error() {
    let create = |chosen: BTreeMap<i32, EdgeWeights<'static>>| {
        sim::run(4, |comm| {
            let weights = chosen.get(&comm.rank().unwrap()).copied().unwrap_or(EdgeWeights::Either);
            let arguments = EdgeArguments {
                sources: &[],
                degrees: &[],
                destinations: &[],
                weights,
                reorder: false,
            };
            dist_graph_create(comm, comm, CallSettings::default(), Ok(arguments))
                .map(|made| made.member)
        })
    };
    let weighted = |made: Vec<Result<Member>>| -> Vec<bool> {
        made.into_iter()
            .map(|made| match made.unwrap().unwrap().1 {
                Topology::DistGraph(graph) => graph.weighted,
                _ => panic!("a distributed graph"),
            })
            .collect()
    };
    let given = EdgeWeights::Given(&[]);
    assert_eq!(weighted(create(BTreeMap::from([(2, given)]))), [true; 4]);
    assert_eq!(weighted(create(BTreeMap::from([(2, EdgeWeights::Unweighted)]))), [false; 4]);
    assert_eq!(weighted(create(BTreeMap::new())), [true; 4]);
    let both = "it must be one or the other on all ranks";
    let (rank, class, text) =
        fault(create(BTreeMap::from([(1, given), (3, EdgeWeights::Unweighted)])));
    assert_eq!((rank, class), (3, Class::Arg));
    assert_eq!(text, format!("weights is MPI_UNWEIGHTED, but given on rank 1; {both}"));
    let (rank, _, text) = fault(create(BTreeMap::from([(0, EdgeWeights::Unweighted), (2, given)])));
    assert_eq!(rank, 2);
    assert_eq!(text, format!("weights is given, but MPI_UNWEIGHTED on rank 0; {both}"));
}
