//! The properties of all plans, good or bad, for grids and graphs on machines with and without levels.

use std::cell::Cell;

use proptest::prelude::*;

use super::*;
use crate::machine::{LevelKind, Machine};
use crate::mapping::search::best::plan_by;
use crate::mapping::search::rng::Rng;

thread_local! {
    /// The steps that this thread has used, so that tests can bound a search without a clock.
    pub(super) static SPENT: Cell<usize> = const { Cell::new(0) };
    /// The number of edges that this thread has read, for tests that count the reads of a search.
    pub(super) static READ: Cell<usize> = const { Cell::new(0) };
}

/// A grid of nearest neighbors.
pub(super) fn nearest(dims: &[usize], periodic: &[bool]) -> Grid {
    let stencil = Grid::nearest_neighbors(&vec![1; dims.len()]);
    Grid::new(dims.to_vec(), periodic.to_vec(), stencil)
}

/// All ways to write a number as a product of at most `longest` factors above 1, in every order.
pub(super) fn products(number: usize, longest: usize) -> Vec<Vec<usize>> {
    let mut all = if number == 1 { vec![Vec::new()] } else { Vec::new() };
    let first = (2..=number).filter(|side| longest > 0 && number.is_multiple_of(*side));
    for side in first {
        let rest = products(number / side, longest - 1).into_iter();
        all.extend(rest.map(|rest| [vec![side], rest].concat()));
    }
    all
}

/// Nodes of these sizes below the switches given.
pub(super) fn switched(sizes: &[usize], switch_of: &[u64]) -> Machine {
    let nodes = Machine::blocks(sizes);
    let ids: Vec<u64> = nodes.nodes().iter().map(|node| switch_of[*node as usize]).collect();
    nodes.under(LevelKind::Switch, &ids).unwrap()
}

/// The edges between the groups of each level, and the sum over all edges of the distance of their ends, edge by edge.
fn count(
    graph: &impl Adjacency,
    machine: &Machine,
    ranks: &[i32],
    far: &[i64],
) -> (Vec<Cost>, i128) {
    let mut leaving: Vec<Vec<i64>> =
        machine.levels().iter().map(|level| vec![0; level.groups()]).collect();
    let mut sum = 0;
    for (vertex, rank) in ranks.iter().enumerate() {
        graph.for_each_edge(vertex, |to, weight| {
            let mut crossed = 0;
            for (at, level) in machine.levels().iter().enumerate() {
                let [from, to] = [*rank, ranks[to]].map(|rank| level.group_of[rank as usize]);
                if from != to {
                    leaving[at][from as usize] += weight;
                    crossed += usize::from(at <= machine.above().len());
                }
            }
            sum += if to == vertex { 0 } else { i128::from(weight * far[crossed]) };
        });
    }
    (leaving.iter().map(|leaving| Cost::of_loads(leaving)).collect(), sum)
}

/// Checks all properties of a plan that do not depend on its quality.
fn check(graph: &impl Adjacency, machine: &Machine, options: &Options, plan: Plan) -> Plan {
    let what = || format!("{plan:?} on {:?}", machine.levels());
    let nodes = machine.above().len();
    assert_eq!(plan.vertices as usize, graph.vertices());
    let own: Vec<i32> = (0..plan.vertices).collect();
    let ranks: Vec<i32> = plan.old_ranks().collect();
    // No rank occurs twice, and all exist.
    let mut taken = vec![false; machine.ranks()];
    ranks.iter().for_each(|rank| {
        assert!(!std::mem::replace(&mut taken[*rank as usize], true), "{}", what());
    });
    let far = options.distances.of(nodes);
    let [before, after] = [&own, &ranks].map(|ranks| count(graph, machine, ranks, &far));
    let told = |cost: fn(&LevelCost) -> Cost| plan.levels.iter().map(cost).collect::<Vec<_>>();
    assert_eq!(told(|level| level.before), before.0, "{}", what());
    assert_eq!(told(|level| level.after), after.0, "{}", what());
    assert_eq!((plan.before, plan.after), (before.0[nodes], after.0[nodes]), "{}", what());
    assert_eq!(plan.lower_bound, plan.levels[nodes].lower_bound);
    for level in &plan.levels {
        assert!(level.lower_bound <= level.after.inter_node_edges, "{}", what());
    }
    assert_eq!(plan.weighted.is_some(), nodes > 0);
    if let Some(weighted) = &plan.weighted {
        let told = (&weighted.distances, weighted.before, weighted.after);
        assert_eq!(told, (&far, before.1, after.1), "{}", what());
        assert!(weighted.lower_bound <= weighted.after, "{}", what());
    }
    let key = |(costs, sum): &(Vec<Cost>, i128), time: i128| {
        let sum = if nodes == 0 { costs[0].inter_node_edges.into() } else { *sum };
        let most = costs[nodes].max_node_edges.into();
        let below = costs[nodes + 1..].iter().map(|cost| cost.key(options.objective));
        match options.objective {
            Objective::Max => (most, sum, time, below.collect::<Vec<_>>()),
            _ => (sum, most, time, below.collect()),
        }
    };
    let (before, after) = (key(&before, plan.times[0]), key(&after, plan.times[1]));
    let is_timed = nodes > 0 || machine.torus().is_some();
    match &plan.old_rank {
        None => assert_eq!((after, plan.algorithm), (before, "none"), "{}", what()),
        Some(_) if is_timed && options.objective == Objective::Time => {
            assert!(after.0 <= before.0 && plan.times[1] <= plan.times[0], "{}", what());
        }
        Some(_) => assert!(after < before, "{}", what()),
    }
    assert!(plan.old_rank.is_none() || ranks[0] == 0, "{}", what());
    // On each node, vertices and ranks are in the same ascending order.
    let mut last = vec![-1; machine.node_sizes().len()];
    for rank in ranks.iter().filter(|_| machine.below().is_empty()) {
        let last = &mut last[machine.nodes()[*rank as usize] as usize];
        assert!(*last < *rank, "{}", what());
        *last = *rank;
    }
    plan
}

