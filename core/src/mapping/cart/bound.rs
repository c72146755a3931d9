//! A lower bound on the edges between nodes of any mapping of a grid.
//!
//! A node's cells may be pushed together along one dimension after the other (compression): the edges along the
//! dimensions that leave them only become fewer, in a row as well as in a ring. So the least is reached by a pile of
//! layers, each no larger than the one below it, and can be found layer by layer and dimension by dimension. Vectors
//! along no dimension are left out, which makes the bound weaker, not wrong. No edges lead through a wall; the number
//! that all nodes together would have there is known, and is subtracted.

use crate::mapping::lattice::{Axis, Lattice};

/// Nodes of more cells get a bound in closed form: the exact one takes O(size^2 log(size)).
const LARGEST_EXACT: usize = 1024;

const NEVER: i64 = i64::MAX / 4;

/// A lower bound on the sum of any mapping of the cells to nodes of at most these sizes, which have room for all cells.
/// The lattice is the directed one. 0 where weights are negative.
pub(crate) fn lower_bound(lattice: &Lattice, sizes: &[usize]) -> i64 {
    let axes = lattice.axes();
    let cells: usize = axes.iter().map(|axis| axis.size as usize).product();
    let hops: Vec<Vec<i64>> = (0..axes.len()).map(|i| lattice.hops(i)).collect();
    if axes.is_empty() || hops.iter().flatten().any(|weight| *weight < 0) {
        return 0;
    }
    let walls: i64 = axes
        .iter()
        .zip(&hops)
        .filter(|(axis, _)| !axis.periodic)
        .map(|(axis, hops)| hops.iter().sum::<i64>() * (cells / axis.size as usize) as i64)
        .sum();
    let mut sizes: Vec<usize> = sizes.iter().map(|size| (*size).min(cells)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let exact = surfaces(axes, &hops, sizes[0].min(LARGEST_EXACT));
    let mut sum = Sum { whole: -i128::from(walls), rest: 0.0 };
    let alike = sizes.chunk_by(|a, b| a == b);
    if sizes.iter().sum::<usize>() == cells {
        for nodes in alike {
            match exact.get(nodes[0]) {
                Some(surface) => sum.add_ratio(*surface, nodes.len(), 1),
                None => sum.rest += projections(axes, &hops, nodes[0]) * nodes.len() as f64,
            }
        }
        return sum.bound();
    }
    // Which processes take part is open. Each cell costs at least the best share of a surface that its
    // node's size allows, and the largest nodes allow the best.
    let mut best = vec![1];
    for size in 1..exact.len() {
        let last = best[size - 1];
        let is_better =
            i128::from(exact[size]) * (last as i128) < i128::from(exact[last]) * (size as i128);
        best.push(if is_better { size } else { last });
    }
    let mut left = cells;
    for nodes in alike {
        let size = nodes[0];
        let taken = left.min(size * nodes.len());
        left -= taken;
        let of = best[size.min(exact.len() - 1)];
        let share = projections(axes, &hops, size) / size as f64;
        if size >= exact.len() && share < exact[of] as f64 / of as f64 {
            sum.rest += share * taken as f64;
        } else {
            sum.add_ratio(exact[of], taken, of);
        }
    }
    sum.bound()
}

/// A sum that is a bound: weights may be so large that a `f64` of all of it would be one too many.
struct Sum {
    whole: i128,
    /// Fractions, and what is a little less than it could be.
    rest: f64,
}

impl Sum {
    /// Adds `weight * times / of`.
    fn add_ratio(&mut self, weight: i64, times: usize, of: usize) {
        let (product, of) = (i128::from(weight) * times as i128, of as i128);
        self.whole += product / of;
        self.rest += (product % of) as f64 / of as f64;
    }

    /// The least whole number that is no less.
    fn bound(&self) -> i64 {
        let bound = self.whole + (self.rest - 1e-6).ceil() as i128;
        bound.max(0).try_into().unwrap_or(i64::MAX)
    }
}

/// The least weight of the edges that leave `n` cells, walls included, for every `n` up to `most`.
fn surfaces(axes: &[Axis], hops: &[Vec<i64>], most: usize) -> Vec<i64> {
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|i| axes[*i].size);
    // Of no dimensions: nothing, or one cell.
    let mut below = vec![0, 0];
    for i in order {
        below = pile(&below, axes[i], &hops[i], most);
    }
    below
}

