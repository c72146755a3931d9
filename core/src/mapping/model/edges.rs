//! The edges of grids.

use super::cost::Adjacency;
use super::grid::Grid;
use super::lattice::{Lattice, MAX_NDIMS, Vector};

/// The number of cells that are compared at once with those to which they send: usually both are on the same nodes.
const TOGETHER: usize = 16;

impl Adjacency for Grid {
    fn vertices(&self) -> usize {
        self.dims().iter().product()
    }

    fn for_each_edge(&self, vertex: usize, mut visit: impl FnMut(usize, i64)) {
        'offsets: for offset in self.stencil() {
            let (mut rest, mut stride, mut to) = (vertex, 1, 0);
            for i in (0..self.dims().len()).rev() {
                let side = self.dims()[i];
                let there = (rest % side) as i64 + i64::from(offset.by[i]);
                rest /= side;
                let inside = if self.periodic()[i] { there.rem_euclid(side as i64) } else { there };
                if !(0..side as i64).contains(&inside) {
                    continue 'offsets;
                }
                to += inside as usize * stride;
                stride *= side;
            }
            visit(to, offset.weight);
        }
    }

    fn for_each_cut_edge(&self, node_of: &[u32], visit: impl FnMut(u32, u32, i64)) {
        // The same edges, enumerated faster.
        Lattice::directed(self).for_each_cut_edge(node_of, visit);
    }

    fn total(&self) -> i128 {
        let lattice = Lattice::directed(self);
        lattice.tiled(&vec![1; lattice.axes().len()]).into()
    }
}

impl Adjacency for Lattice {
    fn vertices(&self) -> usize {
        self.cells
    }

    #[inline]
    fn for_each_edge(&self, vertex: usize, mut visit: impl FnMut(usize, i64)) {
        let mut coordinates = [0; MAX_NDIMS];
        let mut rest = vertex as u32;
        for (coordinate, axis) in coordinates.iter_mut().zip(&self.axes) {
            let quotient = axis.by_stride.quotient(rest);
            *coordinate = quotient as i32;
            rest -= quotient * axis.stride;
        }
        'vectors: for vector in &self.vectors {
            let mut to = vertex as i64 + vector.flat;
            for &(i, step) in &vector.steps {
                let axis = &self.axes[i as usize];
                let there = coordinates[i as usize] + step;
                if there < 0 || there >= axis.size as i32 {
                    if !axis.periodic {
                        continue 'vectors;
                    }
                    let around = i64::from(axis.size) * i64::from(axis.stride);
                    to += if there < 0 { around } else { -around };
                }
            }
            visit(to as usize, vector.weight);
        }
    }

    fn for_each_cut_edge(&self, node_of: &[u32], visit: impl FnMut(u32, u32, i64)) {
        for_each_cut_edge(self, node_of, visit);
    }
}

/// The edges between nodes, row by row: where an edge begins and where it leads are looked up once for a row of cells
/// along the last dimension, not for each cell.
fn for_each_cut_edge(lattice: &Lattice, node_of: &[u32], mut visit: impl FnMut(u32, u32, i64)) {
    let Some((inner, outer)) = lattice.axes.split_last() else { return };
    let size = inner.size as usize;
    let mut coordinates = [0; MAX_NDIMS];
    for (row, nodes) in node_of[..lattice.cells].chunks_exact(size).enumerate() {
        let first = row * size;
        for (coordinate, axis) in coordinates.iter_mut().zip(outer) {
            *coordinate = axis.coordinate(first as u32) as i32;
        }
        for vector in &lattice.vectors {
            let Some((to, step)) = leads(lattice, vector, &coordinates) else { continue };
            let others = &node_of[(first as i64 + to) as usize..][..size];
            let apart = step.unsigned_abs() as usize;
            #[cfg(test)]
            crate::mapping::tests::READ.with(|read| read.set(read.get() + size));
            let mut compare = |from: &[u32], to: &[u32]| {
                for (from, to) in from.chunks(TOGETHER).zip(to.chunks(TOGETHER)) {
                    if from != to {
                        let edges = from.iter().zip(to).filter(|(from, to)| from != to);
                        edges.for_each(|(from, to)| visit(*from, *to, vector.weight));
                    }
                }
            };
            // The edges that stay in the row, and those around the ring.
            let (rest, ring) = (size - apart, inner.periodic && apart > 0);
            if step >= 0 {
                compare(&nodes[..rest], &others[apart..]);
                compare(&nodes[rest..], if ring { &others[..apart] } else { &[] });
            } else {
                compare(&nodes[apart..], &others[..rest]);
                compare(&nodes[..apart], if ring { &others[rest..] } else { &[] });
            }
        }
    }
}

/// The distance to the row that a row with these coordinates sends to, and the step along it; `None` if it leads out of
/// the grid.
fn leads(lattice: &Lattice, vector: &Vector, coordinates: &[i32]) -> Option<(i64, i32)> {
    let inner = lattice.axes.len() - 1;
    let (mut to, mut along) = (0, 0);
    for &(i, step) in &vector.steps {
        if usize::from(i) == inner {
            along = step;
            continue;
        }
        let axis = &lattice.axes[usize::from(i)];
        let size = axis.size as i32;
        let mut there = coordinates[usize::from(i)] + step;
        if !(0..size).contains(&there) {
            if !axis.periodic {
                return None;
            }
            there = there.rem_euclid(size);
        }
        to += i64::from(there - coordinates[usize::from(i)]) * i64::from(axis.stride);
    }
    Some((to, along))
}
