//! Grids with unknown weights of edges along each dimension: these are assumed to be equal.
//!
//! A mapping that is best for equal weights may increase the cost for others, if rank order already has the heavy edges
//! inside nodes. So a mapping is applied only if, for all ratios of dimensions up to [`INEQUALITY`], it has no more
//! weight between nodes than rank order, and no node has more than the busiest node in rank order. In addition, a third
//! of the cut edges must be saved ([`KEPT`]), and no further dimension may be cut if nodes have [few edges](FEW_EDGES).
//! If the best mapping fails this test, others are tried that keep the same dimensions inside nodes as rank order does.
//! Measured in docs/results/quality.md.

use std::collections::HashMap;

use super::best::plan_by;
use super::refine::LARGE;
use super::subject::Subject;
use crate::machine::{Level, Machine};
use crate::mapping::distance::distance_model::DistanceModel;
use crate::mapping::distance::torus::NodeCoordinates;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::grid::Grid;
use crate::mapping::model::lattice::Lattice;
use crate::mapping::plan::{Options, Plan};

/// The largest ratio of two dimensions' weights that is considered.
const INEQUALITY: i64 = 4;

/// The most dimensions for which all corners of the possible weights are checked; grids with more keep rank order.
const MOST_DIMS: usize = 8;

/// The fraction of the cut edges that a mapping may leave. In replay, sweeps over grids with more cut edges left took
/// 1.05 to 1.23 times as long; docs/results/quality.md lists sweeps with fewer.
const KEPT: (i64, i64) = (2, 3);

/// Up to this number of edges of the busiest node, the latency of messages matters more than their bytes: programs that
/// exchange along one dimension after the other wait once for each dimension that is cut. In replay, such programs took
/// up to 1.18 times as long if one more dimension was cut.
const FEW_EDGES: i64 = 16;

/// The best mapping that does not increase the cost if dimensions are unequal, or rank order. It takes at most twice as
/// long as the best mapping for known weights, plus constructions, which take at most four times as long.
pub(super) fn guard(grid: &Grid, machine: &Machine, options: &Options) -> Plan {
    let best = plan_by(grid, machine, options);
    let (nodes, cells) = (machine.nodes(), grid.vertices());
    let node_of =
        |plan: &Plan| -> Vec<u32> { plan.old_ranks().map(|old| nodes[old as usize]).collect() };
    let after = node_of(&best);
    // If vertices only move inside nodes, no edges between nodes change.
    if after == nodes[..cells] {
        return best;
    }
    let stay = best.clone().undone();
    let cuts = |plan: &Plan| cuts(grid, machine, plan);
    let (before, after) = (cuts(&stay), cuts(&best));
    let is_safe = |cuts: &[Cut]| {
        are_safe(cuts, &before) && pays(cuts, &before) && !cuts[0].waits_more(&before[0])
    };
    if is_safe(&after) {
        return best;
    }
    let model = DistanceModel::new(machine, &options.distances);
    let key = |plan: &Plan| model.key(grid, &node_of(plan), options.objective);
    let (of_nodes, above) = grid.seconds(options.seconds, model.nodes(), !model.is_trivial());
    let seconds = (of_nodes + above) / 3.0;
    let options = Options { seconds: Some(seconds), ..*options };
    // If constructions take most of the time, one more mapping is tried instead of three.
    let tried = if cells < LARGE { 0..3 } else { 1..2 };
    for weights in &penalised_weights(&before[0].sums, &after[0].sums)[tried] {
        let found = plan_by(&grid.weighing(weights), machine, &options);
        let Some(old_rank) = found.old_rank else { continue };
        let found = stay.clone().with_order(grid, machine, old_rank, found.algorithm);
        if key(&found) < key(&stay) && is_safe(&cuts(&found)) {
            return found;
        }
    }
    Plan { rejected_as_risky: Some(best.after), ..stay }
}

/// The edges of a grid that a plan cuts between nodes, and between the groups of each level above.
fn cuts(grid: &Grid, machine: &Machine, plan: &Plan) -> Vec<Cut> {
    let group_of = |level: &Level| -> Vec<u32> {
        plan.old_ranks().map(|old| level.group_of[old as usize]).collect()
    };
    let levels = machine.levels()[..=machine.above().len()].iter().rev();
    let cut = |level| {
        let group_of = group_of(level);
        Cut::new(grid, |edges, visit| {
            edges.for_each_cut_edge(&group_of, |from, _, weight| visit(from as usize, weight));
        })
    };
    let links = NodeCoordinates::new(machine).map(|coordinates| {
        let nodes: Vec<u32> = plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
        let mut number = HashMap::new();
        Cut::new(grid, |edges, visit| {
            coordinates.for_each_load(edges, &nodes, |link, weight| {
                let next = number.len();
                visit(*number.entry(link).or_insert(next), weight);
            });
        })
    });
    levels.map(cut).chain(links).collect()
}

