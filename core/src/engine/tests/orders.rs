//! No order of messages makes a process wait forever: constructors and neighborhood collectives of all topologies on
//! few processes, of which up to two make a different call.
//!
//! Up to three processes here; `make lab-orders` runs four and five.

mod collectives;
mod steps;

use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;

use self::collectives::collectives;
use self::steps::{Recorded, Step, Waiting, all_end, explore, record};
use super::*;
use crate::engine::calls::{ConstructorCall, make};
use crate::engine::policy::Reorder;
use crate::engine::sim::HostGraph;
use crate::machine::Machine;

/// Counts the searched steps and states. Up to three processes have few enough states to search all of them; known
/// steps are not searched again.
#[derive(Default)]
struct Explored {
    runs: usize,
    steps: usize,
    states: usize,
    known: HashSet<Vec<Vec<Step>>>,
}

impl Explored {
    fn add(&mut self, steps: Vec<Vec<Step>>) {
        assert!(all_end(&steps), "a deadlock of {steps:?}");
        self.steps += 1;
        if steps.len() <= 3 && !self.known.contains(&steps) {
            self.states += explore(&steps).expect("all orders end, as one does");
            self.known.insert(steps);
        }
    }

    fn tell(&self, what: &str) {
        let Self { runs, steps, states, known } = self;
        println!(
            "{what}: {runs} runs, {steps} lists of steps; {states} states of {} different ones",
            known.len()
        );
    }
}

/// A row of `size` processes, which `MPI_Cart_sub` splits.
fn row(size: usize) -> Cart {
    Cart::new(&[1, size as i32], &[true, false], size as i32).unwrap()
}

/// The circumstances of a constructor: two nodes or unknown nodes, all rules checked or none, colliding digests or not.
#[derive(Debug, Clone, Copy)]
struct Around {
    nodes: bool,
    check: bool,
    colliding: bool,
    host_graph: HostGraph,
}

const PLAIN: Around =
    Around { nodes: false, check: false, colliding: false, host_graph: HostGraph::Nowhere };

const ALL_AROUND: [Around; 6] = [
    PLAIN,
    Around { nodes: true, ..PLAIN },
    Around { check: true, ..PLAIN },
    Around { colliding: true, ..PLAIN },
    Around { host_graph: HostGraph::WhereRepeated, ..PLAIN },
    Around { nodes: true, check: true, colliding: true, host_graph: HostGraph::Everywhere },
];

/// Each process makes its call, and every order of messages ends.
fn try_all_orders(explored: &mut Explored, around: Around, calls: &[&ConstructorCall]) {
    let size = calls.len();
    let grid = row(size);
    let settings = CallSettings {
        reorder: Reorder::All,
        check: if around.check { Check::ALL } else { Check::default() },
        ..CallSettings::default()
    };
    let machine = around.nodes.then(|| Machine::from_ids(&[0, 1, 0, 1, 0][..size]));
    let (results, taken) = record(machine, size, |comm: &Recorded| {
        COLLIDING.set(around.colliding);
        sim::HOST_GRAPH.set(around.host_graph);
        let rank = comm.rank().unwrap() as usize;
        make(comm, settings, &grid, calls[rank]).map(|_| ())
    });
    assert!(results.iter().all(|result| result.is_ok() == results[0].is_ok()), "{calls:?}");
    explored.runs += 1;
    for waiting in [Waiting::Longest, Waiting::Shortest] {
        explored.add(taken.steps(waiting));
    }
}

/// All sides of grids of at most three dimensions with `size` cells.
fn all_dims(size: usize) -> Vec<Vec<i32>> {
    let longer = |dims: &Vec<i32>| -> Vec<Vec<i32>> {
        let room = size as i32 / dims.iter().product::<i32>();
        (1..=room).map(|side| [&dims[..], &[side]].concat()).collect()
    };
    let mut all = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..3 {
        last = last.iter().flat_map(longer).collect();
        all.extend(last.clone());
    }
    all
}

/// The calls of all processes for the graph whose edges are the bits of a number: each process passes the edges that
/// leave it, or the edges that enter it, or process 0 passes all.
fn graphs(size: usize, bits: u64) -> Vec<Vec<ConstructorCall>> {
    let ends: Vec<[i32; 2]> = (0..size * size)
        .filter(|bit| bits >> bit & 1 == 1)
        .map(|bit| [(bit / size) as i32, (bit % size) as i32])
        .collect();
    let others = |rank: i32, side: usize| -> Vec<[i32; 2]> {
        ends.iter().filter(|ends| ends[side] == rank).map(|ends| [ends[1 - side], 1]).collect()
    };
    let ranks = 0..size as i32;
    let index = ranks.clone().scan(0, |sum, rank| {
        *sum += others(rank, 0).len() as i32;
        Some(*sum)
    });
    let edges = ends.iter().map(|ends| ends[1]).collect();
    let graph = ConstructorCall::Graph { index: index.collect(), edges, reorder: true };
    let adjacent = |rank| ConstructorCall::Adjacent {
        into: others(rank, 1),
        away: others(rank, 0),
        weighted: None,
        reorder: true,
    };
    let given = |giver: fn(&[i32; 2]) -> i32| {
        let of = |rank| ConstructorCall::Edges {
            edges: ends.iter().filter(|e| giver(e) == rank).map(|e| [e[0], e[1], 1]).collect(),
            weighted: Some(true),
            reorder: true,
        };
        ranks.clone().map(of).collect()
    };
    vec![
        vec![graph; size],
        ranks.clone().map(adjacent).collect(),
        given(|ends| ends[0]),
        given(|ends| ends[1]),
        given(|_| 0),
    ]
}

