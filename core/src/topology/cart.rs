//! Cartesian grids: MPI 4.1, 8.5.1 and 8.5.5 to 8.5.8.

use super::Error;

/// One dimension of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// The number of processes along it, at least 1.
    pub size: i32,
    /// True if it is periodic: its first and last process are neighbors.
    pub periodic: bool,
    /// The difference between the ranks of two neighbors along it.
    stride: i32,
    /// The coordinate of the process that stores the grid, see [`Cart::seen_from`].
    own: i32,
    /// 2^63 / `stride`, rounded up: multiplying is faster than dividing.
    reciprocal: u64,
}

impl Dimension {
    /// The coordinate along this dimension of the process that stores the grid, see [`Cart::seen_from`].
    #[inline]
    pub fn own(&self) -> i32 {
        self.own
    }

    /// The number of whole strides in a rank, which is not negative; given twice the rank.
    #[inline]
    fn strides(&self, twice: u64) -> i32 {
        // The product is rank * 2^64 / stride and less than 2 * rank more. As rank * stride is less
        // than 2^62, that is less than 2^64 / stride: too little to reach the next whole number.
        ((u128::from(twice) * u128::from(self.reciprocal)) >> 64) as i32
    }

    /// The coordinate to which `value` wraps; `None` if it is outside a nonperiodic dimension.
    #[inline]
    fn wrap(&self, value: i64) -> Option<i32> {
        let size = i64::from(self.size);
        // The casts lose nothing: a value inside the dimension is an `i32`.
        if (0..size).contains(&value) {
            return Some(value as i32);
        }
        if !self.periodic {
            return None;
        }
        let once = if value < 0 { value + size } else { value - size };
        Some(if (0..size).contains(&once) { once as i32 } else { self.wrap_far(value) })
    }

    #[cold]
    fn wrap_far(&self, value: i64) -> i32 {
        value.rem_euclid(self.size.into()) as i32
    }
}

/// A grid of processes. Ranks are row-major: the last coordinate varies fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cart {
    dimensions: Box<[Dimension]>,
    size: i32,
    /// The rank of the process that stores the grid.
    own: i32,
}

/// The sub-grid of a process after `MPI_Cart_sub`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubGrid {
    /// The kept dimensions, in order.
    pub grid: Cart,
    /// The number of the sub-grid: the row-major number of the dropped coordinates, from 0.
    pub color: i32,
    /// The rank of the process in its sub-grid.
    pub rank: i32,
}

impl Cart {
    /// A grid of `dims[i]` processes along dimension `i`, periodic if `periods[i]`, for a communicator of
    /// `comm_size` processes (`MPI_Cart_create`: MPI 4.1, 8.5.1). It belongs to rank 0.
    ///
    /// No dimensions at all make a grid of one process.
    ///
    /// # Errors
    ///
    /// [`Error::DimNotPositive`], and [`Error::GridTooLarge`] if the communicator has fewer processes.
    pub fn new(dims: &[i32], periods: &[bool], comm_size: i32) -> Result<Self, Error> {
        assert_eq!(dims.len(), periods.len());
        if let Some((dimension, &value)) = dims.iter().enumerate().find(|(_, size)| **size < 1) {
            return Err(Error::DimNotPositive { dimension, value });
        }
        let cells = dims.iter().fold(1u128, |cells, &size| cells.saturating_mul(size as u128));
        if cells > comm_size as u128 {
            return Err(Error::GridTooLarge { cells, size: comm_size });
        }
        let sides = dims.iter().zip(periods).map(|(&size, &periodic)| (size, periodic));
        Ok(Self::from_sides(sides))
    }

    /// A grid of sides whose product fits an `i32`.
    fn from_sides(sides: impl Iterator<Item = (i32, bool)>) -> Self {
        let mut stride = 1;
        let mut dimensions: Box<[Dimension]> = sides
            .map(|(size, periodic)| Dimension { size, periodic, stride: 0, own: 0, reciprocal: 0 })
            .collect();
        for dimension in dimensions.iter_mut().rev() {
            dimension.stride = stride;
            dimension.reciprocal = (1u64 << 63).div_ceil(stride as u64);
            stride *= dimension.size;
        }
        Self { dimensions, size: stride, own: 0 }
    }

    /// True if a process is a neighbor of a process more than once: of the other one in a periodic dimension of 2, and
    /// of itself in one of 1.
    pub fn repeats_neighbors(&self) -> bool {
        self.dimensions.iter().any(|side| side.periodic && side.size <= 2)
    }

    /// The grid as stored by its process `rank`, with that process's coordinates cached: a process usually asks about
    /// itself.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] for a rank that the grid does not have.
    pub fn seen_from(mut self, rank: i32) -> Result<Self, Error> {
        self.check_rank(rank)?;
        self.own = rank;
        for dimension in &mut self.dimensions {
            dimension.own = rank / dimension.stride % dimension.size;
        }
        Ok(self)
    }

