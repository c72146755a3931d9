//! Arguments that may differ between ranks, because every host accepts that: each process then keeps its own.

use super::*;
use crate::engine::Reason;
use crate::engine::check::Rule;
use crate::engine::policy::Reorder;
use crate::machine::Machine;
use crate::topology::Edges;

fn checking(check: Check) -> CallSettings {
    CallSettings { check, reorder: Reorder::All, ..CallSettings::default() }
}

/// Ranks round-robin on two nodes, so that reordering a row gains.
fn round_robin() -> Machine {
    Machine::from_ids(&[0, 1, 0, 1])
}

const SAME: &str = "it must be the same on all ranks";

#[test]
fn periods_may_differ() {
    let create = |check, reorder| {
        sim::run_on(Some(round_robin()), 4, |comm| {
            let odd = comm.rank() == Ok(2);
            let arguments = CartArguments { dims: &[4], periods: &[odd], reorder };
            let settings = CallSettings { reporting: true, ..checking(check) };
            cart_create(comm, comm, settings, Ok(arguments))
        })
    };
    for reorder in [false, true] {
        for (rank, made) in (0..).zip(create(Check::default(), reorder)) {
            let made = made.unwrap();
            let (comm, topology) = made.member.unwrap();
            // No process moves: a rank's own arguments are valid only at its own place.
            assert_eq!((comm.rank(), comm.size()), (Ok(rank), Ok(4)));
            let own = Cart::new(&[4], &[rank == 2], 4).unwrap();
            assert_eq!(topology, Topology::Cart(own));
            if let Some(placement) = made.placement {
                assert_eq!(placement.broken, [Rule::Arguments]);
                let outcome = Some(if reorder { Reason::Differing } else { Reason::NotAsked });
                assert_eq!(placement.kept, outcome);
            } else {
                assert!(rank > 0);
            }
        }
    }
    let strict = create(Check::default().with(Rule::Arguments), true);
    let strict = strict.into_iter().map(|made| made.map(|made| made.member)).collect();
    let expected = (2, Class::Arg, format!("periods is 1, but 0 on rank 0; {SAME}"));
    assert_eq!(fault(strict), expected);
}

#[test]
fn graphs_may_differ_in_their_edges_but_not_in_their_size() {
    // Every rank knows only its own neighbors, in a row of four.
    let index = [1, 3, 5, 6];
    let own_edges = |rank: usize| {
        let mut edges = [0; 6];
        let row = [1, 0, 2, 1, 3, 2];
        let first = if rank == 0 { 0 } else { index[rank - 1] as usize };
        edges[first..index[rank] as usize].copy_from_slice(&row[first..index[rank] as usize]);
        edges
    };
    let create = |check: Check| {
        sim::run_on(Some(round_robin()), 4, |comm| {
            let edges = own_edges(comm.rank().unwrap() as usize);
            let arguments = GraphArguments { index: &index, edges: &edges, reorder: true };
            graph_create(comm, comm, checking(check), Ok(arguments)).map(|made| made.member)
        })
    };
    for (rank, made) in (0..).zip(create(Check::default())) {
        let (comm, topology) = made.unwrap().unwrap();
        assert_eq!(comm.rank(), Ok(rank));
        let own = Graph::new(&index, &own_edges(rank as usize)).unwrap();
        assert_eq!(topology, Topology::Graph(own));
    }
    let (rank, _, text) = fault(create(Check::ALL));
    assert_eq!((rank, text), (1, format!("edges[0] is 0, but 1 on rank 0; {SAME}")));
    // The index differs as well; then the same call with this rule checked.
    let create = |check| {
        sim::run(2, move |comm| {
            let index: &[i32] = if comm.rank() == Ok(1) { &[0, 1] } else { &[1, 1] };
            let arguments = GraphArguments { index, edges: &[1], reorder: false };
            graph_create(comm, comm, checking(check), Ok(arguments)).map(|made| made.member)
        })
    };
    assert!(create(Check::default()).into_iter().all(|made| made.unwrap().is_some()));
    let (rank, _, text) = fault(create(Check::ALL));
    assert_eq!((rank, text), (1, format!("index[0] is 0, but 1 on rank 0; {SAME}")));
}

