//! How few edges between nodes any mapping of a grid can have.
//!
//! A node's cells may be pushed together along one dimension after the other (compression): the
//! edges along the dimensions that leave them only become fewer, in a row as well as in a ring. So
//! the least is reached by a pile of layers, each no larger than the one below it, and can be found
//! layer by layer and dimension by dimension. Vectors along no dimension are left out, which makes
//! the bound weaker, not wrong. Edges that would lead through a wall are none; what all nodes
//! together would have there is known and taken off.

use crate::mapping::lattice::{Axis, Lattice};

/// Nodes of more cells get a bound in closed form: the exact one takes O(size^2 log(size)).
const LARGEST_EXACT: usize = 1024;

const NEVER: i64 = i64::MAX / 4;

/// No mapping of the cells to nodes of at most these sizes, which have at least as many places as
/// there are cells, has a smaller sum. The lattice is the directed one. 0 where weights are negative.
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
    let surface = |size: usize| match exact.get(size) {
        Some(surface) => *surface as f64,
        None => projections(axes, &hops, size),
    };
    if sizes.iter().sum::<usize>() == cells {
        let (mut sum, mut last) = (0.0, (0, 0.0));
        for size in sizes {
            if size != last.0 {
                last = (size, surface(size));
            }
            sum += last.1;
        }
        return ((sum - 1e-6).ceil() as i64 - walls).max(0);
    }
    // Which processes take part is open. Each cell costs at least the best share of a surface that its
    // node's size allows, and the largest nodes allow the best.
    let mut shares = vec![f64::INFINITY];
    for size in 1..exact.len() {
        shares.push(shares[size - 1].min(exact[size] as f64 / size as f64));
    }
    let share = |size: usize| match shares.get(size) {
        Some(share) => *share,
        None => shares[shares.len() - 1].min(projections(axes, &hops, size) / size as f64),
    };
    let (mut sum, mut left, mut last) = (0.0, cells, (0, 0.0));
    for size in sizes {
        if size != last.0 {
            last = (size, share(size));
        }
        sum += last.1 * size.min(left) as f64;
        left -= size.min(left);
    }
    ((sum - 1e-6).ceil() as i64 - walls).max(0)
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
    // least[s][c]: of s cells in t layers, none of them smaller than c.
    let width = largest + 2;
    let mut least = vec![NEVER; (most + 1) * width];
    least[..width].fill(0);
    let mut next = vec![NEVER; (most + 1) * width];
    for t in 0..layers.min(most) {
        let hop = hops.get(t).copied().unwrap_or(0);
        // A layer of c cells lies on t others that are no smaller, so that no entry is read that this
        // does not write.
        let high = largest.min(most / (t + 1));
        for s in 1..=most {
            let row = s * width;
            let top = high.min(s / (t + 1));
            let mut lowest = NEVER;
            for c in (1..=top).rev() {
                let cost = least[(s - c) * width + c] + below[c] + hop * c as i64;
                lowest = lowest.min(cost);
                next[row + c] = lowest;
                best[s] = best[s].min(cost);
                // A ring that is full has no ends.
                if axis.periodic && t + 1 == layers {
                    best[s] = best[s].min(cost - closed * c as i64);
                }
            }
        }
        std::mem::swap(&mut least, &mut next);
    }
    best
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
