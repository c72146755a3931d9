//! Strips: the grid is cut into strips along one dimension, which are traversed back and forth (boustrophedon) and filled
//! with one node after the other, so that nodes of any sizes fit.
//!
//! With more than two dimensions, slabs are cut first, and each slab into strips. At the start of a strip, the number
//! of cells already filled is known, so the edges cut between nodes in it depend only on its width: the best widths are
//! found one after the other (dynamic programming), for nearest neighbors in two dimensions exactly.

#[cfg(test)]
mod tests;

use std::cmp::{Ordering, Reverse};

use super::compact_box::compact_box;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::lattice::{Axis, Lattice};

/// The ratios of widths to the side of the best box, up and down, that are tried: the largest that the budget allows;
/// if it allows none, one width for all strips across a dimension.
const RATIOS: [f64; 5] = [2.0, 1.5, 1.25, 1.1, 1.0];

/// One way to cut the grid.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Strips {
    /// The dimension along which strips run, then those across, the outermost first.
    order: Vec<usize>,
    /// The width of each slab, followed by those within it.
    widths: Vec<u32>,
}

/// The best cuts of the grid for nodes with these shares of it, in this order, the cheapest first: one for each
/// dimension along which strips can run and, with three dimensions, for each order of the others. With a small budget,
/// fewer of them and fewer widths are tried.
pub(super) fn strips(lattice: &Lattice, sizes: &[u32], budget: &mut Budget) -> Vec<(i64, Strips)> {
    let cells = lattice.vertices() as u64;
    let all: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
    let ends = sizes.iter().scan(0, |sum, size| {
        *sum += u64::from(*size);
        Some((*sum * cells / all) as i64)
    });
    let starts: Vec<i64> = std::iter::once(0).chain(ends).collect();
    let sides = sides(lattice, lattice.vertices() / sizes.len());
    let orders = orders(lattice.axes());
    let mut found = Vec::new();
    for (i, order) in orders.iter().enumerate() {
        let share = budget.left() / (orders.len() - i) as i64;
        let axes: Vec<Axis> = order.iter().map(|i| lattice.axes()[*i]).collect();
        let ranges = |ratio: f64| -> Vec<(u32, u32)> {
            let along = order.iter().zip(&axes);
            along.map(|(i, axis)| range(axis.size, sides[*i], ratio)).collect()
        };
        let mut search = Search::new(&axes, &starts);
        let mut fits = |work: &dyn Fn(&Search<'_>) -> i64| {
            RATIOS.into_iter().any(|ratio| {
                search.ranges = ranges(ratio);
                work(&search) <= share
            })
        };
        let (cost, widths) = if fits(&|search| search.work()) {
            search.cut(1, 0)
        } else if fits(&|search| search.work_alike()) || i == 0 {
            search.cut_alike(1)
        } else {
            continue;
        };
        budget.spend(search.steps);
        found.push((cost, Strips { order: order.clone(), widths }));
    }
    found.sort();
    found
}

/// The least and the largest width of strips across a dimension of this size, if the numbers of strips are the largest
/// and the smallest with nearly equal widths.
fn range(size: u32, side: f64, ratio: f64) -> (u32, u32) {
    let count = |strips: f64| (strips.round() as u32).clamp(1, size);
    let strips = f64::from(size) / side;
    (size / count(strips * ratio), size.div_ceil(count(strips / ratio)))
}

/// For each dimension along which strips can run, the longest first, the order in which the others are cut.
fn orders(axes: &[Axis]) -> Vec<Vec<usize>> {
    let mut along: Vec<usize> = (0..axes.len()).collect();
    along.sort_by_key(|i| Reverse(axes[*i].size));
    let order = |(along, back): (usize, bool)| {
        let mut across: Vec<usize> = (0..axes.len()).filter(|i| *i != along).collect();
        if back {
            across.reverse();
        }
        std::iter::once(along).chain(across).collect()
    };
    let ways = if axes.len() == 3 { 2 } else { 1 };
    let both = (0..ways).flat_map(|way| along.iter().map(move |along| (*along, way == 1)));
    both.map(order).collect()
}