/// The arguments of the ranks of an adjacent graph: sources, destinations, weights of both, reorder.
type Passed<'a> = (&'a [i32], &'a [i32], [EdgeWeights<'a>; 2], bool);

fn adjacent<'a>(
    machine: Option<Machine>,
    check: Check,
    passed: &'a [Passed<'a>],
) -> Vec<Result<(i32, DistGraph)>> {
    sim::run_on(machine, passed.len() as i32, |comm| {
        let (sources, destinations, weights, reorder) = passed[comm.rank().unwrap() as usize];
        let [source_weights, dest_weights] = weights;
        let arguments =
            AdjacentArguments { sources, source_weights, destinations, dest_weights, reorder };
        let made = dist_graph_create_adjacent(comm, comm, checking(check), Ok(arguments))?;
        let (comm, topology) = made.member.unwrap();
        let Topology::DistGraph(graph) = topology else { panic!("a distributed graph") };
        assert_eq!(comm.size(), Ok(passed.len() as i32));
        Ok((comm.rank().unwrap(), graph))
    })
}

/// The topology that a rank keeps, built from its arguments.
fn kept((sources, destinations, weights, _): &Passed<'_>) -> DistGraph {
    let edges = |ranks: &[i32], weights: EdgeWeights<'_>| Edges {
        ranks: ranks.into(),
        weights: match weights {
            EdgeWeights::Given(entries) => entries.into(),
            _ => Box::default(),
        },
    };
    DistGraph {
        sources: edges(sources, weights[0]),
        destinations: edges(destinations, weights[1]),
        weighted: !matches!(weights[0], EdgeWeights::Unweighted),
    }
}

