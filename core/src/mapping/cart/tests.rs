//! Every small grid on every small machine, and grids of which it is known how good a plan can be.

use super::exact::least_cut;
use crate::machine::{Kind, Machine};
use crate::mapping::tests::{least, nearest, planned_cart, products, switched};
use crate::mapping::{Grid, Objective, Offset, Options, plan_cart};

/// Little time for each plan: there are many.
fn briefly(objective: Objective) -> Options {
    Options { objective, seconds: Some(3e-5), ..Options::default() }
}

#[test]
fn every_grid_of_up_to_64_cells_on_every_machine() {
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
            let [dealt, packages] = [|rank| rank * rank % 7 % 4, |rank| rank / 2]
                .map(|id: fn(u64) -> u64| (0..cells as u64).map(id).collect::<Vec<u64>>());
            machines.push(Machine::from_ids(&dealt).with_level(Kind::Package, &packages));
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
    // On grids as small as this, the search finds the optimum, but for a few.
    assert!(100 * exact >= 99 * all, "{exact} of {all}");
}

/// Grids of 9 to 64 cells with weights, on 2 to 8 nodes of one size: a part of all there are.
#[test]
fn weighted_grids_of_up_to_64_cells_are_as_good_as_can_be() {
    let mut compared = 0;
    let mut number = 0;
    let mut all: Vec<Vec<usize>> = Vec::new();
    for a in 2..=32 {
        for b in 2..=8.min(a) {
            all.push(vec![a, b]);
            all.extend((2..=4.min(b)).map(|c| vec![a, b, c]));
        }
    }
    for dims in all.iter().filter(|dims| (9..=64).contains(&dims.iter().product::<usize>())) {
        let cells: usize = dims.iter().product();
        for nodes in (2..=8).filter(|nodes| cells.is_multiple_of(*nodes) && cells / nodes > 1) {
            for weights in [[1, 1, 1], [1, 4, 2], [4, 1, 1], [1, 16, 4], [16, 1, 4], [1, 2, 16]] {
                number += 1;
                if number % 13 != 0 {
                    continue;
                }
                let weights = &weights[..dims.len()];
                let grid = Grid::new(
                    dims.clone(),
                    vec![false; dims.len()],
                    Grid::nearest_neighbors(weights),
                );
                let layout = Machine::blocks(&vec![cells / nodes; nodes]);
                let cut = plan_cart(&grid, &layout, &Options::default()).after.inter_node_edges / 2;
                let Some(least) = least_cut(dims, weights, cells / nodes, cut + 1) else {
                    continue;
                };
                compared += 1;
                let least = least.expect("the plan's is below the limit");
                assert!(
                    cut * 100 <= least * 101,
                    "{dims:?} {weights:?} on {nodes}: {cut}, not {least}"
                );
            }
        }
    }
    assert!(compared > 60, "{compared} of {number} were compared");
}

#[test]
fn the_published_instances_are_at_least_as_good_as_published() {
    let plan = |dims: &[usize], periodic: bool, sizes: &[usize]| {
        let grid = nearest(dims, &vec![periodic; dims.len()]);
        let plan = planned_cart(&grid, &Machine::blocks(sizes), &Options::default());
        assert_eq!(plan, plan_cart(&grid, &Machine::blocks(sizes), &Options::default()));
        (plan.lower_bound, plan.after.inter_node_edges, plan.after.max_node_edges)
    };
    // The bound, by strips whose widths differ.
    assert_eq!(plan(&[50, 48], false, &[48; 50]), (1204, 1204, 28));
    assert!(plan(&[75, 64], true, &[48; 100]) <= (2800, 2822, 38));
    assert_eq!(plan(&[12, 8, 8], false, &[48; 16]), (768, 768, 56));
    assert!(plan(&[16, 15, 10], false, &[48; 50]) <= (2900, 2936, 80));
    // Six strips, which no one height gives.
    assert!(plan(&[32, 25], false, &[16; 50]).1 <= 706);
    // Boxes that differ, by cuts across the longest side.
    assert!(plan(&[10, 9, 10], true, &[60; 15]).1 <= 1420);
    let two_sizes = [[44; 22].as_slice(), &[36; 28]].concat();
    assert!(plan(&[52, 38], false, &two_sizes).1 <= 1134);
}

#[test]
fn vertices_of_a_node_are_placed_on_its_groups() {
    // Two nodes of 16 with four domains of 4 each; only columns are rows of ranks, so that domains are
    // 4x1 before and can be 2x2.
    let grid = nearest(&[8, 4], &[false, false]);
    let domains: Vec<u64> = (0..32).map(|rank| rank / 4).collect();
    let layout = Machine::blocks(&[16, 16]).with_level(Kind::Numa, &domains);
    let plan = planned_cart(&grid, &layout, &Options::default());
    // Nodes are 4x4 already.
    assert_eq!((plan.before, plan.algorithm), (plan.after, "inside nodes"));
    assert_eq!(plan.levels[1].before.inter_node_edges, 56);
    assert_eq!(plan.levels[1].after.inter_node_edges, 40);
    // Without domains nothing is better, and an order that is good stays.
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
fn of_more_processes_those_take_part_that_need_few_nodes() {
    let grid = nearest(&[12, 8, 8], &[false; 3]);
    let mut sizes = vec![48];
    sizes.extend([7; 20]);
    sizes.extend([48; 15]);
    sizes.push(50);
    let plan = planned_cart(&grid, &Machine::blocks(&sizes), &Options::default());
    // Sixteen nodes, none of which gives more than 48: bricks.
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