/// The sides of the best box of this number of cells: a cube if all dimensions weigh the same, but no longer than the
/// grid.
fn sides(lattice: &Lattice, cells: usize) -> Vec<f64> {
    let axes = lattice.axes();
    let alike = axes.iter().all(|axis| axis.weight == axes[0].weight);
    let most = |axis: &Axis| if alike { f64::INFINITY } else { f64::from(axis.size) };
    let walls: Vec<(i64, f64)> = axes.iter().map(|axis| (axis.weight, most(axis))).collect();
    compact_box(cells.max(1) as f64, &walls).into_iter().map(|side| side + 1e-9).collect()
}

/// The search for widths, with strips along the first of the axes.
struct Search<'a> {
    axes: &'a [Axis],
    /// The least and the largest width across each axis.
    ranges: Vec<(u32, u32)>,
    /// The first cell of each node, and the number of all cells.
    starts: &'a [i64],
    /// The widths of the region being cut; 1 along the strips.
    sides: Vec<i64>,
    steps: usize,
}

/// The best cut into slabs of which the last is `width` wide.
struct Slabs {
    cost: i64,
    width: u32,
    /// The widths in the last one.
    inner: Vec<u32>,
    /// The best cut for the slabs before the last: its index among all that end where that begins.
    before: usize,
}

impl<'a> Search<'a> {
    fn new(axes: &'a [Axis], starts: &'a [i64]) -> Self {
        Self { axes, ranges: Vec::new(), starts, sides: vec![1; axes.len()], steps: 0 }
    }

    /// The approximate number of steps for trying all widths; infinite if that takes more memory than the steps after
    /// it.
    fn work(&self) -> i64 {
        let cells: f64 = self.axes.iter().map(|axis| f64::from(axis.size)).product();
        let (mut ends, mut strips, mut pairs, mut kept) = (self.starts.len() as f64, 1.0, 0.0, 0.0);
        for (axis, (low, high)) in self.axes.iter().zip(&self.ranges).skip(1) {
            let (size, count) = (f64::from(axis.size), f64::from(high - low + 1));
            ends *= 0.5 * f64::from(low + high) * count;
            pairs = strips * size * count * count;
            strips *= size * count;
            kept += size * count;
        }
        let steps = (ends + 4.0 * strips) * self.axes.len() as f64 + pairs;
        if kept > (cells / 4.0).max(10_000.0) { i64::MAX } else { steps as i64 }
    }

    /// The best cut with one width across each axis from `level` on, except for the last slab.
    fn cut_alike(&mut self, level: usize) -> (i64, Vec<u32>) {
        let Some(&(low, high)) = self.ranges.get(level) else { return self.cut(1, 0) };
        let of = |width| {
            self.ranges[level] = (width, width);
            self.cut_alike(level + 1)
        };
        let best = (low..=high).map(of).min().expect("one width at least");
        self.ranges[level] = (low, high);
        best
    }

    /// The approximate number of steps that this takes.
    fn work_alike(&self) -> i64 {
        let (mut ways, mut strips) = (1.0, 1.0);
        for (axis, (low, high)) in self.axes.iter().zip(&self.ranges).skip(1) {
            ways *= f64::from(high - low + 1);
            strips *= f64::from(axis.size) / (0.5 * f64::from(low + high));
        }
        (ways * (self.starts.len() as f64 + 4.0 * strips) * self.axes.len() as f64) as i64
    }