const NO_WEIGHTS: [EdgeWeights<'static>; 2] = [EdgeWeights::Unweighted; 2];

#[test]
fn edges_may_be_passed_at_one_end_only() {
    let passed: [Passed<'_>; 3] = [
        (&[], &[1, 2], NO_WEIGHTS, false),
        (&[0, 2], &[], NO_WEIGHTS, false),
        (&[1], &[1, 0], NO_WEIGHTS, false),
    ];
    for (rank, made) in (0..).zip(adjacent(None, Check::default(), &passed)) {
        assert_eq!(made.unwrap(), (rank, kept(&passed[rank as usize])));
    }
    for check in [Check::ALL, Check::default().with(Rule::Edges)] {
        let made = adjacent(None, check, &passed);
        assert!(made.iter().all(|made| made.is_err() && made == &made.clone()));
    }
}

#[test]
fn mismatched_lists_stay_with_their_vertex() {
    // A row that is round-robin on two nodes: one end does not pass an edge, weights differ, and rank 1 passes none.
    let weights = |entries| [EdgeWeights::Given(entries); 2];
    let passed: [Passed<'_>; 4] = [
        (&[1], &[1], weights(&[7]), true),
        (&[0, 2], &[0, 2], NO_WEIGHTS, true),
        (&[1, 3], &[1, 3], weights(&[2, 9]), true),
        (&[], &[2], [EdgeWeights::Given(&[]), EdgeWeights::Given(&[4])], true),
    ];
    let made = adjacent(Some(round_robin()), Check::default(), &passed);
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    assert!((0..).zip(&made).any(|(old, (new, _))| old != *new), "no process was moved");
    for (new, graph) in made {
        assert_eq!(graph, kept(&passed[new as usize]), "vertex {new}");
    }
}

#[test]
fn some_ranks_may_pass_no_weights() {
    let given = [EdgeWeights::Given(&[5]); 2];
    let passed: [Passed<'_>; 3] = [
        (&[0], &[0], NO_WEIGHTS, false),
        (&[1], &[1], given, false),
        (&[], &[], [EdgeWeights::Either; 2], false),
    ];
    for (rank, made) in (0..).zip(adjacent(None, Check::default(), &passed)) {
        assert_eq!(made.unwrap(), (rank, kept(&passed[rank as usize])));
    }
    let made = adjacent(None, Check::default().with(Rule::Weights), &passed);
    let text = "sourceweights is given, but MPI_UNWEIGHTED on rank 0; it must be one or the other on all ranks";
    let expected = Error::OnRank { rank: 1, class: Class::Arg, text: text.into() };
    assert!(made.into_iter().all(|made| made == Err(expected.clone())));
}

#[test]
fn one_rank_without_reorder_keeps_all_ranks() {
    let row = |reorder: [bool; 4]| -> Vec<i32> {
        let passed: [Passed<'_>; 4] = [
            (&[1], &[1], NO_WEIGHTS, reorder[0]),
            (&[0, 2], &[0, 2], NO_WEIGHTS, reorder[1]),
            (&[1, 3], &[1, 3], NO_WEIGHTS, reorder[2]),
            (&[2], &[2], NO_WEIGHTS, reorder[3]),
        ];
        let made = adjacent(Some(round_robin()), Check::default(), &passed);
        made.into_iter().map(|made| made.unwrap().0).collect()
    };
    assert_ne!(row([true; 4]), [0, 1, 2, 3]);
    assert_eq!(row([true, true, false, true]), [0, 1, 2, 3]);
}

#[test]
fn rank_0_decides_the_checks() {
    for strict in 0..3 {
        let made = sim::run(3, |comm| {
            let rank = comm.rank().unwrap();
            let check = if rank == strict { Check::ALL } else { Check::default() };
            let arguments = AdjacentArguments {
                sources: &[],
                source_weights: EdgeWeights::Unweighted,
                destinations: &[0],
                dest_weights: EdgeWeights::Unweighted,
                reorder: false,
            };
            dist_graph_create_adjacent(comm, comm, checking(check), Ok(arguments)).is_ok()
        });
        assert_eq!(made, [strict != 0; 3]);
    }
}

#[test]
fn the_report_counts_edges_that_do_not_match() {
    for (matching, expected) in [(true, vec![]), (false, vec![Rule::Edges])] {
        let placement = sim::run_on(Some(round_robin()), 4, |comm| {
            let rank = comm.rank().unwrap();
            let next = [(rank + 1) % 4];
            let arguments = AdjacentArguments {
                sources: if matching { &[(rank + 3) % 4] } else { &next },
                source_weights: EdgeWeights::Unweighted,
                destinations: &next,
                dest_weights: EdgeWeights::Unweighted,
                reorder: false,
            };
            let settings = CallSettings { reporting: true, ..CallSettings::default() };
            dist_graph_create_adjacent(comm, comm, settings, Ok(arguments)).unwrap().placement
        });
        assert_eq!(placement[0].as_ref().unwrap().broken, expected);
    }
}

/// Counting each entry in both lists took 8.6 s at this degree.
#[test]
fn a_mismatched_edge_among_many_is_found_quickly() {
    let degree = 40_000;
    let sources: Vec<i32> = (0..degree).map(|i| i % 2).collect();
    let mut destinations = sources.clone();
    destinations[degree as usize / 2] ^= 1;
    let started = std::time::Instant::now();
    let (from, to) = (&sources[..], &destinations[..]);
    let passed: [Passed<'_>; 2] = [(from, from, NO_WEIGHTS, false), (from, to, NO_WEIGHTS, false)];
    let made = adjacent(None, Check::default().with(Rule::Edges), &passed);
    let text = "sources name rank 1 20000 times, but destinations on rank 1 name rank 0 19999 times; each edge must be given at both ends";
    let expected = Error::OnRank { rank: 0, class: Class::Arg, text: text.into() };
    assert!(made.into_iter().all(|made| made == Err(expected.clone())));
    assert!(started.elapsed().as_secs_f64() < 2.0, "{:?}", started.elapsed());
}
