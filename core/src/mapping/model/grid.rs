//! Grids and their stencils, for mapping.

use crate::topology::Cart;

/// One vector of a stencil: the offset of the cell to which each cell sends, and the weight of that edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offset {
    /// The difference of the coordinates, one entry per dimension.
    pub by: Vec<i32>,
    /// The weight of such an edge.
    pub weight: i64,
}

/// A grid of cells, each of which sends along every vector of a stencil. Cells are numbered
/// row-major: the last coordinate varies fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    dims: Vec<usize>,
    periodic: Vec<bool>,
    stencil: Vec<Offset>,
    unknown_weights: bool,
}

impl Grid {
    /// A grid with any stencil. A vector that leads beyond the end of a nonperiodic dimension is not an edge.
    pub fn new(dims: Vec<usize>, periodic: Vec<bool>, stencil: Vec<Offset>) -> Self {
        assert_eq!(dims.len(), periodic.len());
        assert!(stencil.iter().all(|offset| offset.by.len() == dims.len()));
        Self { dims, periodic, stencil, unknown_weights: false }
    }

    /// A Cartesian topology with edges between nearest neighbors, and the weight of each dimension; without weights,
    /// all are assumed to be 1 and [unknown](Self::with_unknown_weights).
    pub fn of_cart(cart: &Cart, weights: Option<&[i64]>) -> Self {
        // A program may pass any number of dimensions of one process, which have no edges between processes; the size
        // of a stencil is the square of the number of dimensions.
        let sides = cart.dimensions().iter().zip(0..).filter(|(side, _)| side.size > 1);
        let weight = |i: usize| weights.map_or(1, |weights| weights[i]);
        let weighed: Vec<i64> = sides.clone().map(|(_, i)| weight(i)).collect();
        let grid = Self::new(
            sides.clone().map(|(side, _)| side.size as usize).collect(),
            sides.map(|(side, _)| side.periodic).collect(),
            Self::nearest_neighbors(&weighed),
        );
        if weights.is_none() { grid.with_unknown_weights() } else { grid }
    }

    /// The same grid with weights that are only assumed: a mapping must not increase the cost if dimensions have
    /// different weights.
    #[must_use]
    pub fn with_unknown_weights(self) -> Self {
        Self { unknown_weights: true, ..self }
    }

    /// True if the weights are assumed.
    pub fn has_unknown_weights(&self) -> bool {
        self.unknown_weights
    }

    /// The edges along one dimension only.
    pub(in crate::mapping) fn along(&self, dimension: usize) -> Self {
        let along = |offset: &&Offset| {
            offset.by.iter().enumerate().all(|(i, by)| (*by != 0) == (i == dimension))
        };
        let stencil = self.stencil.iter().filter(along).cloned().collect();
        Self {
            dims: self.dims.clone(),
            periodic: self.periodic.clone(),
            stencil,
            unknown_weights: false,
        }
    }

    /// A grid like this one, with the weights of each dimension's edges multiplied by `times`; whether they are known
    /// does not change.
    pub(in crate::mapping) fn weighing(&self, times: &[i64]) -> Self {
        let weighed = |offset: &Offset| {
            let along = offset.by.iter().zip(times).filter(|(by, _)| **by != 0);
            let times = along.map(|(_, times)| *times).max().unwrap_or(1);
            Offset { by: offset.by.clone(), weight: offset.weight * times }
        };
        let stencil = self.stencil.iter().map(weighed).collect();
        Self { stencil, ..self.clone() }
    }

    /// The number of cells along each dimension.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// For each dimension, true if it is periodic.
    pub fn periodic(&self) -> &[bool] {
        &self.periodic
    }

    /// The vectors of the stencil.
    pub fn stencil(&self) -> &[Offset] {
        &self.stencil
    }

    /// The largest weight of a stencil vector for which no sum overflows on a grid of this size.
    pub fn most_weight(cells: usize) -> i64 {
        (1 << 47) / cells.max(1) as i64
    }

    /// The stencil of MPI's neighborhood collectives: a step of one in both directions along each dimension.
    pub fn nearest_neighbors(weights: &[i64]) -> Vec<Offset> {
        let ndims = weights.len();
        let step = |i: usize, by: i32| Offset {
            by: (0..ndims).map(|j| if i == j { by } else { 0 }).collect(),
            weight: weights[i],
        };
        (0..ndims).flat_map(|i| [step(i, -1), step(i, 1)]).collect()
    }
}

impl From<&Cart> for Grid {
    /// With weights that are assumed to be equal.
    fn from(cart: &Cart) -> Self {
        Self::of_cart(cart, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Adjacency;

    #[test]
    fn sums_of_the_largest_weights_do_not_overflow() {
        assert_eq!([0, 1, 4].map(Grid::most_weight), [1 << 47, 1 << 47, 1 << 45]);
    }

    #[test]
    fn costs_equal_the_published_tables() {
        let grid = |dims: &[i32], periodic| {
            Grid::from(&Cart::new(dims, &vec![periodic; dims.len()], i32::MAX).unwrap())
        };
        let cost = |grid: &Grid, size: usize| {
            let node_of: Vec<u32> = (0..grid.vertices()).map(|v| (v / size) as u32).collect();
            let cost = grid.cost(&node_of);
            (cost.inter_node_edges, cost.max_node_edges)
        };
        assert_eq!(cost(&grid(&[50, 48], false), 48), (4704, 96));
        assert_eq!(cost(&grid(&[75, 64], true), 48), (9900, 100));
        assert_eq!(cost(&grid(&[12, 8, 8], false), 48), (1600, 112));
        // Both neighbors along a periodic dimension of 2 count, but not loops along one of 1.
        assert_eq!(cost(&grid(&[2], true), 1), (4, 2));
        assert_eq!(cost(&grid(&[1, 2], true), 1), (4, 2));
    }
}