fn are_safe(cuts: &[Cut], before: &[Cut]) -> bool {
    cuts.iter().zip(before).all(|(cut, before)| cut.is_safe(before))
}

/// True if a mapping leaves at most [this fraction](KEPT) of the cut edges at some level.
fn pays(cuts: &[Cut], before: &[Cut]) -> bool {
    let all = |cut: &Cut| cut.sums.iter().sum::<i64>();
    cuts.iter().zip(before).any(|(cut, before)| KEPT.1 * all(cut) <= KEPT.0 * all(before))
}

/// Weights with which a mapping cuts less of those dimensions that are cut more `after` than `before`, the mildest
/// first; in the last, weights rise for the dimensions that rank order cuts least.
fn penalised_weights(before: &[i64], after: &[i64]) -> [Vec<i64>; 3] {
    let more = |weight: i64, others: i64| {
        let pairs = before.iter().zip(after);
        pairs.map(|(before, after)| if after > before { weight } else { others }).collect()
    };
    let mut order: Vec<usize> = (0..before.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(before[*i]));
    let mut rising = vec![0; before.len()];
    for (place, i) in order.into_iter().enumerate() {
        rising[i] = 1 << place.min(2);
    }
    [more(3, 2), more(3, 1), rising]
}

/// The edges of a grid between nodes, or over links, by dimension.
struct Cut {
    sums: Vec<i64>,
    /// The edges that leave a node or cross a link, once for all nodes or links with equal ones.
    nodes: Vec<Vec<i64>>,
}