/// Adds a dimension: `below` has the least surface of a layer, by its size. `hops[t]` is what the
/// vectors weigh that lead from layer `t` to below the lowest, both ways, per cell.
fn pile(below: &[i64], axis: Axis, hops: &[i64], most: usize) -> Vec<i64> {
    let largest = below.len() - 1;
    let closed = hops.first().copied().unwrap_or(0);
    let layers = axis.size as usize;
    let most = most.min(layers.saturating_mul(largest));
    let mut best = vec![NEVER; most + 1];
    best[0] = 0;
    let (largest, highest) = limits(below, axis, hops, most);
    // least[c][s]: of s cells in t layers, none of them smaller than c. A row is read for itself alone, and read before
    // it is written.
    let width = most + 1;
    let mut least = vec![NEVER; (largest + 1) * width];
    least.iter_mut().step_by(width).for_each(|none| *none = 0);
    // The same with another layer, none smaller than those that were looked at.
    let mut lowest = vec![NEVER; width];
    for t in 0..layers.min(most).min(highest) {
        let hop = hops.get(t).copied().unwrap_or(0);
        lowest.fill(NEVER);
        // A layer of c cells lies on t others that are no smaller, so that no entry is read that this
        // does not write.
        for c in (1..=largest.min(most / (t + 1))).rev() {
            let first = c * (t + 1);
            let row = &mut least[c * width..(c + 1) * width];
            let layer = below[c] + hop * c as i64;
            let piles = row[first - c..].iter().map(|before| before + layer);
            // A ring that is full has no ends.
            if axis.periodic && t + 1 == layers {
                let full = best[first..].iter_mut().zip(piles.clone());
                full.for_each(|(best, cost)| *best = (*best).min(cost - closed * c as i64));
            }
            let longer = lowest[first..].iter_mut().zip(piles);
            longer.for_each(|(lowest, cost)| *lowest = (*lowest).min(cost));
            row[first..].copy_from_slice(&lowest[first..]);
        }
        best.iter_mut().zip(&lowest).for_each(|(best, lowest)| *best = (*best).min(*lowest));
    }
    best
}

