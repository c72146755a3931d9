//! Every small grid on every small machine, and grids whose best possible plan is known.

use crate::machine::{LevelKind, Machine};
use crate::mapping::tests::{least, nearest, planned_cart, products, switched};
use crate::mapping::{Grid, Objective, Offset, Options, plan_grid};

/// A short time for each plan, since there are many.
fn briefly(objective: Objective) -> Options {
    Options { objective, seconds: Some(3e-5), ..Options::default() }
}

#[test]
fn grids_of_up_to_64_cells_have_valid_plans_on_every_machine() {
    for cells in 1..=64usize {
        let mut machines: Vec<Machine> = (1..=cells)
            .filter(|size| cells.is_multiple_of(*size))
            .map(|size| Machine::blocks(&vec![size; cells / size]))
            .collect();
        if cells > 3 {
            for sizes in [
                &[cells / 2, cells - cells / 2 - 1, 1][..],
                &[1, cells / 3, cells - cells / 3 - 1],
                &[cells / 4 + 1; 4],
                &[cells - 1, 3],
            ] {
                machines.push(Machine::blocks(sizes));
            }
            let [round_robin, packages] = [|rank| rank * rank % 7 % 4, |rank| rank / 2]
                .map(|id: fn(u64) -> u64| (0..cells as u64).map(id).collect::<Vec<u64>>());
            machines
                .push(Machine::from_ids(&round_robin).with_level(LevelKind::Package, &packages));
            let sizes = [1, 2, 3].into_iter().cycle().take(cells / 2 + 1).collect::<Vec<_>>();
            let switches: Vec<u64> = (0..sizes.len() as u64).map(|node| node * node % 5).collect();
            machines.push(switched(&sizes, &switches));
        }
        for dims in products(cells, 4) {
            for kind in 0..3 {
                let periodic: Vec<bool> =
                    (0..dims.len()).map(|i| kind == 1 || (kind == 2 && i % 2 == 0)).collect();
                let grid = nearest(&dims, &periodic);
                for machine in &machines {
                    let objective = if kind == 2 { Objective::Max } else { Objective::Sum };
                    planned_cart(&grid, machine, &briefly(objective));
                }
            }
        }
    }
}

#[test]
fn no_mapping_of_a_tiny_grid_is_below_the_bound() {
    let mut exact = 0;
    let mut all = 0;
    for cells in 2..=8usize {
        let machines = [
            vec![2; cells / 2 + cells % 2],
            vec![3; cells.div_ceil(3)],
            vec![cells - 1, 1],
            vec![1; cells],
            vec![cells / 2, cells - cells / 2],
        ];
        for dims in products(cells, 3) {
            for kind in 0..3 {
                let periodic: Vec<bool> =
                    (0..dims.len()).map(|i| kind == 1 || (kind == 2 && i % 2 == 0)).collect();
                let nearest = nearest(&dims, &periodic);
                let mut longer = nearest.stencil().to_vec();
                for by in [2, -2, 3] {
                    let along = |i: usize| if i == 0 { by } else { 0 };
                    longer.push(Offset { by: (0..dims.len()).map(along).collect(), weight: 2 });
                }
                longer.push(Offset { by: vec![1; dims.len()], weight: 3 });
                let longer = Grid::new(dims.to_vec(), periodic.clone(), longer);
                let weights = &[[16, 1, 4], [1, 4, 16], [2, 16, 1]][kind][..dims.len()];
                let weighted = Grid::nearest_neighbors(weights);
                let weighted = Grid::new(dims.to_vec(), periodic.clone(), weighted);
                for machine in &machines {
                    for grid in [&nearest, &longer, &weighted] {
                        let options = Options { seconds: Some(0.001), ..Options::default() };
                        let plan = planned_cart(grid, &Machine::blocks(machine), &options);
                        let least = least(grid, &mut machine.clone(), &mut Vec::new());
                        assert!(
                            plan.lower_bound <= least,
                            "{grid:?} {machine:?}: {} {least}",
                            plan.lower_bound
                        );
                        assert!(plan.after.inter_node_edges >= least);
                        exact += usize::from(plan.after.inter_node_edges == least);
                        all += 1;
                    }
                }
            }
        }
    }
    // On such small grids, the search finds the optimum, with a few exceptions.
    assert!(100 * exact >= 99 * all, "{exact} of {all}");
}

