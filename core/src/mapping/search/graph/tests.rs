//! Plans of graphs whose best possible cost is known.

use proptest::prelude::*;

use super::subject::lower_bound;
use crate::machine::{LevelKind, Machine};
use crate::mapping::search::rng::Rng;
use crate::mapping::tests::SPENT;
use crate::mapping::tests::{least, planned_graph};
use crate::mapping::{Csr, Distances, Objective, Options, Plan, Stop, plan_graph};

const SUM: Options = Options {
    objective: Objective::Sum,
    seconds: None,
    scramble: None,
    devices: 0,
    distances: Distances::NOT_GIVEN,
    stop: Stop(None),
};
const MAX: Options = Options { objective: Objective::Max, ..SUM };

type Edge = (u32, u32, i64);

fn both_ways(edges: &[Edge]) -> Vec<Edge> {
    edges.iter().flat_map(|(a, b, weight)| [(*a, *b, *weight), (*b, *a, *weight)]).collect()
}

fn graph_of(vertices: usize, edges: &[Edge]) -> Csr {
    Csr::from_edges(vertices, edges.iter().copied())
}

/// The same edges between randomly numbered vertices, except vertex 0, whose process keeps its rank.
fn renumbered(vertices: usize, edges: &[Edge], seed: u64) -> Vec<Edge> {
    let mut number: Vec<u32> = (0..vertices as u32).collect();
    Rng::new(seed).shuffle(&mut number[1..]);
    edges.iter().map(|(a, b, w)| (number[*a as usize], number[*b as usize], *w)).collect()
}

/// The plan, checked, and compared with a second one.
fn check(vertices: usize, edges: &[Edge], machine: &Machine, options: &Options) -> Plan {
    let graph = graph_of(vertices, edges);
    let plan = planned_graph(&graph, machine, options);
    assert_eq!(plan, plan_graph(&graph, machine, options));
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_plan_beats_the_optimum_and_no_bound_exceeds_it(
        edges in prop::collection::vec((0u32..8, 0u32..8, 1i64..10), 1..24),
        sizes in prop_oneof![Just(vec![4, 4]), Just(vec![2, 2, 2, 2]), Just(vec![3, 3, 2]), Just(vec![5, 2, 1])],
    ) {
        // Far more than a search of eight vertices needs.
        let plan = check(8, &edges, &Machine::blocks(&sizes), &Options { seconds: Some(2e-3), ..SUM });
        let best = least(&graph_of(8, &edges), &mut sizes.clone(), &mut Vec::new());
        prop_assert!(plan.lower_bound <= best);
        prop_assert!(best <= plan.after.inter_node_edges);
    }
}

/// A grid of these sides as a graph, with these weights of edges along each dimension.
fn cells(sides: [u32; 3], weights: [i64; 3]) -> Vec<Edge> {
    let all = sides.iter().product();
    let steps = [sides[1] * sides[2], sides[2], 1];
    let along = |i: usize| {
        let next =
            move |cell: u32| (cell / steps[i] % sides[i] + 1 < sides[i]).then(|| cell + steps[i]);
        (0..all).filter_map(move |cell| Some((cell, next(cell)?, weights[i])))
    };
    both_ways(&[0, 1, 2].into_iter().flat_map(along).collect::<Vec<_>>())
}

#[test]
fn graphs_on_many_nodes_are_planned_well() {
    // Squares of 4 x 4 cells have 64,512.
    let graph = graph_of(1 << 16, &cells([256, 256, 1], [1; 3]));
    let plan = plan_graph(&graph, &Machine::blocks(&[16; 4096]), &SUM);
    assert!(plan.after.inter_node_edges <= 80_000, "{:?}", plan.after);
}

#[test]
fn no_node_gets_more_than_the_busiest_had() {
    let graph = graph_of(720, &cells([10, 9, 8], [1, 1, 8]));
    // Parts with fewer edges are found, one of them with 96.
    let plan = planned_graph(&graph, &Machine::blocks(&[36; 20]), &Options::default());
    assert_eq!(plan.before.max_node_edges, 88);
    assert!(plan.after.max_node_edges <= plan.before.max_node_edges, "{:?}", plan.after);
}

