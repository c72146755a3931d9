//! Strips: the grid is cut into strips along one dimension, which are walked to and fro and filled
//! with one node after the other, so that nodes of any sizes fit.

use crate::mapping::lattice::{Axis, Lattice};

/// More ways to cut than these are not looked at: grids of very many dimensions have too many.
const MOST: usize = 5_000;

/// One way to cut the grid.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Strips {
    /// The dimension along which strips run.
    along: usize,
    /// Where the strips end in every dimension; in that one, there is one strip.
    ends: Vec<Vec<u32>>,
}

/// All ways to cut the grid for nodes of about `size` cells, those first that seem to cost least.
pub(super) fn strips(lattice: &Lattice, size: u32) -> Vec<Strips> {
    let mut found = Vec::new();
    let heights = heights(lattice, size);
    for along in 0..lattice.axes().len() {
        let mut strips = Strips { along, ends: Vec::new() };
        let share = MOST / lattice.axes().len() * (along + 1);
        extend(lattice, (size, &heights), &mut strips, share, &mut found);
    }
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, strips)| strips).collect()
}

/// How high strips may be in each dimension: from half of the side of the box of `size` cells whose surface
/// weighs least to twice that. The surface across a dimension is the volume by the side, so sides are as
/// the weights: where these are all the same it is a cube, else no longer than the grid.
fn heights(lattice: &Lattice, size: u32) -> Vec<(u32, u32)> {
    let axes = lattice.axes();
    let alike = axes.iter().all(|axis| axis.weight == axes[0].weight);
    let side = |axis: &Axis, unit: f64| {
        let most = if alike { f64::INFINITY } else { f64::from(axis.size) };
        (unit * axis.weight as f64 / axes[0].weight.max(1) as f64).clamp(1.0, most)
    };
    // By halves: every machine rounds these operations alike.
    let (mut low, mut high) = (0.0, f64::from(size) * axes[0].weight.max(1) as f64 + 1.0);
    for _ in 0..100 {
        let unit = 0.5 * (low + high);
        let volume: f64 = axes.iter().map(|axis| side(axis, unit)).product();
        *(if volume <= f64::from(size) { &mut low } else { &mut high }) = unit;
    }
    let range = |axis: &Axis| {
        let side = (side(axis, low) + 1e-9) as u32;
        (side.div_ceil(2), 2 * side + 1)
    };
    axes.iter().map(range).collect()
}

/// Adds all ways to cut the dimensions that are not cut yet.
fn extend(
    lattice: &Lattice,
    (size, heights): (u32, &[(u32, u32)]),
    strips: &mut Strips,
    most: usize,
    found: &mut Vec<(i64, Strips)>,
) {
    if found.len() >= most {
        return;
    }
    let axes = lattice.axes();
    let Some(axis) = axes.get(strips.ends.len()) else {
        found.push((strips.estimate(lattice, size), strips.clone()));
        return;
    };
    let at = strips.ends.len();
    let along = strips.along;
    let mut next = |ends| {
        strips.ends.push(ends);
        extend(lattice, (size, heights), strips, most, found);
        strips.ends.pop();
    };
    if at == along {
        next(vec![axis.size]);
        return;
    }
    let (low, high) = heights[at];
    if high >= axis.size {
        next(vec![axis.size]);
    }
    let mut last = 1;
    for height in (low..=high.min(axis.size - 1)).rev() {
        // Strips nearly as high as each other,
        let count = axis.size.div_ceil(height);
        if count > last {
            last = count;
            next(
                (1..=count)
                    .map(|i| (u64::from(axis.size) * u64::from(i) / u64::from(count)) as u32)
                    .collect(),
            );
        }
        // or all of this height but the last.
        if axis.size % height != 0 && axes.len() < 4 {
            next((1..=count).map(|i| (i * height).min(axis.size)).collect());
        }
    }
}

impl Strips {
    /// About what the mapping will cost.
    fn estimate(&self, lattice: &Lattice, size: u32) -> i64 {
        let axes = lattice.axes();
        let cells: i64 = axes.iter().map(|axis| i64::from(axis.size)).product();
        let mut sum = 0;
        let mut section = 1;
        for (axis, ends) in axes.iter().zip(&self.ends) {
            let strips = ends.len() as i64;
            let walls = if axis.periodic && strips > 1 { strips } else { strips - 1 };
            sum += axis.weight * walls * (cells / i64::from(axis.size));
            section *= (i64::from(axis.size) + strips / 2) / strips;
        }
        // Where one node follows another: a plane, and a step in it where the plane is not full.
        let nodes = cells / i64::from(size.max(1));
        let mut between = section * axes[self.along].weight;
        if i64::from(size) % section != 0 {
            let steps = axes.iter().enumerate().filter(|(i, _)| *i != self.along);
            between += steps.map(|(_, axis)| axis.weight).max().unwrap_or(0);
        }
        sum + nodes * between
    }

    /// Calls `visit` for every cell, along the strips.
    pub(super) fn walk(&self, lattice: &Lattice, mut visit: impl FnMut(u32)) {
        let axes = lattice.axes();
        // Which strip, one number a dimension; each goes forth and back as those before it change.
        let mut strip = vec![0; axes.len()];
        let mut back = vec![false; axes.len()];
        let mut turned = false;
        loop {
            let range = |i: usize, at: usize| {
                (if at == 0 { 0 } else { self.ends[i][at - 1] }, self.ends[i][at])
            };
            let size = axes[self.along].size;
            for step in 0..size {
                let position = if turned { size - 1 - step } else { step };
                self.section(
                    lattice,
                    &strip,
                    &range,
                    0,
                    position * axes[self.along].stride,
                    &mut visit,
                );
            }
            turned = !turned;
            let mut i = axes.len();
            loop {
                if i == 0 {
                    return;
                }
                i -= 1;
                let last = self.ends[i].len() - 1;
                let at_end = if back[i] { strip[i] == 0 } else { strip[i] == last };
                if !at_end {
                    strip[i] = if back[i] { strip[i] - 1 } else { strip[i] + 1 };
                    break;
                }
                back[i] = !back[i];
            }
        }
    }

    /// Calls `visit` for the cells of a section across a strip.
    fn section(
        &self,
        lattice: &Lattice,
        strip: &[usize],
        range: &impl Fn(usize, usize) -> (u32, u32),
        axis: usize,
        base: u32,
        visit: &mut impl FnMut(u32),
    ) {
        if axis == strip.len() {
            visit(base);
            return;
        }
        if axis == self.along {
            return self.section(lattice, strip, range, axis + 1, base, visit);
        }
        let (first, end) = range(axis, strip[axis]);
        for position in first..end {
            let base = base + position * lattice.axes()[axis].stride;
            self.section(lattice, strip, range, axis + 1, base, visit);
        }
    }
}