    /// The rank of the process that stores the grid.
    pub fn own_rank(&self) -> i32 {
        self.own
    }

    /// The dimensions, in order.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// The number of dimensions; 0 is allowed.
    pub fn ndims(&self) -> usize {
        self.dimensions.len()
    }

    /// The number of processes in the grid, at least 1.
    pub fn size(&self) -> i32 {
        self.size
    }

    /// `MPI_Cart_rank` (MPI 4.1, 8.5.5): the rank at `coords`, one coordinate per dimension. Coordinates of periodic
    /// dimensions wrap around, whatever their value.
    ///
    /// # Errors
    ///
    /// [`Error::Coordinate`] for a coordinate outside of a dimension that is not periodic.
    #[inline(always)]
    pub fn rank(&self, coords: &[i32]) -> Result<i32, Error> {
        assert_eq!(coords.len(), self.ndims());
        let mut rank = 0;
        for (i, (dimension, &value)) in self.dimensions.iter().zip(coords).enumerate() {
            let Some(inside) = dimension.wrap(value.into()) else {
                return Err(Error::Coordinate { dimension: i, value, size: dimension.size });
            };
            rank += inside * dimension.stride;
        }
        Ok(rank)
    }

    /// `MPI_Cart_coords` (MPI 4.1, 8.5.5): writes the coordinates of `rank` along the first `coords.len()`
    /// dimensions.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] for a rank that the grid does not have.
    #[inline(always)]
    pub fn coords(&self, rank: i32, coords: &mut [i32]) -> Result<(), Error> {
        self.check_rank(rank)?;
        // Each comes from two independent quotients.
        let twice = 2 * rank as u64;
        let mut above = 0;
        for (dimension, coordinate) in self.dimensions.iter().zip(coords) {
            let strides = dimension.strides(twice);
            *coordinate = strides - above * dimension.size;
            above = strides;
        }
        Ok(())
    }

    /// `MPI_Cart_shift` (MPI 4.1, 8.5.7): the ranks that `rank` receives from and sends to in a shift by `disp`
    /// processes along dimension `direction`. `None` is `MPI_PROC_NULL`, beyond the end of a dimension that is
    /// not periodic.
    ///
    /// A `disp` of 0 gives the process itself, twice.
    ///
    /// # Errors
    ///
    /// [`Error::Direction`] if the grid has no such dimension, [`Error::Rank`].
    #[inline(always)]
    pub fn shift(
        &self,
        rank: i32,
        direction: i32,
        disp: i32,
    ) -> Result<(Option<i32>, Option<i32>), Error> {
        // A negative direction is a large index.
        let Some(dimension) = self.dimensions.get(direction as usize) else {
            return Err(Error::Direction { direction, ndims: self.ndims() });
        };
        self.check_rank(rank)?;
        let here = self.coordinate(rank, direction as usize);
        let neighbor = |disp: i64| {
            let there = dimension.wrap(i64::from(here) + disp)?;
            Some(rank + (there - here) * dimension.stride)
        };
        Ok((neighbor(-i64::from(disp)), neighbor(i64::from(disp))))
    }

    /// `MPI_Cart_sub` (MPI 4.1, 8.5.8): the sub-grid of `rank` if only the dimensions with `remain[i]` are kept.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`].
    pub fn sub(&self, remain: &[bool], rank: i32) -> Result<SubGrid, Error> {
        assert_eq!(remain.len(), self.ndims());
        self.check_rank(rank)?;
        let (mut color, mut sub_rank) = (0, 0);
        let mut sides = Vec::new();
        for (i, (dimension, &kept)) in self.dimensions.iter().zip(remain).enumerate() {
            let coordinate = self.coordinate(rank, i);
            let number = if kept { &mut sub_rank } else { &mut color };
            *number = *number * dimension.size + coordinate;
            if kept {
                sides.push((dimension.size, dimension.periodic));
            }
        }
        Ok(SubGrid { grid: Self::from_sides(sides.into_iter()), color, rank: sub_rank })
    }

    /// The coordinate of `rank`, which the grid has, along a dimension.
    #[inline]
    fn coordinate(&self, rank: i32, dimension: usize) -> i32 {
        let own = &self.dimensions[dimension];
        let twice = 2 * rank as u64;
        let above = match dimension.checked_sub(1) {
            Some(outer) => self.dimensions[outer].strides(twice),
            None => 0,
        };
        own.strides(twice) - above * own.size
    }

    #[inline]
    fn check_rank(&self, rank: i32) -> Result<(), Error> {
        if (0..self.size).contains(&rank) {
            Ok(())
        } else {
            Err(Error::Rank { rank, size: self.size })
        }
    }
}

#[cfg(test)]
mod tests;