/// Grids, weights, the number of nodes of one size, and the least weight between nodes, each edge counted once: found
/// by dynamic programming over all ways to assign cells one after the other.
const LEAST: &str = "
    3x2x2 1,1,1 4 12; 3x3 1,4 3 6; 3x3x2 4,1,1 3 12; 3x3x3 1,16,4 3 18; 4x2x2 16,1,4 4 40; 4x3 1,2 2 3;
    4x3 1,1 6 11; 4x3x2 1,4,2 3 26; 4x3x2 4,1,1 6 28; 4x3x3 1,16,4 2 9; 4x4 1,2 2 4; 4x4x2 1,1,1 2 8;
    4x4x4 16,1,4 2 16; 5x2x2 1,1,1 2 6; 5x2x2 1,4,2 5 16; 5x3 4,1 5 24; 5x3x2 1,16,4 3 60; 5x3x2 16,1,4 6 80;
    5x3x3 1,2,16 5 36; 5x4 1,1 5 12; 5x4x3 1,16,4 3 56; 5x5 1,2 5 20; 6x2 1,1 2 2; 6x2 1,4 4 14; 6x2x2 4,1,1 2 12;
    6x2x2 1,16,4 4 28; 6x2x2 16,1,4 8 124; 6x3 1,2 3 6; 6x3x2 1,1,1 3 12; 6x3x2 1,4,2 6 30; 6x4 1,16 2 4;
    6x4 16,1 4 18; 6x4 1,2 8 28; 6x5 4,1 3 20; 6x5 1,16 6 25; 6x6 1,1 3 10; 6x6 1,4 6 30; 7x2 4,1 7 30;
    7x2x2 1,16,4 4 60; 7x3 16,1 3 14; 7x3x2 1,2,16 2 26; 7x4 4,1 4 21; 7x4x2 1,16,4 2 24; 7x5 1,2 5 25;
    7x6 1,1 3 12; 8x2 4,1 2 8; 8x2 1,16 8 14; 8x2x2 16,1,4 4 80; 8x3 1,2 2 3; 8x3 1,1 6 15; 8x3x2 1,4,2 2 6;
    8x3x2 1,16,4 8 42; 8x4 16,1 4 24; 8x4x2 1,2,16 2 8; 8x5 1,1 2 5; 8x6 4,1 2 8; 8x6 1,16 4 18; 8x8 1,1 2 8;
    9x2 4,1 3 14; 9x2x2 1,16,4 2 12; 9x2x2 16,1,4 4 90; 9x3 1,2 3 6; 9x4 1,4 3 8; 9x4 4,1 6 37; 9x5 1,16 5 84;
    9x6 16,1 3 18; 9x7 1,2 3 14; 10x2 1,1 4 8; 10x2x2 1,4,2 2 4; 10x2x2 4,1,1 5 48; 10x3 1,16 2 3; 10x3 16,1 5 80;
    10x3x2 1,2,16 2 6; 10x4 1,4 2 4; 10x4 4,1 5 38; 10x5 1,16 2 5; 10x6 16,1 2 10; 11x2 1,1 2 3; 11x2x2 1,4,2 4 28;
    11x4 4,1 2 11; 12x2 16,1 3 40; 12x2 1,2 6 10; 12x2x2 1,1,1 3 8; 12x2x2 1,4,2 6 20; 12x3 4,1 2 12;
    12x3 1,16 4 9; 12x4 16,1 2 12; 12x4 1,2 4 12; 12x5 1,1 2 5; 12x5 1,4 4 15; 13x2x2 1,16,4 2 12; 13x3 16,1 3 26;
    13x4 1,2 4 18; 14x2 1,1 7 12; 14x2x2 1,4,2 4 20; 14x3 1,16 3 38; 14x3 16,1 7 120; 14x4 1,2 4 16; 15x2 1,1 2 3;
    15x2 1,4 5 8; 15x2x2 4,1,1 2 18; 15x3 1,2 5 12; 15x4 1,1 4 15; 16x2 4,1 4 24; 16x2x2 1,16,4 2 4; 16x3 1,2 3 10;
    16x3 1,1 8 21; 16x4 1,4 4 12; 17x2 4,1 2 9; 18x2 1,16 2 2; 18x2 16,1 4 50; 18x3 1,2 2 3; 19x2 1,1 2 3;
    20x2 1,4 2 2; 20x2 4,1 5 32; 20x3 1,16 2 3; 20x3 16,1 4 78; 20x3 1,2 6 23; 21x2 1,1 6 13; 21x3 1,4 3 6;
    22x2 4,1 2 8; 23x2 1,16 2 18; 24x2 16,1 3 48; 24x2 1,2 6 10; 25x2 1,1 5 8; 26x2 1,4 4 14; 27x2 4,1 3 16;
    28x2 1,16 2 2; 28x2 16,1 7 120; 29x2 1,2 2 4; 30x2 1,1 4 8; 30x2 1,4 6 10; 32x2 4,1 2 8; 32x2 1,16 8 14";