#[test]
fn cliques_of_the_size_of_a_node_are_found_in_any_numbering() {
    let cliques = |sizes: &[usize]| {
        let (mut edges, mut first) = (Vec::new(), 0u32);
        for size in sizes {
            let end = first + *size as u32;
            edges.extend((first..end).flat_map(|a| (first..end).map(move |b| (a, b, 1))));
            first = end;
        }
        edges
    };
    let many: [&[usize]; 5] = [
        &[8; 64],
        &[5; 59],
        &[48; 40],
        &[12, 3, 7, 7, 1, 20, 2],
        &[9, 9, 9, 5, 5, 5, 5, 2, 2, 2, 1],
    ];
    for sizes in many {
        let vertices = sizes.iter().sum();
        for seed in 0..3 {
            let edges = renumbered(vertices, &cliques(sizes), seed);
            let plan = check(vertices, &edges, &Machine::blocks(sizes), &SUM);
            assert_eq!(plan.after.inter_node_edges, 0, "{sizes:?}, seed {seed}");
        }
    }
}

#[test]
fn paths_and_rings_are_cut_once_per_node() {
    for (nodes, size) in [(2, 8), (7, 9), (32, 16), (59, 5)] {
        let count = (nodes * size) as u32;
        let path: Vec<Edge> = (1..count).map(|i| (i - 1, i, 3)).collect();
        for (ring, best) in [(false, 6 * (nodes as i64 - 1)), (true, 6 * nodes as i64)] {
            let mut edges = path.clone();
            edges.extend(ring.then_some((count - 1, 0, 3)));
            let edges = renumbered(nodes * size, &both_ways(&edges), 5);
            let plan = check(nodes * size, &edges, &Machine::blocks(&vec![size; nodes]), &SUM);
            assert_eq!(plan.after.inter_node_edges, best, "{nodes} of {size}, ring {ring}");
        }
    }
}

#[test]
fn nested_communities_are_kept_whole() {
    // 8 groups of 4 teams of 6: all members of a team are connected, the teams of a group form a ring, and so do the
    // groups. Nodes have the size of a team.
    let mut edges: Vec<Edge> = Vec::new();
    for team in 0..32u32 {
        let all = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b)));
        edges.extend(all.map(|(a, b)| (team * 6 + a, team * 6 + b, 10)));
        edges.push((team * 6, (team / 4 * 4 + (team + 1) % 4) * 6 + 1, 4));
        if team % 4 == 0 {
            edges.push((team * 6 + 3, (team + 4) % 32 * 6 + 4, 1));
        }
    }
    let edges = renumbered(192, &both_ways(&edges), 3);
    let plan = check(192, &edges, &Machine::blocks(&[6; 32]), &SUM);
    assert_eq!(plan.after.inter_node_edges, 2 * (32 * 4 + 8));
    let plan = check(192, &edges, &Machine::blocks(&[24; 8]), &SUM);
    assert_eq!(plan.after.inter_node_edges, 2 * 8);
}

#[test]
fn degenerate_graphs_are_planned() {
    let blocks = |sizes: &[usize]| Machine::blocks(sizes);
    assert_eq!(check(0, &[], &blocks(&[2, 2]), &SUM).after.inter_node_edges, 0);
    assert_eq!(check(1, &[], &blocks(&[1]), &SUM).old_rank, None);
    assert_eq!(check(1, &[(0, 0, 7)], &blocks(&[1, 3]), &MAX).old_rank, None);
    assert_eq!(check(100, &[], &blocks(&[10; 10]), &SUM).old_rank, None);
    // A star: the hub's node gets as many leaves as it has space for.
    let star: Vec<Edge> = (0..999).map(|leaf| (999, leaf, 1)).collect();
    let plan = check(1000, &both_ways(&star), &blocks(&[990, 10]), &SUM);
    assert_eq!(plan.after.inter_node_edges, 2 * 10);
    assert_eq!(plan.lower_bound, 10);
    // More ranks than vertices: the largest node takes them all.
    let ring: Vec<Edge> = (0..6).map(|i| (i, (i + 1) % 6, 1)).collect();
    let nodes = Machine::from_ids(&[0, 1, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0]);
    let plan = check(6, &ring, &nodes, &SUM);
    assert_eq!(plan.after.inter_node_edges, 0);
    assert!(plan.old_ranks().eq([0, 6, 7, 8, 9, 10]));
}

