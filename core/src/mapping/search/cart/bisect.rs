//! Bisection: nodes and cells are cut in two until one node is left. The plane between the halves is full if that costs
//! no more than a plane with a step along the cheapest dimension.

use std::cmp::Ordering;

use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::lattice::Lattice;

/// The node of each of these cells, one of those in `sequence`, which have the given sizes; other cells get node 0.
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

/// A cut of a set of cells.
struct Plane {
    /// The dimension across which it lies, and the dimension along which a step in it costs least.
    across: usize,
    step: usize,
    /// The lowest and the highest coordinate of the cells across it.
    extent: (u32, u32),
    /// The number of nodes before it, and of their cells.
    split: usize,
    size: usize,
}

struct Bisection<'a> {
    lattice: &'a Lattice,
    sizes: &'a [u32],
    node_of: &'a mut [u32],
}

impl Bisection<'_> {
    /// Assigns cells to nodes with the same total size.
    fn divide(&mut self, cells: &mut [u32], nodes: &[u32]) {
        if let [node] = nodes {
            cells.iter().for_each(|cell| self.node_of[*cell as usize] = *node);
            return;
        }
        let plane @ Plane { split, size, .. } = self.choose(cells, nodes);
        self.select(cells, plane);
        let (first, second) = cells.split_at_mut(size);
        self.divide(first, &nodes[..split]);
        self.divide(second, &nodes[split..]);
    }

    /// The cheapest cut of these cells.
    fn choose(&self, cells: &[u32], nodes: &[u32]) -> Plane {
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
        // The cost of a plane through the middle. A ring takes two planes, which is no reason to cut it later.
        let price = |i: usize| axes[i].weight * 1024 * cells.len() as i64 / i64::from(extent(i));
        let mut order: Vec<usize> = (0..axes.len()).filter(|i| extent(*i) > 1).collect();
        order.sort_by_key(|i| price(*i));
        let volume = (0..axes.len()).fold(1u64, |volume, i| volume * u64::from(extent(i)));
        let is_box = volume == cells.len() as u64;
        let plane = |i: usize| cells.len() / extent(i) as usize;
        let next = |axis: usize| order.iter().copied().find(|i| *i != axis);
        let first = order[0];
        let of_step = next(first).map_or(0, |next| price(next) / i64::from(extent(first)));
        let may_be_full = |i: &&usize| is_box && price(**i) <= price(first) + of_step;
        let full = order.iter().filter(may_be_full).find_map(|i| {
            let (split, size) = self.half(nodes, cells.len(), plane(*i))?;
            Some((*i, split, size))
        });
        let (across, split, size) = full.unwrap_or_else(|| {
            let (split, size) = self.half(nodes, cells.len(), 1).expect("two nodes at least");
            (first, split, size)
        });
        let step = next(across).unwrap_or(across);
        Plane { across, step, extent: (low[across], high[across]), split, size }
    }

    /// The number of nodes at the front that fill whole planes of cells, as close to half of the total as possible, and
    /// the number of their cells.
    fn half(&self, nodes: &[u32], all: usize, plane: usize) -> Option<(usize, usize)> {
        let sizes = nodes[..nodes.len() - 1].iter().scan(0, |sum, node| {
            *sum += self.sizes[*node as usize] as usize;
            Some(*sum)
        });
        let full = (1..).zip(sizes).filter(|(_, sum)| sum.is_multiple_of(plane));
        full.min_by_key(|(_, sum)| all.abs_diff(2 * sum))
    }

    /// Moves the cells before a plane to the front: those with the lowest coordinates across it, and from a plane that
    /// is needed only in part, those with the lowest ones along its step.
    fn select(&self, cells: &mut [u32], plane: Plane) {
        let Plane { across, step, extent: (low, high), size, .. } = plane;
        let (axis, along) = (&self.lattice.axes()[across], &self.lattice.axes()[step]);
        let coordinate = |cell: u32| (axis.coordinate(cell) - low) as usize;
        let mut counts = vec![0; (high - low + 1) as usize];
        cells.iter().for_each(|cell| counts[coordinate(*cell)] += 1);
        let (mut last, mut before) = (0, 0);
        while before + counts[last] <= size {
            before += counts[last];
            last += 1;
        }
        // The regions before the plane, on the plane, not yet examined, and after the plane.
        let (mut low, mut at, mut high) = (0, 0, cells.len());
        while at < high {
            match coordinate(cells[at]).cmp(&last) {
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
            let key = |cell: &u32| (along.coordinate(*cell), *cell);
            cells[low..high].select_nth_unstable_by_key(size - low, key);
        }
    }
}