/// The most cells of the lowest layer where a pile of at most `most` cells has the least surface, and the number of
/// layers then. So the search needs a fraction of its time and memory.
fn limits(below: &[i64], axis: Axis, hops: &[i64], most: usize) -> (usize, usize) {
    /// The number of sizes of piles that share a limit.
    const TOGETHER: usize = 16;
    let largest = below.len() - 1;
    let layers = axis.size as usize;
    let first = hops.first().copied().unwrap_or(0);
    // Piles of equal layers, and what is left on top: not the best, but there.
    let mut wide: Vec<usize> = vec![largest];
    while wide[wide.len() - 1] > 1 {
        let less = wide[wide.len() - 1] * 4 / 5;
        wide.push(less.max(1));
    }
    let reached = |s: usize| -> i64 {
        let pile = |c: usize| {
            let (full, rest) = (s / c, s % c);
            let of = |t: usize| hops.get(t).copied().unwrap_or(0);
            let long: i64 = hops.iter().take(full).sum();
            full as i64 * below[c] + long * c as i64 + below[rest] + of(full) * rest as i64
        };
        let fits = |c: &usize| s.div_ceil(*c) <= layers;
        wide.iter().copied().filter(fits).map(pile).min().unwrap_or(NEVER)
    };
    // What a cell of a layer costs at least, by the most that layers have.
    let mut shares = vec![f64::INFINITY];
    for c in 1..=largest {
        shares.push(shares[c - 1].min(below[c] as f64 / c as f64));
    }
    let (mut lowest, mut worst) = (1, 0);
    for from in (1..=most).step_by(TOGETHER) {
        let upto = (from + TOGETHER - 1).min(most);
        let reached = (from..=upto).map(reached).max().unwrap_or(NEVER);
        worst = worst.max(reached);
        let is_too_wide = |c: usize| {
            let closed = if axis.periodic { c.min(upto / layers) } else { 0 };
            let ends = first as f64 * (c - closed) as f64;
            ends + from as f64 * shares[c] > reached as f64 * (1.0 + 1e-9)
        };
        let widest = (lowest + 1..=largest.min(upto)).rev().find(|c| !is_too_wide(*c));
        lowest = widest.unwrap_or(lowest);
    }
    let least = below[1..].iter().copied().min().unwrap_or(0);
    let closed = if axis.periodic { first * (most / layers) as i64 } else { 0 };
    let highest = match least {
        1.. => usize::try_from((worst + closed) / least).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    (lowest.min(largest), highest)
}

/// A bound on the same for any size: the cells of a box-like set that is as wide in each dimension as
/// pays, by the inequality of Loomis and Whitney between a volume and its projections.
fn projections(axes: &[Axis], hops: &[Vec<i64>], size: usize) -> f64 {
    let size = size as f64;
    let narrow: Vec<f64> = axes.iter().map(|axis| size / f64::from(axis.size)).collect();
    let weight = |i: usize| hops[i].first().copied().unwrap_or(0) as f64;
    // The weights of single steps are those of the first layer less those of longer hops.
    let step = |i: usize| weight(i) - hops[i].get(1).copied().unwrap_or(0) as f64;
    let mut wide = narrow.clone();
    if (0..axes.len()).all(|i| step(i) > 0.0) {
        let volume = (axes.len() - 1) as f64 * size.ln();
        let (mut low, mut high) = (f64::MIN_POSITIVE.ln(), f64::MAX.ln() / 2.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            let logs = (0..axes.len()).map(|i| narrow[i].ln().max(middle - step(i).ln()));
            *(if logs.sum::<f64>() < volume { &mut low } else { &mut high }) = middle;
        }
        for i in 0..axes.len() {
            wide[i] = narrow[i].max(low.exp() / step(i));
        }
    }
    let sum = (0..axes.len())
        .map(|i| step(i) * if axes[i].periodic { wide[i] - narrow[i] } else { wide[i] });
    sum.sum::<f64>() * (1.0 - 1e-9)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::mapping::{Grid, Offset};

    /// The least surface of `cells` in layers of at most `widest` from the `layer`-th on: all are tried.
    fn least(
        (below, axis, hops): (&[i64], Axis, &[i64]),
        (cells, layer, widest): (usize, usize, usize),
        known: &mut HashMap<(usize, usize, usize), i64>,
    ) -> i64 {
        if cells == 0 || layer == axis.size as usize {
            return if cells == 0 { 0 } else { NEVER };
        }
        if let Some(least) = known.get(&(cells, layer, widest)) {
            return *least;
        }
        let hop = hops.get(layer).copied().unwrap_or(0);
        let is_full = axis.periodic && layer + 1 == axis.size as usize;
        let closed = if is_full { hops.first().copied().unwrap_or(0) } else { 0 };
        let of = |c: usize| below[c] + (hop - closed) * c as i64;
        let widths = 1..=widest.min(cells);
        let sums = widths
            .map(|c| of(c) + least((below, axis, hops), (cells - c, layer + 1, c), known))
            .min();
        let sum = sums.unwrap_or(NEVER);
        known.insert((cells, layer, widest), sum);
        sum
    }

    #[test]
    fn limits_exclude_no_pile_that_is_best() {
        const MOST: usize = 120;
        for dims in [vec![40, 30], vec![3, 50], vec![5, 6, 7], vec![2, 9, 30], vec![4, 4, 4, 4]] {
            for weights in [[1, 1, 1, 1], [16, 1, 4, 2], [1, 5, 0, 3]] {
                for (longer, ring) in [(false, 0), (false, 1), (true, 0), (false, 3), (true, 3)] {
                    let mut stencil = Grid::nearest_neighbors(&weights[..dims.len()]);
                    for by in [2, -2, 3] {
                        let along = |i: usize| if i == 0 { by } else { 0 };
                        let by = (0..dims.len()).map(along).collect();
                        stencil.extend(longer.then_some(Offset { by, weight: 1 }));
                    }
                    let periodic = (0..dims.len()).map(|i| ring >> (i % 2) & 1 == 1).collect();
                    let lattice = Lattice::directed(&Grid::new(dims.clone(), periodic, stencil));
                    let hops: Vec<_> = (0..dims.len()).map(|i| lattice.hops(i)).collect();
                    let mut order: Vec<usize> = (0..dims.len()).collect();
                    order.sort_by_key(|i| dims[*i]);
                    let mut below = vec![0, 0];
                    for i in order {
                        let (axis, hops) = (lattice.axes()[i], &hops[i][..]);
                        let found = pile(&below, axis, hops, MOST);
                        let question = (&below[..], axis, hops);
                        let mut known = HashMap::new();
                        for (cells, found) in found.iter().enumerate() {
                            let widest = below.len() - 1;
                            let least = least(question, (cells, 0, widest), &mut known);
                            assert_eq!(*found, least, "{dims:?} {weights:?}, {cells}");
                        }
                        below = found;
                    }
                }
            }
        }
    }

    #[test]
    fn the_closed_form_is_no_more_than_the_exact_bound_and_met_by_boxes() {
        let both = |dims: &[usize], weights: &[i64], ring: u32, size: usize| {
            let periodic = (0..dims.len()).map(|i| ring >> i & 1 == 1).collect();
            let stencil = Grid::nearest_neighbors(&weights[..dims.len()]);
            let lattice = Lattice::directed(&Grid::new(dims.to_vec(), periodic, stencil));
            let hops: Vec<_> = (0..dims.len()).map(|i| lattice.hops(i)).collect();
            let exact = surfaces(lattice.axes(), &hops, size)[size];
            (projections(lattice.axes(), &hops, size), exact as f64)
        };
        for dims in [&[40, 30][..], &[3, 50], &[5, 6, 7], &[4, 4, 4, 4]] {
            for weights in [[1, 1, 1, 1], [16, 1, 4, 2], [1, 5, 0, 3]] {
                for (ring, size) in (0..4).flat_map(|ring| (1..=80).map(move |size| (ring, size))) {
                    let (bound, exact) = both(dims, &weights, ring, size);
                    assert!(
                        bound <= exact,
                        "{dims:?} {weights:?} {ring} {size}: {bound} > {exact}"
                    );
                }
            }
        }
        let boxes: [(&[usize], &[i64], _, _, f64); 5] = [
            (&[20, 20, 20], &[1, 1, 1], 0, 27, 54.0),
            (&[20, 20, 20], &[1, 1, 1], 0, 64, 96.0),
            (&[40, 30], &[16, 1], 0, 64, 128.0),
            // Whole rings.
            (&[3, 50], &[1, 1], 1, 30, 6.0),
            (&[3, 50], &[1, 1], 0, 30, 26.0),
        ];
        for (dims, weights, ring, size, edges) in boxes {
            let (bound, exact) = both(dims, weights, ring, size);
            assert_eq!(exact, edges, "{dims:?}");
            assert!(exact - bound < 1e-3, "{dims:?}: {bound} < {exact}");
        }
    }

    /// On two nodes of 2,048 cells 128 edges are cut; two squares of that area have 107 beside the walls.
    #[test]
    fn room_to_spare_on_large_nodes_changes_no_bound() {
        let grid = Grid::new(vec![64, 64], vec![false; 2], Grid::nearest_neighbors(&[1, 1]));
        let lattice = Lattice::directed(&grid);
        assert_eq!([2, 3].map(|nodes| lower_bound(&lattice, &vec![2048; nodes])), [107; 2]);
        // By the best of smaller squares, of 32 times 32.
        assert_eq!(lower_bound(&lattice, &[1024; 5]), 256);
    }
}
