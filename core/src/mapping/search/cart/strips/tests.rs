//! No other widths cost less, and the predicted cost is right.

use super::*;
use crate::mapping::Grid;

/// Calls `visit` with all lists of widths of at least 1 that add up to a size.
fn compositions(size: u32, widths: &mut Vec<u32>, visit: &mut impl FnMut(&[u32])) {
    if size == 0 {
        visit(widths);
    }
    for width in 1..=size {
        widths.push(width);
        compositions(size - width, widths, visit);
        widths.pop();
    }
}

#[test]
fn no_other_widths_cost_less() {
    for (dims, weights, periodic) in [
        ([11, 9], [1, 1], [false, false]),
        ([9, 10], [1, 1], [true, false]),
        ([10, 9], [3, 1], [false, true]),
        ([4, 12], [1, 2], [true, false]),
    ] {
        let stencil = Grid::nearest_neighbors(&weights);
        let lattice = Lattice::symmetric(&Grid::new(dims.to_vec(), periodic.to_vec(), stencil));
        let cells = lattice.vertices() as u32;
        for sizes in [vec![9; 12], vec![14, 11, 9], vec![5, 20, 13, 2], vec![40, 30]] {
            let mut left = cells;
            let sizes = sizes.into_iter().cycle().map_while(|size: u32| {
                let size = size.min(left);
                left -= size;
                (size > 0).then_some(size)
            });
            let sizes: Vec<u32> = sizes.collect();
            let sequence: Vec<u32> = (0..sizes.len() as u32).collect();
            let built = |strips: &Strips| {
                lattice.cost(&strips.fill(&lattice, &sizes, &sequence)).inter_node_edges
            };
            let found = strips(&lattice, &sizes, &mut Budget::seconds(1.0));
            // With two strips around a ring, a node may touch both walls.
            for (cost, strips) in found.into_iter().filter(|way| !periodic[way.1.order[1]]) {
                assert_eq!(cost, built(&strips), "{dims:?} {sizes:?} {strips:?}");
                let across = dims[strips.order[1]] as u32;
                let sides = sides(&lattice, cells as usize / sizes.len());
                let (low, high) = range(across, sides[strips.order[1]], RATIOS[0]);
                compositions(across, &mut Vec::new(), &mut |widths| {
                    if widths.iter().all(|width| (low..=high).contains(width)) {
                        let other = Strips { widths: widths.to_vec(), ..strips.clone() };
                        assert!(cost <= built(&other), "{dims:?} {sizes:?} {other:?}");
                    }
                });
            }
        }
    }
}