#[test]
fn plans_of_weighted_grids_of_up_to_64_cells_are_optimal() {
    let numbers = |text: &str, by| -> Vec<i64> {
        text.split(by).map(|number| number.parse().expect("a number")).collect()
    };
    for line in LEAST.split(';') {
        let words: Vec<&str> = line.split_whitespace().collect();
        let dims: Vec<usize> = numbers(words[0], 'x').iter().map(|side| *side as usize).collect();
        let stencil = Grid::nearest_neighbors(&numbers(words[1], ','));
        let [nodes, least] = [2, 3].map(|at| numbers(words[at], ' ')[0]);
        let size = dims.iter().product::<usize>() / nodes as usize;
        let grid = Grid::new(dims.clone(), vec![false; dims.len()], stencil);
        let machine = Machine::blocks(&vec![size; nodes as usize]);
        let cut = plan_grid(&grid, &machine, &Options::default()).after.inter_node_edges / 2;
        assert!((100 * least..=101 * least).contains(&(100 * cut)), "{line}: {cut}");
    }
}

#[test]
fn plans_are_at_least_as_good_as_published_ones() {
    let plan = |dims: &[usize], periodic: bool, sizes: &[usize]| {
        let grid = nearest(dims, &vec![periodic; dims.len()]);
        let plan = planned_cart(&grid, &Machine::blocks(sizes), &Options::default());
        assert_eq!(plan, plan_grid(&grid, &Machine::blocks(sizes), &Options::default()));
        (plan.lower_bound, plan.after.inter_node_edges, plan.after.max_node_edges)
    };
    // The bound, by strips of different widths.
    assert_eq!(plan(&[50, 48], false, &[48; 50]), (1204, 1204, 28));
    assert!(plan(&[75, 64], true, &[48; 100]) <= (2800, 2822, 38));
    assert_eq!(plan(&[12, 8, 8], false, &[48; 16]), (768, 768, 56));
    assert!(plan(&[16, 15, 10], false, &[48; 50]) <= (2900, 2936, 80));
    // Six strips of different heights.
    assert!(plan(&[32, 25], false, &[16; 50]).1 <= 706);
    // Different boxes, by cuts across the longest side.
    assert!(plan(&[10, 9, 10], true, &[60; 15]).1 <= 1420);
    let two_sizes = [[44; 22].as_slice(), &[36; 28]].concat();
    assert!(plan(&[52, 38], false, &two_sizes).1 <= 1134);
}