impl Cut {
    /// `loads` calls its argument for each edge along a dimension, with the node that the edge leaves.
    fn new(grid: &Grid, mut loads: impl FnMut(&Lattice, &mut dyn FnMut(usize, i64))) -> Self {
        let mut along = |dimension: usize| -> Vec<i64> {
            let mut leaving: Vec<i64> = Vec::new();
            loads(&Lattice::directed(&grid.along(dimension)), &mut |node, weight| {
                leaving.resize(leaving.len().max(node + 1), 0);
                leaving[node] += weight;
            });
            leaving
        };
        let mut dimensions: Vec<Vec<i64>> = (0..grid.dims().len()).map(&mut along).collect();
        let count = dimensions.iter().map(Vec::len).max().unwrap_or(0);
        dimensions.iter_mut().for_each(|leaving| leaving.resize(count, 0));
        let sums = dimensions.iter().map(|leaving| leaving.iter().sum()).collect();
        let of_node = |node: usize| dimensions.iter().map(|leaving| leaving[node]).collect();
        let mut nodes: Vec<Vec<i64>> = (0..count).map(of_node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Self { sums, nodes }
    }

    /// True if a dimension is cut that was not cut before, and nodes have [few edges](FEW_EDGES).
    fn waits_more(&self, before: &Self) -> bool {
        let busiest = before.nodes.iter().map(|cut| cut.iter().sum::<i64>()).max();
        let mut sums = self.sums.iter().zip(&before.sums);
        busiest.unwrap_or(0) <= FEW_EDGES && sums.any(|(after, before)| *before == 0 && *after > 0)
    }

    /// True if no more is cut than before, in total and for the busiest node, for all possible weights. Both are
    /// largest at a corner of the allowed weights; the sum, where those dimensions weigh most of which more is cut.
    fn is_safe(&self, before: &Self) -> bool {
        let changes = self.sums.iter().zip(&before.sums).map(|(after, before)| after - before);
        let worst = changes.map(|change| if change > 0 { INEQUALITY * change } else { change });
        let most = |cut: &Self, weights: &[i64]| {
            let leaving =
                |node: &Vec<i64>| node.iter().zip(weights).map(|(cut, weight)| cut * weight).sum();
            cut.nodes.iter().map(leaving).max().unwrap_or(0)
        };
        worst.sum::<i64>() <= 0
            && self.sums.len() <= MOST_DIMS
            && corners(self.sums.len())
                .all(|weights| most(self, &weights) <= most(before, &weights))
    }
}

/// The least and the most that each dimension may weigh, in all combinations.
fn corners(ndims: usize) -> impl Iterator<Item = Vec<i64>> {
    let weight = move |corner: usize| move |i| if corner >> i & 1 == 1 { INEQUALITY } else { 1 };
    (0..1usize << ndims).map(move |corner| (0..ndims).map(weight(corner)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Cart;

    fn grid(dims: &[i32]) -> Grid {
        Grid::from(&Cart::new(dims, &vec![false; dims.len()], i32::MAX).unwrap())
    }

    fn planned(dims: &[i32], sizes: &[usize]) -> Plan {
        guard(&grid(dims), &Machine::blocks(sizes), &Options::default())
    }

    fn sums(plan: &Plan) -> (i64, i64) {
        (plan.before.inter_node_edges, plan.after.inter_node_edges)
    }

    #[test]
    fn a_plan_that_may_lose_is_rejected_as_risky() {
        // Rows on separate nodes, which squares would cut: with weights of 1 and more, nothing would be left.
        for dims in [&[4, 4][..], &[4, 4, 1]] {
            let plan = planned(dims, &[4; 4]);
            assert_eq!(sums(&plan), (24, 24), "{dims:?}");
            assert_eq!(plan.old_rank, None);
            assert_eq!(plan.rejected_as_risky.map(|cost| cost.inter_node_edges), Some(16));
        }
        // A gain of three tenths, with which sweeps become slower.
        let plan = planned(&[8, 8, 8], &[16; 32]);
        assert_eq!(sums(&plan), (1280, 1280));
        assert_eq!(plan.rejected_as_risky.map(|cost| cost.inter_node_edges), Some(896));
        // Fewer edges only of the busiest node.
        let plan = planned(&[4, 2, 2], &[4; 4]);
        assert!(plan.old_rank.is_none() && plan.rejected_as_risky.is_some(), "{plan:?}");
        // Nothing is rejected as risky if nothing is found.
        assert_eq!(planned(&[4, 1], &[1; 4]).rejected_as_risky, None);
    }

    #[test]
    fn a_plan_that_cannot_lose_is_applied() {
        // Two columns of nodes of 2 x 4 would have 64, but small messages across would wait for those down.
        let few = planned(&[8, 8], &[8; 8]);
        assert_eq!(sums(&few), (112, 112));
        assert_eq!(few.rejected_as_risky.map(|cost| cost.inter_node_edges), Some(64));
        // Squares of 4 x 4 would have 192, but a node would have more than now if rows weigh four times as much.
        assert_eq!(sums(&planned(&[16, 16], &[16; 16])), (480, 256));
        // Ranks round-robin on few nodes cut so much that every mapping is better.
        let round_robin = Machine::from_ids(&(0..64).map(|rank| rank % 4).collect::<Vec<_>>());
        assert_eq!(sums(&guard(&grid(&[8, 8]), &round_robin, &Options::default())), (112, 32));
    }

    #[test]
    fn no_weights_up_to_the_limit_cause_a_loss() {
        for (dims, sizes) in [
            (&[12, 12][..], vec![12; 12]),
            (&[8, 8, 8], vec![32; 16]),
            (&[12, 8, 8], vec![48; 16]),
            (&[30, 24], [vec![60; 6], vec![40; 9]].concat()),
        ] {
            let machine = Machine::blocks(&sizes);
            let plan = guard(&grid(dims), &machine, &Options::default());
            let node_of: Vec<u32> =
                plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
            assert!(plan.after.inter_node_edges < plan.before.inter_node_edges, "{dims:?}");
            for number in 0..3usize.pow(dims.len() as u32) {
                let weights: Vec<i64> =
                    (0..dims.len()).map(|i| [1, 2, 4][number / 3usize.pow(i as u32) % 3]).collect();
                let grid = grid(dims).weighing(&weights);
                let (before, after) = (grid.cost(machine.nodes()), grid.cost(&node_of));
                assert!(
                    after.inter_node_edges <= before.inter_node_edges
                        && after.max_node_edges <= before.max_node_edges,
                    "{dims:?} weighing {weights:?}: {before:?} -> {after:?}"
                );
            }
        }
    }

    #[test]
    fn grids_of_many_dimensions_keep_rank_order() {
        assert_eq!(corners(2).collect::<Vec<_>>(), [[1, 1], [4, 1], [1, 4], [4, 4]]);
        let round_robin = Machine::from_ids(&(0..512).map(|rank| rank % 7).collect::<Vec<_>>());
        let plan = guard(&grid(&[2; 9]), &round_robin, &Options::default());
        assert!(plan.old_rank.is_none() && plan.rejected_as_risky.is_some(), "{plan:?}");
    }
}
