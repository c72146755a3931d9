//! Strips: the grid is cut into strips along one dimension, which are walked to and fro and filled
//! with one node after the other, so that nodes of any sizes fit.

use crate::mapping::cost::Adjacency;
use crate::mapping::lattice::{Axis, Lattice};

/// Of more nodes the ends of the first are looked at.
pub(super) const MOST_ENDS: usize = 4_096;

/// More ways to cut than these are not looked at: grids of very many dimensions have too many.
const MOST: usize = 5_000;

/// One way to cut the grid.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Strips {
    /// The dimension along which strips run.
    along: usize,
    /// The ends of the strips in every dimension; along the strips there is only one.
    ends: Vec<Vec<u32>>,
}

/// All ways to cut the grid for nodes of these sizes in this order, those first that cost least.
pub(super) fn strips(lattice: &Lattice, sizes: &[u32]) -> Vec<(i64, Strips)> {
    let mut found = Vec::new();
    let mean = (lattice.vertices() / sizes.len()).max(1) as u32;
    let heights = heights(lattice, mean);
    for along in 0..lattice.axes().len() {
        let mut strips = Strips { along, ends: Vec::new() };
        let share = MOST / lattice.axes().len() * (along + 1);
        extend(lattice, &heights, &mut strips, share, &mut found);
    }
    let mut found: Vec<_> =
        found.into_iter().map(|strips| (strips.cost(lattice, sizes), strips)).collect();
    found.sort();
    found.dedup();
    found
}

