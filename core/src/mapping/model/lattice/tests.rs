//! Tests of division, and of boxes in grids.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Divisor, Grid, Lattice};
use crate::mapping::Offset;
use crate::mapping::model::cost::Adjacency;

/// The edges among some cells, by their positions in the list.
fn among(lattice: &Lattice, cells: &[u32]) -> BTreeMap<(usize, usize), i64> {
    let mut edges = BTreeMap::new();
    for (from, cell) in cells.iter().enumerate() {
        lattice.for_each_edge(*cell as usize, |to, weight| {
            if let Some(to) = cells.iter().position(|cell| *cell as usize == to) {
                *edges.entry((from, to)).or_default() += weight;
            }
        });
    }
    edges
}

/// With steps of one, and steps halfway around a ring, which also lead back.
#[test]
fn a_box_has_the_edges_of_its_cells() {
    for dims in [vec![6], vec![4, 3], vec![2, 1, 4], vec![3, 2, 2], vec![1, 5], vec![4, 4]] {
        for ring in 0..1 << dims.len() {
            let periodic: Vec<bool> = (0..dims.len()).map(|i| ring >> i & 1 == 1).collect();
            let weights: Vec<i64> = (2..).take(dims.len()).collect();
            let mut stencil = Grid::nearest_neighbors(&weights);
            let half = dims.iter().zip(&periodic).map(|(side, ring)| match ring {
                true if side % 2 == 0 => *side as i32 / 2,
                _ => 1,
            });
            stencil.push(Offset { by: half.collect(), weight: 11 });
            let grid = Grid::new(dims.clone(), periodic, stencil);
            let cells = grid.vertices();
            // For many cells, a few choices, one of which is four corners halfway around both rings.
            for lattice in [Lattice::directed(&grid), Lattice::symmetric(&grid)] {
                for mask in (1..1_u32 << cells).filter(|mask| cells < 16 || mask % 257 == 0) {
                    let some: Vec<u32> =
                        (0..cells as u32).filter(|cell| mask >> cell & 1 == 1).collect();
                    let (part, numbers) = lattice.around(&some);
                    assert!(numbers.iter().all(|number| (*number as usize) < part.vertices()));
                    assert_eq!(among(&part, &numbers), among(&lattice, &some), "{grid:?} {some:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn quotients_are_exact(divisor in 1u32..=1 << 31, dividend in 0u32..1 << 31, times: u32) {
        for divisor in [divisor, divisor >> 16 | 1, divisor.isqrt() + 1] {
            let multiple = divisor.saturating_mul(times % ((1 << 31) / divisor + 1)).min(1 << 31);
            for dividend in [dividend, multiple.saturating_sub(1), multiple.min((1 << 31) - 1)] {
                prop_assert_eq!(Divisor::new(divisor).quotient(dividend), dividend / divisor);
            }
        }
    }
}
