//! Plans for machines with switches above the nodes.

use crate::machine::Machine;
use crate::mapping::distance::distance_model::DistanceModel;
use crate::mapping::search::rng::Rng;
use crate::mapping::tests::{nearest, planned_cart, planned_graph, switched};
use crate::mapping::{Adjacency, Csr, Distances, Objective, Options, plan_grid};

/// Nodes of one size, assigned at random to switches with these numbers of nodes.
fn round_robin(size: usize, switches: &[usize]) -> Machine {
    let mut switch_of: Vec<u64> =
        (0..).zip(switches).flat_map(|(i, nodes)| std::iter::repeat_n(i, *nodes)).collect();
    Rng::new(1).shuffle(&mut switch_of);
    switched(&vec![size; switch_of.len()], &switch_of)
}

/// The sum for the distances of the literature, its bound, and the edges between switches, before and after.
fn plan(dims: &[usize], machine: &Machine) -> (i128, i128, i64, i64) {
    let distances = Distances::parse("1,10,100").unwrap();
    let options = Options { objective: Objective::Sum, distances, ..Options::default() };
    let grid = nearest(dims, &vec![false; dims.len()]);
    let plan = planned_cart(&grid, machine, &options);
    let weighted = plan.weighted.unwrap();
    let switches = &plan.levels[0];
    let (before, after) = (switches.before.inter_node_edges, switches.after.inter_node_edges);
    (weighted.after, weighted.lower_bound, before, after)
}

#[test]
fn plans_reach_the_figures_of_other_mappers() {
    // SharedMap's best of its fast, eco and strong settings: 21248, 52736 and 44396.
    let parse = |text: &str, ranks| Machine::parse(text, ranks).unwrap();
    assert_eq!(plan(&[32, 32], &parse("4x8x32", 1024)), (21248, 21248, 192, 128));
    assert!(plan(&[16, 8, 8], &parse("4x8x32", 1024)).0 <= 52736);
    let (sum, bound, before, after) = plan(&[50, 48], &parse("5x10x48", 2400));
    assert!(sum <= 43500 && bound == 42200 && after <= 256, "{sum} {bound} {before} {after}");
    // Nodes as a scheduler allocates them: rank order has 1472 and 3840 edges between switches.
    assert_eq!(plan(&[32, 32], &round_robin(32, &[8; 4])).0, 21248);
    let (sum, bound, _, after) = plan(&[50, 48], &round_robin(48, &[17, 12, 9, 7, 5]));
    assert!(sum <= 43200 && bound == 41480 && after <= 250, "{sum} {bound} {after}");
}

#[test]
fn the_fastest_plan_is_taken() {
    // 7, 9, 7 and 9 nodes of 32. The smallest sum leaves 80 edges to a node and 144 to a switch of 7 nodes.
    let switches: Vec<u64> =
        [7, 9, 7, 9].into_iter().zip(0..).flat_map(|(nodes, switch)| vec![switch; nodes]).collect();
    let machine = switched(&[32; 32], &switches);
    let grid = nearest(&[16, 8, 8], &[true; 3]);
    let most = |objective| {
        let options = Options { objective, ..Options::default() };
        let plan = planned_cart(&grid, &machine, &options);
        (plan.after.max_node_edges, plan.levels[0].after.max_node_edges)
    };
    let (time, sum) = (most(Objective::Time), most(Objective::Sum));
    assert_eq!(time.0, 64);
    assert!(time.0 < sum.0 && time.1 > sum.1, "{time:?} {sum:?}");
}

#[test]
fn processes_of_a_node_go_near_their_neighbors() {
    // A row of nodes of two alternating sizes; of each size, one half is on each switch.
    let machine = switched(&[3, 2, 3, 2, 3, 2, 3, 2], &[0, 0, 1, 1, 0, 0, 1, 1]);
    let (sum, bound, before, after) = plan(&[20], &machine);
    assert_eq!((before, after), (6, 2));
    assert_eq!((sum, bound), (38 + 9 * 14 + 90 * 2, sum));
}

#[test]
fn three_levels_are_one_tree() {
    let machine = Machine::parse("2x2x4x8", 128).unwrap();
    let grid = nearest(&[16, 8], &[false; 2]);
    let plan = planned_cart(&grid, &machine, &Options::default());
    let costs: Vec<i64> = plan.levels.iter().map(|level| level.after.inter_node_edges).collect();
    // Halves of 8x8, quarters of 8x4, nodes of 4x2.
    assert_eq!((costs, plan.weighted.unwrap().distances), (vec![16, 48, 144], vec![1, 10, 30, 90]));
}

#[test]
fn distances_decide_which_edges_are_cut() {
    // Three switches of one node of four and two of two; five switches would fit better.
    let machine = round_robin(6, &[5, 3, 2]);
    let grid = nearest(&[12, 5], &[false; 2]);
    let of = |text| {
        let distances = Distances::parse(text).unwrap();
        let options = Options { objective: Objective::Sum, distances, ..Options::default() };
        let plan = planned_cart(&grid, &machine, &options);
        (plan.levels[0].after.inter_node_edges, plan.after.inter_node_edges)
    };
    let (cheap, dear) = (of("1,10,10"), of("1,2,1000"));
    assert!(dear.0 <= cheap.0 && cheap.1 <= dear.1, "{cheap:?} {dear:?}");
    assert_eq!(dear.0, 22);
    // If switches cost nothing, nodes are mapped as without them.
    let alone = plan_grid(&grid, &Machine::blocks(&[6; 10]), &Options::default());
    assert_eq!(cheap.1, alone.after.inter_node_edges);
}

