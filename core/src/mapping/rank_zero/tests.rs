//! Rank 0 stays, in every grid of up to 64 cells on many layouts, and what that costs.

use super::super::csr::Csr;
use super::super::grid::Grid;
use super::super::rng::Rng;
use super::super::search::plan_by;
use super::super::tests::{planned_cart, planned_graph, products, switched};
use super::super::unknown_weights;
use super::*;
use crate::machine::Kind;
use crate::topology::Cart;

/// Nodes of one size or of several, in blocks and dealt, below switches and with packages; some have ranks to spare.
fn layouts(ranks: usize) -> Vec<Machine> {
    let size = (2..=ranks / 2)
        .filter(|size| ranks.is_multiple_of(*size))
        .min_by_key(|size| size.abs_diff(4))
        .unwrap_or(1);
    let even = vec![size; ranks / size];
    let uneven = |parts: &[usize]| -> Vec<usize> {
        let next = |left: &mut usize, size: &usize| {
            let size = *size.min(left);
            *left -= size;
            (size > 0).then_some(size)
        };
        parts.iter().cycle().scan(ranks, next).collect()
    };
    let dealt: Vec<u64> = (0..ranks as u64).map(|rank| rank % 3).collect();
    let mut rng = Rng::new(ranks as u64);
    let random: Vec<u64> = (0..ranks).map(|_| rng.below(4) as u64).collect();
    let packages: Vec<u64> = (0..ranks as u64).map(|rank| rank / 2).collect();
    let switches: Vec<u64> = (0..even.len() as u64).map(|node| node / 2).collect();
    let mut all = vec![
        Machine::blocks(&even),
        Machine::blocks(&uneven(&[3, 4, 1])),
        Machine::blocks(&uneven(&[2, 5, 6])),
        Machine::blocks(&uneven(&[1, 8])),
        Machine::blocks(&[even.clone(), vec![3]].concat()),
        Machine::from_ids(&dealt),
        Machine::from_ids(&random).with_level(Kind::Package, &packages),
        Machine::blocks(&even).with_level(Kind::Package, &packages),
    ];
    all.push(switched(&even, &switches));
    all
}

/// The plans that move rank 0 if they may: all, those that are as good without, and those that are not applied then.
#[derive(Default)]
struct Compared {
    moved_it: usize,
    as_good: usize,
    stay: usize,
}

impl Compared {
    fn add(&mut self, free: &Plan, kept: &Plan) {
        if free.old_rank.as_ref().is_none_or(|old_rank| old_rank[0] == 0) {
            assert_eq!(free, kept);
            return;
        }
        self.moved_it += 1;
        self.as_good += usize::from(kept.levels == free.levels);
        self.stay += usize::from(kept.old_rank.is_none());
    }
}

#[test]
fn rank_zero_stays_in_every_small_grid() {
    let options = Options { seconds: Some(1e-4), ..Options::default() };
    let (mut even, mut uneven) = (Compared::default(), Compared::default());
    for cells in 2..=64 {
        for (number, dims) in products(cells, 3).into_iter().enumerate() {
            let dims: Vec<i32> = dims.iter().map(|side| *side as i32).collect();
            for layout in layouts(cells) {
                let sizes = layout.node_sizes();
                let periods: Vec<bool> =
                    (0..dims.len()).map(|i| (number + i).is_multiple_of(3)).collect();
                let cart = Cart::new(&dims, &periods, i32::MAX).unwrap();
                let known = Grid::of_cart(&cart, Some(&vec![1; dims.len()]));
                for grid in [known.clone().with_unknown_weights(), known] {
                    let kept = planned_cart(&grid, &layout, &options);
                    let free = match grid.has_unknown_weights() {
                        true => unknown_weights::guard(&grid, &layout, &options, plan_by),
                        false => plan_by(&grid, &layout, &options),
                    };
                    if !grid.has_unknown_weights() && free.gains_little(&layout) {
                        assert_eq!(kept.old_rank, None);
                        continue;
                    }
                    assert!(grid.is_no_loss(&layout, &kept), "{dims:?} {sizes:?}");
                    let alike =
                        layout.levels().len() == 1 && sizes.iter().all(|size| *size == sizes[0]);
                    if alike { &mut even } else { &mut uneven }.add(&free, &kept);
                }
            }
        }
    }
    // Of nodes that are alike two can always change places.
    assert!(even.moved_it > 0 && even.as_good == even.moved_it);
    assert!(uneven.moved_it > 100 && 10 * uneven.stay < uneven.moved_it);
}

#[test]
fn rank_zero_stays_in_graphs() {
    let (mut even, mut uneven) = (Compared::default(), Compared::default());
    let options = Options { seconds: Some(1e-3), ..Options::default() };
    for ranks in 3..=48 {
        for (seed, layout) in (0..).zip(layouts(ranks)) {
            let mut rng = Rng::new(seed);
            let edges: Vec<_> = (0..3 * ranks)
                .map(|edge| {
                    ((edge % ranks) as u32, rng.below(ranks) as u32, 1 + rng.below(5) as i64)
                })
                .collect();
            let graph = Csr::from_edges(ranks, edges.into_iter());
            let kept = planned_graph(&graph, &layout, &options);
            let sizes = layout.node_sizes();
            let alike = layout.levels().len() == 1 && sizes.iter().all(|size| *size == sizes[0]);
            if alike { &mut even } else { &mut uneven }
                .add(&plan_by(&graph, &layout, &options), &kept);
        }
    }
    assert!(even.moved_it > 0 && even.as_good == even.moved_it);
    assert!(uneven.moved_it > 20 && 10 * uneven.stay < uneven.moved_it);
}

#[test]
fn grids_stay_what_they_are_when_renumbered() {
    let cart = Cart::new(&[4, 3, 2, 1], &[true, false, false, true], i32::MAX).unwrap();
    let grid = Grid::of_cart(&cart, Some(&[1, 2, 3, 4]));
    let images: Vec<usize> = grid.images().collect();
    // Anywhere along the first, and at the ends of the others.
    assert_eq!(images, [0, 1, 4, 5, 6, 7, 10, 11, 12, 13, 16, 17, 18, 19, 22, 23]);
    let node_of: Vec<u32> = (0..24).map(|v| v * v % 5).collect();
    for image in images {
        let renumbered = grid.renumbered(image);
        assert_eq!(renumbered[0] as usize, image);
        let moved: Vec<u32> = renumbered.iter().map(|v| node_of[*v as usize]).collect();
        assert_eq!(grid.cost(&moved), grid.cost(&node_of));
    }
    // Edges that lead one way only have no mirror image.
    let one_way =
        Grid::new(vec![4], vec![false], vec![super::super::Offset { by: vec![1], weight: 1 }]);
    assert_eq!(one_way.images().collect::<Vec<_>>(), [0]);
}

#[test]
fn parts_of_a_machine_change_places() {
    // Two switches of two nodes of two, and one of one node.
    let layout = switched(&[2; 5], &[0, 0, 1, 1, 2]);
    assert_eq!(exchange(&layout, 1).unwrap(), [1, 0, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(exchange(&layout, 7).unwrap()[4..8], [2, 3, 1, 0]);
    assert_eq!(exchange(&layout, 9), None);
}