/// All grids, all graphs of up to two processes, and every `thinned`-th larger graph.
fn constructors(sizes: RangeInclusive<usize>, thinned: usize) {
    for size in sizes {
        let mut explored = Explored::default();
        for around in ALL_AROUND {
            for (dims, reorder) in all_dims(size).iter().flat_map(|d| [(d, false), (d, true)]) {
                let call = ConstructorCall::Cart {
                    dims: dims.clone(),
                    periods: vec![true; dims.len()],
                    reorder,
                };
                try_all_orders(&mut explored, around, &vec![&call; size]);
            }
            for remain in [[false; 2], [false, true], [true, false], [true; 2]] {
                try_all_orders(
                    &mut explored,
                    around,
                    &vec![&ConstructorCall::Sub { remain }; size],
                );
            }
            let step = if size < 3 { 1 } else { thinned };
            for bits in (0..1u64 << (size * size)).step_by(step) {
                for calls in graphs(size, bits) {
                    try_all_orders(&mut explored, around, &calls.iter().collect::<Vec<_>>());
                }
            }
        }
        explored.tell(&format!("constructors of {size} processes"));
    }
}

/// One call of each kind for any process, and calls that are wrong or differ.
fn any_calls(size: usize) -> Vec<ConstructorCall> {
    let ring = |rank: usize| [((rank + 1) % size) as i32, 1];
    let cart = |dims: Vec<i32>, reorder| ConstructorCall::Cart {
        periods: vec![false; dims.len()],
        dims,
        reorder,
    };
    let adjacent = |weighted| ConstructorCall::Adjacent {
        into: vec![ring(0)],
        away: vec![ring(1)],
        weighted,
        reorder: true,
    };
    let edges = |to: i32| ConstructorCall::Edges {
        edges: vec![[0, to, 1]],
        weighted: Some(true),
        reorder: true,
    };
    vec![
        cart(vec![size as i32], true),
        cart(vec![1], true),
        cart(vec![-1], true),
        ConstructorCall::Graph { index: vec![1], edges: vec![0], reorder: true },
        ConstructorCall::Graph { index: vec![], edges: vec![], reorder: true },
        ConstructorCall::Sub { remain: [true, false] },
        adjacent(Some(true)),
        adjacent(Some(false)),
        edges(0),
        edges(size as i32),
    ]
}

/// All choices of `size` processes if at most two processes choose differently from the others.
fn with_two_others(size: usize, choices: usize) -> BTreeSet<Vec<usize>> {
    let mut all = BTreeSet::new();
    for right in 0..choices {
        for (one, other) in (0..size).flat_map(|one| (one..size).map(move |other| (one, other))) {
            for (first, second) in (0..choices).flat_map(|a| (0..choices).map(move |b| (a, b))) {
                let mut picks = vec![right; size];
                picks[one] = first;
                picks[other] = second;
                all.insert(picks);
            }
        }
    }
    all
}

fn two_wrong(sizes: RangeInclusive<usize>) {
    for size in sizes {
        let mut explored = Explored::default();
        let calls = any_calls(size);
        for around in ALL_AROUND {
            for picks in with_two_others(size, calls.len()) {
                let calls: Vec<&ConstructorCall> = picks.iter().map(|pick| &calls[*pick]).collect();
                try_all_orders(&mut explored, around, &calls);
            }
        }
        explored.tell(&format!("{size} processes, two of which call what they like"));
    }
}

#[test]
fn constructors_of_few_processes_end_in_any_order() {
    constructors(1..=3, 13);
}

#[test]
fn constructors_end_in_any_order_if_two_processes_make_wrong_calls() {
    two_wrong(1..=3);
}

#[test]
fn collectives_of_few_processes_end_in_any_order() {
    collectives(1..=3, 13);
}

#[test]
#[ignore = "minutes: make lab-orders"]
fn constructors_of_up_to_five_processes_end_in_any_order() {
    constructors(1..=3, 1);
    constructors(4..=4, 7);
    constructors(5..=5, 99_991);
}

#[test]
#[ignore = "minutes: make lab-orders"]
fn constructors_of_four_and_five_end_in_any_order_if_two_are_wrong() {
    two_wrong(4..=5);
}

#[test]
#[ignore = "minutes: make lab-orders"]
fn collectives_of_up_to_four_processes_end_in_any_order() {
    collectives(1..=3, 1);
    collectives(4..=4, 1);
}

#[test]
#[ignore = "minutes: make lab-orders"]
fn collectives_of_five_processes_end_in_any_order() {
    collectives(5..=5, 9_973);
}
