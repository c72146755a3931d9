//! Bisection: nodes and cells are cut in two until one node is left, so that the plane between the halves is full if
//! that is possible; else it has a step.

use std::cmp::Ordering;

use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::lattice::{Axis, Lattice};

/// The node of each of these cells, one of those in `sequence`, which have the given sizes; other cells are on node 0.
pub(super) fn bisect(
    lattice: &Lattice,
    mut cells: Vec<u32>,
    sizes: &[u32],
    sequence: &[u32],
) -> Vec<u32> {
    let mut node_of = vec![0; lattice.vertices()];
    let mut bisection = Bisection { lattice, sizes, node_of: &mut node_of };
    bisection.divide(&mut cells, sequence);
    node_of
}

struct Bisection<'a> {
    lattice: &'a Lattice,
    sizes: &'a [u32],
    node_of: &'a mut [u32],
}

impl Bisection<'_> {
    /// Puts cells on nodes that have as many places together.
    fn divide(&mut self, cells: &mut [u32], nodes: &[u32]) {
        if let [node] = nodes {
            cells.iter().for_each(|cell| self.node_of[*cell as usize] = *node);
            return;
        }
        let (axis, extent, split, size) = self.choose(cells, nodes);
        select(cells, size, &self.lattice.axes()[axis], extent);
        let (first, second) = cells.split_at_mut(size);
        self.divide(first, &nodes[..split]);
        self.divide(second, &nodes[split..]);
    }

    /// The dimension to cut, the lowest and highest coordinate of the cells in it, how many of the nodes
    /// come first, and how many cells they have.
    fn choose(&self, cells: &[u32], nodes: &[u32]) -> (usize, (u32, u32), usize, usize) {
        let axes = self.lattice.axes();
        let mut low = vec![u32::MAX; axes.len()];
        let mut high = vec![0; axes.len()];
        for cell in cells {
            for (i, axis) in axes.iter().enumerate() {
                let coordinate = axis.coordinate(*cell);
                low[i] = low[i].min(coordinate);
                high[i] = high[i].max(coordinate);
            }
        }
        let extent = |i: usize| high[i] - low[i] + 1;
        // The cost of a plane across the middle. A ring takes two planes, which is no reason to cut it later.
        let price = |i: usize| axes[i].weight * 1024 * cells.len() as i64 / i64::from(extent(i));
        let mut order: Vec<usize> = (0..axes.len()).filter(|i| extent(*i) > 1).collect();
        order.sort_by_key(|i| price(*i));
        let volume = (0..axes.len()).fold(1u64, |volume, i| volume * u64::from(extent(i)));
        let is_box = volume == cells.len() as u64;
        let plane = |i: usize| cells.len() / extent(i) as usize;
        let full = order.iter().filter(|_| is_box).find_map(|i| {
            let (split, size) = self.half(nodes, cells.len(), plane(*i))?;
            Some((*i, split, size))
        });
        let (axis, split, size) = full.unwrap_or_else(|| {
            let (split, size) = self.half(nodes, cells.len(), 1).expect("two nodes at least");
            (order[0], split, size)
        });
        (axis, (low[axis], high[axis]), split, size)
    }

    /// The number of nodes at the front that fill whole planes of cells, as near to half of all as possible, and the cells
    /// that they have.
    fn half(&self, nodes: &[u32], all: usize, plane: usize) -> Option<(usize, usize)> {
        let sizes = nodes[..nodes.len() - 1].iter().scan(0, |sum, node| {
            *sum += self.sizes[*node as usize] as usize;
            Some(*sum)
        });
        let full = (1..).zip(sizes).filter(|(_, sum)| sum.is_multiple_of(plane));
        full.min_by_key(|(_, sum)| all.abs_diff(2 * sum))
    }
}

/// Brings those `size` cells to the front that have the lowest coordinates along an axis; of the plane
/// that is needed in part, those with the lowest numbers. `size` is less than there are cells; all have
/// coordinates from `low` to `high`.
fn select(cells: &mut [u32], size: usize, axis: &Axis, (low, high): (u32, u32)) {
    let coordinate = |cell: u32| (axis.coordinate(cell) - low) as usize;
    let mut counts = vec![0; (high - low + 1) as usize];
    cells.iter().for_each(|cell| counts[coordinate(*cell)] += 1);
    let (mut plane, mut before) = (0, 0);
    while before + counts[plane] <= size {
        before += counts[plane];
        plane += 1;
    }
    // What is before the plane, the plane, what has not been looked at, what is behind.
    let (mut low, mut at, mut high) = (0, 0, cells.len());
    while at < high {
        match coordinate(cells[at]).cmp(&plane) {
            Ordering::Less => {
                cells.swap(low, at);
                low += 1;
                at += 1;
            }
            Ordering::Equal => at += 1,
            Ordering::Greater => {
                high -= 1;
                cells.swap(at, high);
            }
        }
    }
    if size > low {
        cells[low..high].select_nth_unstable(size - low);
    }
}