    /// The least cost of cuts across the axes from `level` on, and the widths; the cells before `first` are filled.
    fn cut(&mut self, level: usize, first: i64) -> (i64, Vec<u32>) {
        let Some(&Axis { size, periodic, weight, .. }) = self.axes.get(level) else {
            return (self.strip(first), Vec::new());
        };
        let inside: i64 = self.axes[level + 1..].iter().map(|axis| i64::from(axis.size)).product();
        let section: i64 = self.sides[..level].iter().product();
        let plane = inside * section * i64::from(self.axes[0].size);
        let (low, high) = self.ranges[level];
        // Indexed by the position of their ends.
        let mut best: Vec<Vec<Slabs>> = (0..=size).map(|_| Vec::new()).collect();
        for at in 0..size {
            let (first, rest) = (first + i64::from(at) * plane, size - at);
            let before = std::mem::take(&mut best[at as usize]);
            if at > 0 && before.is_empty() {
                continue;
            }
            let parts = self.parts(level, first);
            let wall = if at > 0 || periodic { weight * plane } else { 0 };
            for width in low.min(rest)..=high.min(rest) {
                self.sides[level] = width.into();
                let (inner_cost, inner) = self.cut(level + 1, first);
                self.sides[level] = 1;
                let joined = |slabs: &Slabs| weight * self.joined(level, parts, slabs.width, width);
                let ways =
                    before.iter().enumerate().map(|(i, slabs)| (slabs.cost - joined(slabs), i));
                let (least, i) = ways.min().unwrap_or((0, 0));
                let cost = least + inner_cost + if width < size { wall } else { 0 };
                best[(at + width) as usize].push(Slabs { cost, width, inner, before: i });
            }
            self.steps += before.len() * (high - low + 1) as usize;
            best[at as usize] = before;
        }
        let mut at = size as usize;
        let ways = best[at].iter().enumerate().map(|(i, slabs)| (slabs.cost, i));
        let (cost, mut i) = ways.min().expect("a last slab may have any width below the least");
        let mut slabs = Vec::new();
        while at > 0 {
            let last = best[at].swap_remove(i);
            at -= last.width as usize;
            i = last.before;
            slabs.push(last);
        }
        let widths = slabs.into_iter().rev();
        let widths = widths.flat_map(|slabs| std::iter::once(slabs.width).chain(slabs.inner));
        (cost, widths.collect())
    }

    /// The cells before and after a wall between strips, for the node that has both. For slabs it is unknown which
    /// strips meet.
    fn parts(&self, level: usize, wall: i64) -> (i64, i64) {
        let next = self.starts.partition_point(|start| *start <= wall);
        match self.starts.get(next) {
            Some(end) if level + 1 == self.axes.len() => (wall - self.starts[next - 1], end - wall),
            _ => (0, 0),
        }
    }

    /// The edges inside a node with these parts across the wall between two strips of these widths.
    fn joined(&self, level: usize, parts: (i64, i64), before: u32, width: u32) -> i64 {
        if parts.0 == 0 {
            return 0;
        }
        let face: i64 = self.sides[..level].iter().product();
        // Whole planes, and the cells at the wall in an incomplete one.
        let side = |cells: i64, plane: i64| (cells / plane, (cells % plane).min(face));
        let length = i64::from(self.axes[0].size);
        let (before, width) = (face * i64::from(before), face * i64::from(width));
        let (planes, more) = side(parts.0.min(length * before), before);
        let (planes_on, more_on) = side(parts.1.min(length * width), width);
        let rest = match planes.cmp(&planes_on) {
            Ordering::Less => more,
            Ordering::Greater => more_on,
            // The last cells of one and the first of the other.
            Ordering::Equal => (more + more_on - face).max(0),
        };
        planes.min(planes_on) * face + rest
    }

    /// The edges cut by the ends of nodes in a strip.
    fn strip(&mut self, first: i64) -> i64 {
        let plane = self.sides.iter().product::<i64>() as i32;
        let length = plane * self.axes[0].size as i32;
        let next = self.starts.partition_point(|start| *start <= first);
        let (mut start, mut cut) = (0, 0);
        self.steps += 4 * self.axes.len();
        for end in &self.starts[next..] {
            self.steps += self.axes.len();
            let end = (end - first) as i32;
            if end >= length {
                break;
            }
            cut += self.cut_at(start, end, plane, length);
            start = end;
        }
        cut
    }