/// The plan of a grid, checked, and the edges for which it was planned.
pub(super) fn planned_cart(grid: &Grid, machine: &Machine, options: &Options) -> Plan {
    assert_eq!(graph_of(grid), by_coordinates(grid), "{grid:?}");
    check(grid, machine, options, plan_grid(grid, machine, options))
}

/// The plan of a graph, checked.
pub(super) fn planned_graph(graph: &Csr, machine: &Machine, options: &Options) -> Plan {
    check(graph, machine, options, plan_graph(graph, machine, options))
}

/// The least sum over all mappings to nodes of these sizes, with the first vertices on the nodes given.
pub(super) fn least(graph: &impl Adjacency, sizes: &mut [usize], node_of: &mut Vec<u32>) -> i64 {
    if node_of.len() == graph.vertices() {
        let mut sum = 0;
        for vertex in 0..node_of.len() {
            graph.for_each_edge(vertex, |to, weight| {
                sum += if node_of[to] == node_of[vertex] { 0 } else { weight };
            });
        }
        return sum;
    }
    let mut best = i64::MAX;
    for node in 0..sizes.len() {
        // Empty nodes of one size are alike, so only the first is tried.
        let size = sizes[node];
        let is_used = |node: usize| node_of.contains(&(node as u32));
        let alike = (0..node).any(|other| sizes[other] == size && !is_used(other));
        if size > 0 && (is_used(node) || !alike) {
            sizes[node] -= 1;
            node_of.push(node as u32);
            best = best.min(least(graph, sizes, node_of));
            node_of.pop();
            sizes[node] += 1;
        }
    }
    best
}

/// The edges of a grid as a graph.
fn graph_of(grid: &Grid) -> Csr {
    let mut edges = Vec::new();
    for cell in 0..grid.vertices() {
        grid.for_each_edge(cell, |to, weight| edges.push((cell as u32, to as u32, weight)));
    }
    Csr::from_edges(grid.vertices(), edges.iter().copied())
}

/// The edges of a grid as a graph, from the coordinates of its cells.
fn by_coordinates(grid: &Grid) -> Csr {
    let cells = grid.vertices();
    let mut edges = Vec::new();
    for cell in 0..cells {
        'vectors: for Offset { by, weight } in grid.stencil() {
            let (mut to, mut rest, mut stride) = (0, cell, cells);
            for ((side, periodic), by) in grid.dims().iter().zip(grid.periodic()).zip(by) {
                stride /= side;
                let mut there = (rest / stride) as i64 + i64::from(*by);
                rest %= stride;
                if *periodic {
                    there = there.rem_euclid(*side as i64);
                } else if !(0..*side as i64).contains(&there) {
                    continue 'vectors;
                }
                to += there as usize * stride;
            }
            edges.push((cell as u32, to as u32, *weight));
        }
    }
    Csr::from_edges(cells, edges.iter().copied())
}

fn vectors(ndims: usize) -> impl Strategy<Value = Vec<Offset>> {
    let vector = (prop::collection::vec(-3..=3i32, ndims), 0..5i64);
    prop::collection::vec(vector.prop_map(|(by, weight)| Offset { by, weight }), 0..8)
}

fn grids() -> impl Strategy<Value = Grid> {
    (0..6usize).prop_flat_map(|ndims| {
        let sides = prop::collection::vec(1..=[1usize, 60, 12, 7, 5, 4][ndims], ndims);
        let periodic = prop::collection::vec(any::<bool>(), ndims);
        let grid = (sides, periodic, vectors(ndims), any::<bool>());
        grid.prop_map(move |(dims, periodic, vectors, plain)| {
            let nearest = Grid::nearest_neighbors(&vec![2; ndims]);
            Grid::new(dims, periodic, if plain { nearest } else { vectors })
        })
    })
}