#[test]
fn near_processes_take_part_if_there_are_more() {
    // Two switches of four nodes; four nodes suffice.
    let machine = switched(&[4; 8], &[0, 1, 0, 1, 0, 1, 0, 1]);
    let (sum, _, before, after) = plan(&[4, 4], &machine);
    assert!(before > 0);
    assert_eq!((sum, after), (48 + 9 * 16, 0));
}

#[test]
fn graphs_are_mapped_through_levels_too() {
    // A ring of 64 vertices with edges of weight 3 along it, numbered at random, and chords of weight 1.
    let mut number: Vec<u32> = (0..64).collect();
    Rng::new(3).shuffle(&mut number);
    let pair = |a: usize, b: usize, weight| {
        let (a, b) = (number[a % 64], number[b % 64]);
        [(a, b, weight), (b, a, weight)]
    };
    let edges: Vec<_> =
        (0..64).flat_map(|v| pair(v, v + 1, 3).into_iter().chain(pair(v, v + 2, 1))).collect();
    let graph = Csr::from_edges(64, edges.iter().copied());
    let machine = round_robin(4, &[4; 4]);
    let plan = planned_graph(&graph, &machine, &Options::default());
    // Each border has one edge along the ring and two chords, in both directions.
    let costs: Vec<i64> = plan.levels.iter().map(|level| level.after.inter_node_edges).collect();
    assert_eq!(costs, [4 * 2 * 5, 16 * 2 * 5]);
}

#[test]
fn large_grids_on_fragments_of_switches_are_near_the_bound_in_time() {
    use crate::mapping::tests::SPENT;
    // 1024 nodes on switches that all differ.
    let switches: Vec<usize> = (0..64).map(|i| 8 + i % 2 * 16).collect();
    for (sizes, most, limit) in [([64, 64], 1.05, 90.0), ([48, 80], 1.10, 160.0)] {
        let sizes: Vec<usize> = sizes.into_iter().cycle().take(1024).collect();
        let mut switch_of: Vec<u64> =
            (0..).zip(&switches).flat_map(|(i, nodes)| vec![i; *nodes]).collect();
        Rng::new(5).shuffle(&mut switch_of);
        let machine = switched(&sizes, &switch_of);
        let grid = nearest(&[64, 32, 32], &[false; 3]);
        // Only the sum has a bound.
        let distances = Distances::parse("1,10,100").unwrap();
        let options = Options { objective: Objective::Sum, distances, ..Options::default() };
        SPENT.set(0);
        let found = planned_cart(&grid, &machine, &options);
        let steps = SPENT.get() as f64 / grid.vertices() as f64;
        let weighted = found.weighted.unwrap();
        let over = weighted.after as f64 / weighted.lower_bound as f64;
        assert!(over <= most && steps <= limit, "{over} in {steps} steps a cell");
    }
}

#[test]
fn switches_of_regular_boxes_take_no_search() {
    use crate::mapping::tests::{READ, SPENT};
    let grid = nearest(&[256, 128], &[false; 2]);
    let nodes = Machine::blocks(&[64; 512]);
    let switches = switched(&[64; 512], &(0..512).map(|node| node / 16).collect::<Vec<_>>());
    let plan = |machine: &Machine| {
        READ.set(0);
        SPENT.set(0);
        let plan = plan_grid(&grid, machine, &Options::default());
        (plan, READ.get() as f64, SPENT.get() as f64)
    };
    let (alone, read_alone, spent_alone) = plan(&nodes);
    let (through, read, spent) = plan(&switches);
    let weighted = through.weighted.unwrap();
    assert_eq!((through.after, weighted.after), (alone.after, weighted.lower_bound));
    // The grid is read once more for the switches, but its part in each switch only once.
    assert!(read <= 2.2 * read_alone, "{read} for {read_alone} edges");
    assert!(spent <= 2.2 * spent_alone, "{spent} for {spent_alone} steps");
}

#[test]
fn distances_are_read() {
    let of = |text, above| Distances::parse(text).unwrap().of(above);
    assert_eq!(Distances::default().of(2), [1, 10, 30, 90]);
    assert_eq!(Distances::default().of(0), [1, 10]);
    assert_eq!(of("1,10,100", 1), [1, 10, 100]);
    assert_eq!(of("2:3", 2), [2, 3, 9, 27]);
    assert_eq!(of("1,1,1,1,1", 1), [1, 1, 1]);
    for (text, what) in [
        ("", "invalid distance ''"),
        ("0,1", "invalid distance '0' (expected whole numbers from 1 to 1000000)"),
        ("1,x", "invalid distance 'x'"),
        ("1,-1", "invalid distance '-1'"),
        ("1,1000001", "invalid distance '1000001'"),
        ("10,5", "has 5 after 10"),
        ("1,1,1,1,1,1,1,1,1,1,1,1,1,1", "more than 13"),
    ] {
        let error = Distances::parse(text).unwrap_err();
        assert!(error.contains(what), "{text}: {error}");
    }
}

#[test]
fn a_tree_gives_the_distance_between_nodes() {
    let machine = Machine::parse("2x2x2x1", 8).unwrap();
    let model = DistanceModel::new(&machine, &Distances::default());
    assert_eq!((model.depth(), model.node_step()), (2, 9));
    let near = |model: &DistanceModel, a, b| model.group(1, a) == model.group(1, b);
    assert_eq!([1, 2, 4].map(|node| near(&model, 0, node)), [true, false, false]);
    assert!(near(&model.select(&[7, 0, 6]), 0, 2));
    assert!(DistanceModel::new(&Machine::blocks(&[2, 2]), &Distances::default()).is_trivial());
}
