//! Grids prepared for searching: without dimensions of size 1 and edges that never count.

#[cfg(test)]
mod tests;

use super::grid::Grid;

/// The most dimensions of size 2 or more in a grid whose cells an `i32` can number.
pub(super) const MAX_NDIMS: usize = 31;

/// A divisor for many divisions: a multiplication takes a fraction of a division's time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    /// 2^63 divided by the number, rounded up.
    inverse: u64,
}

impl Divisor {
    /// From 1 to 2^31.
    fn new(divisor: u32) -> Self {
        Self { inverse: (1u64 << 63).div_ceil(u64::from(divisor)) }
    }

    /// Exact for dividends below 2^31: the inverse is too large by less than 1, so the product is too
    /// large by less than 2^31, which is not more than 2^63 divided by the divisor.
    pub(super) fn quotient(self, dividend: u32) -> u32 {
        ((u128::from(dividend) * u128::from(self.inverse)) >> 63) as u32
    }
}

/// One dimension, of at least two cells.
#[derive(Debug, Clone, Copy)]
pub(in crate::mapping) struct Axis {
    /// The number of cells.
    pub(in crate::mapping) size: u32,
    /// The difference of the numbers of neighbors along it.
    pub(in crate::mapping) stride: u32,
    /// True if the dimension is periodic.
    pub(in crate::mapping) periodic: bool,
    /// The weights of the vectors along it, each times its length: the cost of a cut, per line of cells.
    pub(in crate::mapping) weight: i64,
    by_size: Divisor,
    pub(super) by_stride: Divisor,
}

impl Axis {
    fn new(size: u32, stride: u32, periodic: bool) -> Self {
        let (by_size, by_stride) = (Divisor::new(size), Divisor::new(stride));
        Self { size, stride, periodic, weight: 0, by_size, by_stride }
    }

    /// The coordinate of a cell.
    #[inline]
    pub(in crate::mapping) fn coordinate(&self, cell: u32) -> u32 {
        let row = self.by_stride.quotient(cell);
        row - self.by_size.quotient(row) * self.size
    }
}

/// One vector: the axes along which it leads, its steps, and the difference in cell numbers.
#[derive(Debug, Clone)]
pub(super) struct Vector {
    pub(super) steps: Vec<(u8, i32)>,
    pub(super) flat: i64,
    pub(super) weight: i64,
}

/// A grid without its dimensions of size 1. Cells have the same numbers as in the [`Grid`].
#[derive(Debug, Clone)]
pub(in crate::mapping) struct Lattice {
    pub(super) axes: Vec<Axis>,
    pub(super) vectors: Vec<Vector>,
    pub(super) cells: usize,
}

impl Lattice {
    /// The edges of the grid, as directed.
    pub(in crate::mapping) fn directed(grid: &Grid) -> Self {
        Self::new(grid, false)
    }

    /// Every edge in both directions, each with the sum of both weights.
    pub(in crate::mapping) fn symmetric(grid: &Grid) -> Self {
        Self::new(grid, true)
    }

    fn new(grid: &Grid, symmetric: bool) -> Self {
        let sides: Vec<(usize, bool)> =
            grid.dims().iter().copied().zip(grid.periodic().iter().copied()).collect();
        let mut lattice = Self::without_vectors(&sides);
        for offset in grid.stencil() {
            let steps = || offset.by.iter().copied().zip(&sides);
            if steps().any(|(step, (size, periodic))| step != 0 && *size == 1 && !periodic) {
                continue;
            }
            let mut by: Vec<i32> =
                steps().filter(|(_, (size, _))| *size > 1).map(|(step, _)| step).collect();
            lattice.add(&by, offset.weight);
            if symmetric {
                by.iter_mut().for_each(|step| *step = -*step);
                lattice.add(&by, offset.weight);
            }
        }
        lattice
    }

    /// The cells of a box, with its length and whether it is a ring in each dimension.
    fn without_vectors(sides: &[(usize, bool)]) -> Self {
        let cells = sides.iter().map(|(size, _)| size).product();
        let mut stride = cells;
        let axis = |(size, periodic): &(usize, bool)| {
            stride /= (*size).max(1);
            Axis::new(*size as u32, stride as u32, *periodic)
        };
        let axes = sides.iter().map(axis).filter(|axis| axis.size > 1).collect();
        Self { axes, vectors: Vec::new(), cells }
    }

    /// Adds a vector, unless it leads to the same cell.
    fn add(&mut self, by: &[i32], weight: i64) {
        let mut vector = Vector { steps: Vec::new(), flat: 0, weight };
        for (i, (axis, &step)) in self.axes.iter().zip(by).enumerate() {
            let size = axis.size as i32;
            let mut step = step;
            if axis.periodic {
                step = step.rem_euclid(size);
                step -= if step > size / 2 { size } else { 0 };
            } else if step.unsigned_abs() >= axis.size {
                return;
            }
            if step != 0 {
                vector.steps.push((i as u8, step));
                vector.flat += i64::from(step) * i64::from(axis.stride);
            }
        }
        if vector.steps.is_empty() || weight == 0 {
            return;
        }
        for &(i, step) in &vector.steps {
            self.axes[i as usize].weight += i64::from(step.unsigned_abs()) * weight;
        }
        match self.vectors.iter_mut().find(|other| other.steps == vector.steps) {
            Some(same) => same.weight += weight,
            None => self.vectors.push(vector),
        }
    }