fn graphs() -> impl Strategy<Value = Csr> {
    (1usize..40).prop_flat_map(|vertices| {
        let weight = prop_oneof![Just(1i64), 0..100i64, Just(i64::from(i32::MAX))];
        let edge = (0..vertices as u32, 0..vertices as u32, weight);
        let edges = (prop::collection::vec(edge, 0..150), any::<bool>());
        edges.prop_map(move |(mut edges, mutual)| {
            let back = edges.iter().map(|(from, to, weight)| (*to, *from, *weight));
            let back: Vec<_> = back.filter(|_| mutual).collect();
            edges.extend(back);
            Csr::from_edges(vertices, edges.iter().copied())
        })
    })
}

/// A machine with space for all vertices, on nodes of any sizes, perhaps with a level below them or two above.
fn machines(vertices: usize) -> impl Strategy<Value = Machine> {
    let ids = move |more| prop::collection::vec(0..12u64, vertices + more);
    let mixed = (0..9usize).prop_flat_map(ids).prop_map(|ids| Machine::from_ids(&ids));
    let blocks =
        (1..=vertices).prop_map(move |size| Machine::blocks(&vec![size; vertices.div_ceil(size)]));
    let levels = (prop::option::of(1..5u64), prop::option::of(any::<u64>()));
    (prop_oneof![mixed, blocks], levels).prop_map(|(mut machine, (width, seed))| {
        if let Some(width) = width {
            let ids: Vec<u64> = (0..machine.ranks() as u64).map(|rank| rank / width).collect();
            machine = machine.with_level(LevelKind::Cache, &ids);
        }
        let Some(seed) = seed else { return machine };
        let mut rng = Rng::new(seed);
        let switches: Vec<u64> = machine.node_sizes().iter().map(|_| rng.below(9) as u64).collect();
        let ids: Vec<u64> = machine.nodes().iter().map(|node| switches[*node as usize]).collect();
        let machine = machine.under(LevelKind::Switch, &ids).unwrap();
        let groups: Vec<u64> = ids.iter().map(|switch| switch / 3).collect();
        machine.under(LevelKind::Group, &groups).unwrap()
    })
}

fn on_machines<G: Clone + std::fmt::Debug>(
    subjects: impl Strategy<Value = G>,
    vertices: fn(&G) -> usize,
) -> impl Strategy<Value = (G, Machine)> {
    subjects.prop_flat_map(move |subject| {
        let machine = machines(vertices(&subject).max(1));
        (Just(subject), machine)
    })
}

prop_compose! {
    fn options(most: f64)(
        objective in prop::sample::select(&Objective::NAMED).prop_map(|(_, objective)| objective),
        distances in prop::sample::select(vec!["1", "1,10,100", "1,1,5,5", "3,1000000"]),
        seconds in prop::sample::select(vec![0.0, 2e-4, most]),
    ) -> Options {
        let distances = Distances::parse(distances).unwrap();
        Options { objective, distances, seconds: Some(seconds), ..Options::default() }
    }
}

#[test]
fn processes_that_a_plan_leaves_out_follow_it() {
    let machine = Machine::blocks(&[2, 3]);
    let plan = Plan {
        old_rank: Some([3, 0, 4, 1].into()),
        ..Plan::identity(&nearest(&[4], &[false]), &machine, &Distances::default(), |_| 0)
    };
    assert_eq!(plan.node_of(&machine), [1, 0, 1, 0, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_of_random_grids_are_valid(
        (grid, machine) in on_machines(grids(), |grid| grid.vertices()),
        options in options(1e-3),
        unknown: bool,
    ) {
        let grid = if unknown { grid.with_unknown_weights() } else { grid };
        let plan = planned_cart(&grid, &machine, &options);
        prop_assert_eq!(plan, plan_grid(&grid, &machine, &options));
        planned_graph(&graph_of(&grid), &machine, &options);
    }

    #[test]
    fn plans_of_random_graphs_are_valid(
        (graph, machine) in on_machines(graphs(), |graph| graph.vertices()),
        options in options(2e-3),
    ) {
        let plan = planned_graph(&graph, &machine, &options);
        prop_assert_eq!(plan, plan_graph(&graph, &machine, &options));
        // Before the process of rank 0 gets its rank back.
        let most = |objective| {
            let options = Options { objective, ..options };
            plan_by(&graph, &machine, &options).after.max_node_edges
        };
        prop_assert!(!machine.above().is_empty() || most(Objective::Max) <= most(Objective::Sum));
    }

    #[test]
    fn edges_between_nodes_are_the_same_row_by_row(
        grid in grids(),
        nodes in prop::collection::vec(0..3u32, 1024),
    ) {
        let node_of = &nodes[..grid.vertices()];
        let mut expected = [[0; 3]; 3];
        for cell in 0..grid.vertices() {
            grid.for_each_edge(cell, |to, weight| {
                expected[node_of[cell] as usize][node_of[to] as usize] += weight;
            });
        }
        (0..3).for_each(|node| expected[node][node] = 0);
        let mut found = [[0; 3]; 3];
        grid.for_each_cut_edge(node_of, |from, to, weight| {
            found[from as usize][to as usize] += weight;
        });
        prop_assert_eq!(found, expected);
    }
}