/// The range of heights of strips in each dimension: from half of the side of the box of `size` cells whose surface
/// weighs least to twice that. The surface across a dimension is the volume by the side, so sides are as the weights:
/// where these are all the same it is a cube, else no longer than the grid.
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
    heights: &[(u32, u32)],
    strips: &mut Strips,
    most: usize,
    found: &mut Vec<Strips>,
) {
    if found.len() >= most {
        return;
    }
    let axes = lattice.axes();
    let Some(axis) = axes.get(strips.ends.len()) else {
        found.push(strips.clone());
        return;
    };
    let at = strips.ends.len();
    let along = strips.along;
    let mut next = |ends| {
        strips.ends.push(ends);
        extend(lattice, heights, strips, most, found);
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
    let higher = (low..=high.min(axis.size - 1)).rev();
    let counts: Vec<u32> = match axes.len() {
        2 => (axis.size.div_ceil(high.min(axis.size)).max(2)..=axis.size.div_ceil(low)).collect(),
        // Of more dimensions some numbers of strips: all take too long on large grids.
        _ => {
            let mut counts: Vec<u32> =
                higher.clone().map(|height| axis.size.div_ceil(height)).collect();
            counts.dedup();
            counts
        }
    };
    // Strips nearly as high as each other,
    for count in counts {
        let end = |i| (u64::from(axis.size) * u64::from(i) / u64::from(count)) as u32;
        next((1..=count).map(end).collect());
    }
    // or all of one height but the last.
    for height in higher.filter(|height| axis.size % height != 0 && axes.len() < 4) {
        next((1..=axis.size.div_ceil(height)).map(|i| (i * height).min(axis.size)).collect());
    }
}

impl Strips {
    /// The cost of filling nodes of these sizes one after the other: the walls between strips, and what each end of
    /// a node cuts in its strip. Exact for nearest neighbors, except that of a node which goes on in the next strip
    /// only whole planes count as joined; of many nodes the first stand for all.
    fn cost(&self, lattice: &Lattice, sizes: &[u32]) -> i64 {
        let axes = lattice.axes();
        let cells = lattice.vertices() as i64;
        let mut walls = 0;
        for (axis, ends) in axes.iter().zip(&self.ends) {
            let strips = ends.len() as i64;
            let count = if axis.periodic && strips > 1 { strips } else { strips - 1 };
            walls += axis.weight * count * (cells / i64::from(axis.size));
        }
        let (mut course, mut section) = (Course::new(axes.len()), Section::default());
        section.enter(self, axes, &course);
        let (mut cut, mut seen, mut at) = (0, 0, 0);
        'nodes: for &size in sizes.iter().take(MOST_ENDS) {
            let mut left = i64::from(size);
            seen += left;
            loop {
                let (start, taken) = (at, left.min(section.length - at));
                at += taken;
                left -= taken;
                if at < section.length {
                    cut += section.cut_at(start, at, axes);
                    break;
                }
                let Some(turned) = course.advance(&self.ends) else { break 'nodes };
                let planes = taken / section.plane;
                section.enter(self, axes, &course);
                at = 0;
                // The planes that the node has on both sides of the wall.
                let planes = planes.min(left.min(section.length) / section.plane);
                cut -= planes * (section.plane / section.sides[turned]) * axes[turned].weight;
                if left == 0 {
                    break;
                }
            }
        }
        walls + (i128::from(cut) * i128::from(cells) / i128::from(seen.max(1))) as i64
    }

    /// Calls `visit` for every cell, along the strips.
    pub(super) fn walk(&self, lattice: &Lattice, mut visit: impl FnMut(u32)) {
        let axes = lattice.axes();
        let mut course = Course::new(axes.len());
        let mut turned = false;
        loop {
            let size = axes[self.along].size;
            for step in 0..size {
                let position = if turned { size - 1 - step } else { step };
                let base = position * axes[self.along].stride;
                self.section(lattice, &course, 0, base, &mut visit);
            }
            turned = !turned;
            if course.advance(&self.ends).is_none() {
                return;
            }
        }
    }

    /// The range of the strip that is walked, in a dimension.
    fn range(&self, axis: usize, course: &Course) -> (u32, u32) {
        let (ends, at) = (&self.ends[axis], course.strip[axis]);
        (if at == 0 { 0 } else { ends[at - 1] }, ends[at])
    }

    /// Calls `visit` for the cells of a section across a strip.
    fn section(
        &self,
        lattice: &Lattice,
        course: &Course,
        axis: usize,
        base: u32,
        visit: &mut impl FnMut(u32),
    ) {
        if axis == self.ends.len() {
            visit(base);
            return;
        }
        if axis == self.along {
            return self.section(lattice, course, axis + 1, base, visit);
        }
        let (first, end) = self.range(axis, course);
        for position in first..end {
            let base = base + position * lattice.axes()[axis].stride;
            self.section(lattice, course, axis + 1, base, visit);
        }
    }
}

/// The strip that a walk is in, one number a dimension; each goes forth and back as those before it change.
struct Course {
    strip: Vec<usize>,
    back: Vec<bool>,
}

impl Course {
    fn new(ndims: usize) -> Self {
        Self { strip: vec![0; ndims], back: vec![false; ndims] }
    }

    /// Goes on to the next strip, and returns the dimension in which that lies; `None` after the last.
    fn advance(&mut self, ends: &[Vec<u32>]) -> Option<usize> {
        for i in (0..ends.len()).rev() {
            let last = ends[i].len() - 1;
            if self.strip[i] != if self.back[i] { 0 } else { last } {
                self.strip[i] = if self.back[i] { self.strip[i] - 1 } else { self.strip[i] + 1 };
                return Some(i);
            }
            self.back[i] = !self.back[i];
        }
        None
    }
}

/// A strip, for counting what is cut in it: its cells have numbers in the order of the walk.
#[derive(Default)]
struct Section {
    /// The width in each dimension; 1 in the dimension along which it runs.
    sides: Vec<i64>,
    /// The cells of a plane across it.
    plane: i64,
    /// All of its cells.
    length: i64,
    along: usize,
}

impl Section {
    /// Becomes the strip that a walk is in.
    fn enter(&mut self, strips: &Strips, axes: &[Axis], course: &Course) {
        self.along = strips.along;
        self.sides.clear();
        self.sides.extend((0..axes.len()).map(|i| {
            let (first, end) = strips.range(i, course);
            if i == strips.along { 1 } else { i64::from(end - first) }
        }));
        self.plane = self.sides.iter().product();
        self.length = self.plane * i64::from(axes[self.along].size);
    }

    /// The edges from the cells from `start` on to the end of their node to cells behind that.
    fn cut_at(&self, start: i64, end: i64, axes: &[Axis]) -> i64 {
        // Edges of one length in a row of cells, of which the first `from` have one.
        let crossing = |start: i64, end: i64, length: i64, from: i64| {
            (end.min(from) - start.max(end - length)).max(0)
        };
        let axis = &axes[self.along];
        let mut sum = axis.weight * crossing(start, end, self.plane, self.length - self.plane);
        if axis.periodic {
            let around = self.length - self.plane;
            sum += axis.weight * crossing(start, end, around, self.plane);
        }
        // In the plane that is not full: rows, planes of rows and so on, of which one is not full each.
        let mut stride = 1;
        for (i, axis) in axes.iter().enumerate().rev().filter(|(i, _)| *i != self.along) {
            let block = stride * self.sides[i];
            let rest = end % block;
            let begin = (start - (end - rest)).max(0);
            sum += axis.weight * crossing(begin, rest, stride, block - stride);
            if axis.periodic && self.sides[i] == i64::from(axis.size) {
                sum += axis.weight * crossing(begin, rest, block - stride, stride);
            }
            stride = block;
        }
        sum
    }
}