    /// The smallest box around one or more cells, and the number of each of these in the box.
    /// A dimension is a ring there if the box contains all of it.
    pub(in crate::mapping) fn around(&self, cells: &[u32]) -> (Self, Vec<u32>) {
        let mut low = vec![u32::MAX; self.axes.len()];
        let mut high = vec![0; self.axes.len()];
        for cell in cells {
            for (i, axis) in self.axes.iter().enumerate() {
                let coordinate = axis.coordinate(*cell);
                low[i] = low[i].min(coordinate);
                high[i] = high[i].max(coordinate);
            }
        }
        let sides: Vec<u32> = low.iter().zip(&high).map(|(low, high)| high - low + 1).collect();
        let ring =
            |(side, axis): (&u32, &Axis)| (*side as usize, axis.periodic && *side == axis.size);
        let mut part =
            Self::without_vectors(&sides.iter().zip(&self.axes).map(ring).collect::<Vec<_>>());
        for vector in &self.vectors {
            let mut by = vec![0; sides.len()];
            vector.steps.iter().for_each(|(i, step)| by[*i as usize] = *step);
            // An edge along a dimension in which the box has one plane leads out of the box.
            if by.iter().zip(&sides).any(|(step, side)| *step != 0 && *side == 1) {
                continue;
            }
            // A vector halfway around a ring also leads back, which is no longer the same if the ring is cut.
            let is_cut = |i: &usize| {
                let axis = &self.axes[*i];
                axis.periodic && sides[*i] < axis.size && 2 * by[*i].unsigned_abs() == axis.size
            };
            let cut: Vec<usize> = (0..by.len()).filter(is_cut).collect();
            for signs in 0..1u32 << cut.len() {
                let mut by = by.clone();
                for (bit, i) in cut.iter().enumerate() {
                    by[*i] *= if signs >> bit & 1 == 0 { 1 } else { -1 };
                }
                let wide = by.into_iter().zip(&sides).filter(|(_, side)| **side > 1);
                part.add(&wide.map(|(step, _)| step).collect::<Vec<i32>>(), vector.weight);
            }
        }
        let number = |cell: &u32| {
            let along = self.axes.iter().zip(&low).zip(&sides).filter(|(_, side)| **side > 1);
            let steps = along.map(|((axis, low), _)| axis.coordinate(*cell) - low);
            steps.zip(&part.axes).map(|(step, axis)| step * axis.stride).sum()
        };
        let numbers = cells.iter().map(number).collect();
        (part, numbers)
    }

    /// The dimensions.
    pub(in crate::mapping) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The number of vectors from a cell far from all walls.
    pub(in crate::mapping) fn degree(&self) -> usize {
        self.vectors.len()
    }

    /// For each `t`, the weight of the vectors along one axis that are longer than `t`: of the edges that leave a row
    /// of cells on both sides because of its `t`-th cell from the end. Longer vectors count no more than shorter ones,
    /// since otherwise a row with gaps could have less; in a ring, only steps of one count.
    pub(in crate::mapping) fn hops(&self, axis: usize) -> Vec<i64> {
        let mut lengths = vec![0; self.axes[axis].size as usize];
        for vector in &self.vectors {
            if let [(i, step)] = vector.steps[..]
                && i as usize == axis
            {
                lengths[step.unsigned_abs() as usize - 1] += vector.weight;
            }
        }
        let longest = if self.axes[axis].periodic { 1 } else { lengths.len() };
        lengths.truncate(longest);
        for k in 1..lengths.len() {
            lengths[k] = lengths[k].min(lengths[k - 1]);
        }
        for k in (1..lengths.len()).rev() {
            lengths[k - 1] += lengths[k];
        }
        while lengths.last() == Some(&0) {
            lengths.pop();
        }
        lengths
    }

    /// The edges between boxes of these sides, which divide the sides of the grid, if such boxes tile it.
    pub(in crate::mapping) fn tiled(&self, sides: &[u32]) -> i64 {
        let mut sum = 0;
        for vector in &self.vectors {
            let mut all = self.cells as i64;
            let mut inside = all;
            for &(i, step) in &vector.steps {
                let axis = self.axes[i as usize];
                let (size, step) = (i64::from(axis.size), i64::from(step.unsigned_abs()));
                let side = i64::from(sides[i as usize]);
                if !axis.periodic {
                    all = all / size * (size - step);
                }
                if side < size || !axis.periodic {
                    inside = inside / side * (side - step).max(0);
                }
            }
            sum += vector.weight * (all - inside);
        }
        sum
    }
}
