//! Bricks: every node has the same box, and the boxes tile the grid.

use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::lattice::Lattice;

/// At most this number of bricks is considered: grids of very many dimensions have too many.
const MOST: usize = 20_000;

/// The number of bricks that are returned.
const BEST: usize = 3;

/// The sides of the bricks of `size` cells that tile the grid at least cost, best first.
pub(super) fn bricks(lattice: &Lattice, size: u32) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut sides = Vec::new();
    extend(lattice, size, &mut sides, &mut found);
    found.sort();
    found.truncate(BEST);
    found.into_iter().map(|(_, sides)| sides).collect()
}

/// Adds all bricks that begin with these sides and have `rest` cells in the other dimensions.
fn extend(lattice: &Lattice, rest: u32, sides: &mut Vec<u32>, found: &mut Vec<(i64, Vec<u32>)>) {
    if found.len() >= MOST {
        return;
    }
    let axes = lattice.axes();
    let Some(axis) = axes.get(sides.len()) else {
        if rest == 1 {
            found.push((lattice.tiled(sides), sides.clone()));
        }
        return;
    };
    // The most cells that the dimensions after this one can hold.
    let room: u64 = axes[sides.len() + 1..].iter().map(|axis| u64::from(axis.size)).product();
    for side in (1..=axis.size.min(rest)).rev() {
        if axis.size.is_multiple_of(side)
            && rest.is_multiple_of(side)
            && u64::from(rest / side) <= room
        {
            sides.push(side);
            extend(lattice, rest / side, sides, found);
            sides.pop();
        }
    }
}

/// The node of each cell, one of those in `sequence`, if nodes have bricks of these sides.
pub(super) fn fill(lattice: &Lattice, sides: &[u32], sequence: &[u32]) -> Vec<u32> {
    let (Some((inner, outer)), Some(side)) = (lattice.axes().split_last(), sides.last()) else {
        return vec![sequence[0]];
    };
    let mut node_of = Vec::with_capacity(lattice.vertices());
    let bricks = (inner.size / side) as usize;
    while node_of.len() < lattice.vertices() {
        let row = node_of.len() as u32;
        let across = outer.iter().zip(sides).fold(0, |brick, (axis, side)| {
            brick * (axis.size / side) + axis.coordinate(row) / side
        });
        let nodes = &sequence[across as usize * bricks..][..bricks];
        nodes.iter().for_each(|node| node_of.extend(std::iter::repeat_n(*node, *side as usize)));
    }
    node_of
}
