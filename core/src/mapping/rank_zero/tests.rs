//! Rank 0 stays, in every grid of up to 64 cells on many layouts, and what that costs.

use super::super::grid::Grid;
use super::super::rng::Rng;
use super::super::search::plan_by;
use super::super::unknown_weights;
use super::super::{plan_cart, plan_graph};
use super::*;
use crate::machine::Kind;
use crate::topology::Cart;

/// The grids of this number of cells with one, two and three dimensions, none of them of one cell but in the first.
fn shapes(cells: usize) -> Vec<Vec<i32>> {
    let divisors = |n: usize| (2..=n).filter(move |d| n.is_multiple_of(*d));
    let mut all = vec![vec![cells as i32]];
    for first in divisors(cells).filter(|first| *first < cells) {
        let rest = cells / first;
        all.push(vec![first as i32, rest as i32]);
        let second = divisors(rest).filter(|second| *second < rest);
        all.extend(second.map(|second| vec![first as i32, second as i32, (rest / second) as i32]));
    }
    all
}

/// Nodes of one size or of several, in blocks and dealt, below switches and with packages; some have ranks to spare.
fn layouts(ranks: usize) -> Vec<Machine> {
    let size = (2..=ranks / 2)
        .filter(|size| ranks.is_multiple_of(*size))
        .min_by_key(|size| size.abs_diff(4))
        .unwrap_or(1);
    let even = vec![size; ranks / size];
    let uneven = |parts: &[usize]| {
        let mut sizes = Vec::new();
        let mut left = ranks;
        for size in parts.iter().cycle() {
            sizes.push(left.min(*size));
            left -= left.min(*size);
            if left == 0 {
                return sizes;
            }
        }
        sizes
    };
    let dealt: Vec<u64> = (0..ranks as u64).map(|rank| rank % 3).collect();
    let mut rng = Rng::new(ranks as u64);
    let random: Vec<u64> = (0..ranks).map(|_| rng.below(4) as u64).collect();
    let packages: Vec<u64> = (0..ranks as u64).map(|rank| rank / 2).collect();
    let switches: Vec<u64> = (0..ranks).map(|rank| (rank / size / 2) as u64).collect();
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
    all.extend(Machine::blocks(&even).under(Kind::Switch, &switches));
    all
}

/// Plans that were compared with those that may move rank 0, how many of these did, and of how many nothing was lost.
#[derive(Default)]
struct Compared {
    plans: usize,
    moved_it: usize,
    as_good: usize,
    stay: usize,
    sums: [i64; 3],
}

impl Compared {
    fn add(&mut self, free: &Plan, kept: &Plan) {
        assert!(kept.old_rank.as_ref().is_none_or(|old_rank| old_rank[0] == 0), "{kept:?}");
        let mut ranks: Vec<i32> = kept.old_ranks().collect();
        ranks.sort_unstable();
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]), "{kept:?}");
        self.plans += 1;
        if free.old_rank.as_ref().is_none_or(|old_rank| old_rank[0] == 0) {
            assert_eq!(free, kept);
            return;
        }
        self.moved_it += 1;
        self.as_good += usize::from(kept.levels == free.levels);
        self.stay += usize::from(kept.old_rank.is_none());
        for (sum, cost) in self.sums.iter_mut().zip([free.before, free.after, kept.after]) {
            *sum += cost.inter_node_edges;
        }
    }

    fn show(&self, what: &str) {
        let Self { plans, moved_it, as_good, stay, sums: [before, free, kept] } = self;
        println!(
            "{what}: {plans} plans, {moved_it} moved rank 0, {as_good} as good without, {stay} not applied; \
             edges between nodes {before} before, {free} free, {kept} kept"
        );
    }
}

/// Checks costs: they are as reported, and no worse than with every process keeping its rank.
fn check_costs(graph: &impl Adjacency, layout: &Machine, options: &Options, plan: &Plan) {
    let costs: Vec<_> = layout
        .levels()
        .iter()
        .map(|level| {
            graph.cost(
                &plan.old_ranks().map(|old| level.group_of[old as usize]).collect::<Vec<u32>>(),
            )
        })
        .collect();
    assert_eq!(plan.levels.iter().map(|level| level.after).collect::<Vec<_>>(), costs);
    if layout.above().is_empty() {
        assert!(
            plan.after.key(options.objective) <= plan.before.key(options.objective),
            "{plan:?}"
        );
    } else {
        let weighted = plan.weighted.as_ref().unwrap();
        assert!(weighted.after <= weighted.before);
    }
}

#[test]
fn rank_zero_stays_in_every_small_grid() {
    let options = Options { seconds: Some(1e-4), ..Options::default() };
    let (mut even, mut uneven) = (Compared::default(), Compared::default());
    for cells in 2..=64 {
        for (number, dims) in shapes(cells).into_iter().enumerate() {
            for layout in layouts(cells) {
                let sizes = layout.node_sizes();
                let periods: Vec<bool> =
                    (0..dims.len()).map(|i| (number + i).is_multiple_of(3)).collect();
                let cart = Cart::new(&dims, &periods, i32::MAX).unwrap();
                let known = Grid::of_cart(&cart, Some(&vec![1; dims.len()]));
                for grid in [known.clone().with_unknown_weights(), known] {
                    let kept = plan_cart(&grid, &layout, &options);
                    let free = match grid.has_unknown_weights() {
                        true => unknown_weights::guard(&grid, &layout, &options, plan_by),
                        false => plan_by(&grid, &layout, &options),
                    };
                    check_costs(&grid, &layout, &options, &kept);
                    if !grid.has_unknown_weights() && free.gains_little(&layout) {
                        assert_eq!(kept.old_rank, None);
                        continue;
                    }
                    assert!(grid.is_no_loss(&layout, &kept), "{dims:?} {sizes:?}");
                    let alike =
                        layout.levels().len() == 1 && sizes.iter().all(|size| *size == sizes[0]);
                    if layout.levels().len() == 1
                        && let Some(order) = &kept.old_rank
                    {
                        let mut last = vec![-1; sizes.len()];
                        for rank in order.iter() {
                            let last = &mut last[layout.nodes()[*rank as usize] as usize];
                            assert!(*last < *rank, "in order on each node: {dims:?} {order:?}");
                            *last = *rank;
                        }
                    }
                    if alike { &mut even } else { &mut uneven }.add(&free, &kept);
                }
            }
        }
    }
    even.show("grids, nodes alike");
    uneven.show("grids, others");
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
            let kept = plan_graph(&graph, &layout, &options);
            check_costs(&graph, &layout, &options, &kept);
            let sizes = layout.node_sizes();
            let alike = layout.levels().len() == 1 && sizes.iter().all(|size| *size == sizes[0]);
            if alike { &mut even } else { &mut uneven }
                .add(&plan_by(&graph, &layout, &options), &kept);
        }
    }
    even.show("graphs, nodes alike");
    uneven.show("graphs, others");
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
    let switches: Vec<u64> = vec![0, 0, 0, 0, 1, 1, 1, 1, 2, 2];
    let layout = Machine::blocks(&[2; 5]).under(Kind::Switch, &switches).unwrap();
    assert_eq!(exchange(&layout, 1).unwrap(), [1, 0, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(exchange(&layout, 7).unwrap()[4..8], [2, 3, 1, 0]);
    assert_eq!(exchange(&layout, 9), None);
}