#[test]
fn huge_weights_are_added_up_without_overflow() {
    let huge = i64::from(i32::MAX) << 20;
    let pairs: Vec<Edge> = (0..64).map(|i| (i, (i + 64) % 128, huge)).collect();
    let plan = check(128, &pairs, &Machine::blocks(&[2; 64]), &SUM);
    assert_eq!((plan.before.inter_node_edges, plan.after.inter_node_edges), (64 * huge, 0));
}

#[test]
fn a_search_uses_its_time_limit() {
    // A mesh of 90,000 vertices, numbered at random; each node has two packages.
    let side = 300u32;
    let vertices = (side * side) as usize;
    let right = (0..side * side).filter(|v| v % side > 0).map(|v| (v - 1, v, 1));
    let down = (side..side * side).map(|v| (v - side, v, 1));
    let edges = renumbered(vertices, &both_ways(&right.chain(down).collect::<Vec<_>>()), 1);
    let graph = graph_of(vertices, &edges);
    let packages: Vec<u64> = (0..vertices as u64).map(|rank| rank / 150 % 2).collect();
    let machine = Machine::blocks(&[300; 300]).with_level(LevelKind::Package, &packages);
    let mut last = i64::MAX;
    for seconds in [0.0, 0.001, 0.01, 0.1, 0.5] {
        SPENT.set(0);
        let plan = plan_graph(&graph, &machine, &Options { seconds: Some(seconds), ..SUM });
        // For the nodes, and then for the levels below them. No share is overdrawn by more than some sweeps over its
        // part: together, a fifth.
        let sweep = vertices + edges.len();
        let allowed = (1.2 * seconds * (super::STEP + 1.0) * 3e8) as usize + 4 * sweep;
        assert!(SPENT.get() <= allowed, "{seconds} s: {} of {allowed} steps", SPENT.get());
        let cost = plan.after.inter_node_edges;
        assert!(cost <= last, "{seconds} s: {cost}, with less time {last}");
        last = cost;
    }
    // In numerical order, nearly all 359,400 edges lead to another node.
    assert!(last < 25_000, "{last}");
}

#[test]
fn coarsened_graphs_are_divided_exactly() {
    // Unconnected rings, with a size other than those of the nodes, which differ.
    let ring = |first: u32| (0..400).map(move |at| (first + at, first + (at + 1) % 400, 1));
    let edges =
        renumbered(20_000, &both_ways(&(0..50).flat_map(|i| ring(400 * i)).collect::<Vec<_>>()), 2);
    let sizes: Vec<usize> = (0..50).map(|node| if node % 2 == 0 { 307 } else { 493 }).collect();
    let options = Options { seconds: Some(0.05), ..SUM };
    let plan = check(20_000, &edges, &Machine::blocks(&sizes), &options);
    // Two edges would suffice for each of 50 nodes, and both directions count.
    assert!(plan.after.inter_node_edges < 800, "{:?}", plan.after);
}

#[test]
fn the_bound_counts_edges_that_must_be_cut() {
    let graph = graph_of(4, &[(0, 1, 5), (0, 2, 3), (0, 3, -1), (1, 0, 2)]);
    assert_eq!(lower_bound(&graph, 1), 9);
    assert_eq!(lower_bound(&graph, 2), 2);
    assert_eq!(lower_bound(&graph, 4), -1);
    assert_eq!(lower_bound(&graph, 0), 9);
}