#[test]
fn planes_have_a_short_step_instead_of_thin_halves() {
    // Nodes of 4 x 4.5 x 4.5 cells: full planes would make them 1 x 9 x 9.
    let torus = nearest(&[16, 18, 18], &[true; 3]);
    let plan = planned_cart(&torus, &Machine::blocks(&[81; 64]), &Options::default());
    assert_eq!((plan.after.inter_node_edges, plan.after.max_node_edges), (7424, 116));
    assert_eq!((plan.lower_bound, plan.algorithm), (7424, "bisection"));
}

#[test]
fn the_plan_with_the_less_busy_node_wins_if_sums_are_similar() {
    for (dims, nodes, size) in [(&[17, 12, 10][..], 60, 34), (&[13, 14, 10], 52, 35)] {
        let grid = nearest(dims, &vec![false; dims.len()]);
        let [time, sum] = [Objective::Time, Objective::Sum].map(|objective| {
            let options = Options { objective, ..Options::default() };
            planned_cart(&grid, &Machine::blocks(&vec![size; nodes]), &options).after
        });
        assert!(time.max_node_edges < sum.max_node_edges, "{time:?}, {sum:?}");
        assert!(100 * time.inter_node_edges <= 101 * sum.inter_node_edges, "{time:?}, {sum:?}");
    }
}

#[test]
fn vertices_of_a_node_are_placed_on_its_groups() {
    // Two nodes of 16 with four domains of 4 each; only columns are rows of ranks, so that domains are
    // 4x1 before and can be 2x2.
    let grid = nearest(&[8, 4], &[false, false]);
    let domains: Vec<u64> = (0..32).map(|rank| rank / 4).collect();
    let machine = Machine::blocks(&[16, 16]).with_level(LevelKind::Numa, &domains);
    let plan = planned_cart(&grid, &machine, &Options::default());
    // Nodes are already 4x4.
    assert_eq!((plan.before, plan.algorithm), (plan.after, "inside nodes"));
    assert_eq!(plan.levels[1].before.inter_node_edges, 56);
    assert_eq!(plan.levels[1].after.inter_node_edges, 40);
    // Without domains nothing is better, and a good order is kept.
    assert_eq!(
        planned_cart(&grid, &Machine::blocks(&[16, 16]), &Options::default()).old_rank,
        None
    );
    // A node's vertices go to its ranks in ascending order.
    let grid = nearest(&[6, 6], &[false, false]);
    let plan = planned_cart(&grid, &Machine::blocks(&[9; 4]), &Options::default());
    let old: Vec<i32> = plan.old_ranks().collect();
    for node in 0..4 {
        let ranks: Vec<i32> = old.iter().copied().filter(|rank| rank / 9 == node).collect();
        assert!(ranks.is_sorted(), "{old:?}");
    }
}

#[test]
fn processes_on_few_nodes_take_part_if_there_are_more() {
    let grid = nearest(&[12, 8, 8], &[false; 3]);
    let mut sizes = vec![48];
    sizes.extend([7; 20]);
    sizes.extend([48; 15]);
    sizes.push(50);
    let plan = planned_cart(&grid, &Machine::blocks(&sizes), &Options::default());
    // Sixteen nodes, none of which has more than 48 edges: bricks.
    assert_eq!((plan.after.inter_node_edges, plan.algorithm), (768, "bricks"));
}

#[test]
fn degenerate_grids_have_plans() {
    let one = Machine::blocks(&[1, 1]);
    planned_cart(&nearest(&[], &[]), &one, &Options::default());
    planned_cart(&nearest(&[1, 1, 1], &[true, false, true]), &one, &Options::default());
    planned_cart(
        &nearest(&[2; 10], &[true; 10]),
        &Machine::blocks(&[100; 11]),
        &Options::default(),
    );
    planned_cart(
        &nearest(&[1, 2, 1, 2], &[true; 4]),
        &Machine::blocks(&[3, 1]),
        &Options::default(),
    );
    // No edges at all.
    let none = Grid::new(vec![4, 4], vec![false; 2], Vec::new());
    assert_eq!(planned_cart(&none, &Machine::blocks(&[8, 8]), &Options::default()).old_rank, None);
}