    /// The edges from the cells of a strip from `start` to the end of their node to cells after it.
    fn cut_at(&self, start: i32, end: i32, plane: i32, length: i32) -> i64 {
        // The edges of one length in a row of cells, where the first `from` have one.
        let crossing = |start: i32, end: i32, length: i32, from: i32| {
            i64::from((end.min(from) - start.max(end - length)).max(0))
        };
        let axis = &self.axes[0];
        let around = length - plane;
        let mut sum = axis.weight * crossing(start, end, plane, around);
        if axis.periodic {
            sum += axis.weight * crossing(start, end, around, plane);
        }
        // In the incomplete plane: rows, planes of rows and so on, one of which is incomplete each.
        let mut stride = 1;
        for (axis, side) in self.axes.iter().zip(&self.sides).skip(1) {
            let block = stride * *side as i32;
            let rest = end % block;
            let begin = (start - (end - rest)).max(0);
            sum += axis.weight * crossing(begin, rest, stride, block - stride);
            if axis.periodic && *side == i64::from(axis.size) {
                sum += axis.weight * crossing(begin, rest, block - stride, stride);
            }
            stride = block;
        }
        sum
    }
}

impl Strips {
    /// The node of each cell, one of those in `sequence`, which are filled one after the other along the strips.
    pub(super) fn fill(&self, lattice: &Lattice, sizes: &[u32], sequence: &[u32]) -> Vec<u32> {
        let mut fill = Fill { sizes, sequence, left: 0, node_of: vec![0; lattice.vertices()] };
        self.walk(lattice, |cell| fill.put(cell));
        fill.node_of
    }

    /// Calls `visit` for every cell, along the strips.
    fn walk(&self, lattice: &Lattice, visit: impl FnMut(u32)) {
        let axes: Vec<Axis> = self.order.iter().map(|i| lattice.axes()[*i]).collect();
        let ranges = axes.iter().map(|axis| (0, axis.size)).collect();
        let back = vec![false; axes.len()];
        Walk { axes, widths: self.widths.iter(), ranges, back, visit }.slabs(1);
    }
}

/// Fills nodes one after the other.
struct Fill<'a> {
    sizes: &'a [u32],
    /// The current node, and those after it.
    sequence: &'a [u32],
    left: u32,
    node_of: Vec<u32>,
}

impl Fill<'_> {
    fn put(&mut self, cell: u32) {
        if self.left == 0 {
            self.left = self.sizes[self.sequence[0] as usize];
        }
        self.node_of[cell as usize] = self.sequence[0];
        self.left -= 1;
        if self.left == 0 {
            self.sequence = &self.sequence[1..];
        }
    }
}

/// A walk through strips. Across each axis it goes back and forth.
struct Walk<'a, F> {
    axes: Vec<Axis>,
    widths: std::slice::Iter<'a, u32>,
    ranges: Vec<(u32, u32)>,
    back: Vec<bool>,
    visit: F,
}

impl<F: FnMut(u32)> Walk<'_, F> {
    fn slabs(&mut self, level: usize) {
        let Some(&Axis { size, .. }) = self.axes.get(level) else {
            self.cells(0, 0);
            self.back[0] = !self.back[0];
            return;
        };
        let mut at = 0;
        while at < size {
            let Some(width) = self.widths.next() else { return };
            self.ranges[level] =
                if self.back[level] { (size - at - width, size - at) } else { (at, at + width) };
            at += width;
            self.slabs(level + 1);
        }
        self.back[level] = !self.back[level];
    }

    /// The cells of a strip, in planes across it, in which the innermost axis comes first.
    fn cells(&mut self, level: usize, base: u32) {
        let ((first, end), stride) = (self.ranges[level], self.axes[level].stride);
        for step in first..end {
            let position = if self.back[level] { end - 1 - (step - first) } else { step };
            let base = base + position * stride;
            match level {
                0 if self.axes.len() > 1 => self.cells(self.axes.len() - 1, base),
                0 | 1 => (self.visit)(base),
                _ => self.cells(level - 1, base),
            }
        }
    }
}
