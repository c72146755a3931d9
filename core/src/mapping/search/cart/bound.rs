//! A lower bound on the edges between nodes for any mapping of a grid.
//!
//! A node's cells may be pushed together along one dimension after the other (compression), which only reduces the
//! edges that leave them along the dimensions, in a row as well as in a ring. So the least is reached by a stack of
//! layers, each no larger than the one below it, and can be found layer by layer and dimension by dimension. Vectors
//! along no dimension are omitted, which makes the bound weaker, not wrong.
//!
//! No edges lead through a wall; the number that all nodes together would have there is known, and is subtracted. A few
//! large nodes cannot all be compact and also have their share of the walls, so for these, walls have a price: a node's
//! edges there count less, and the subtracted total is reduced by the same share. Every price gives a bound (Lagrangian
//! relaxation).

use super::compact_box::compact_box;
use crate::mapping::model::lattice::Lattice;

/// For larger nodes, the bound has a closed form: the exact one takes O(size^2 log(size)).
const LARGEST_EXACT: usize = 1024;

/// The price at which an edge through a wall counts nothing. An edge that leads nowhere else counts `2 * PRICES`.
const PRICES: i64 = 4;

const NEVER: i64 = i64::MAX / 4;

/// A lower bound on the sum of any mapping of the cells to nodes of at most these sizes, which have space for all
/// cells. The lattice is the directed one. 0 if weights are negative.
pub(crate) fn lower_bound(lattice: &Lattice, sizes: &[usize]) -> i64 {
    let axes = lattice.axes();
    let cells: usize = axes.iter().map(|axis| axis.size as usize).product();
    let is_negative = |i| lattice.hops(i).iter().any(|weight| *weight < 0);
    if axes.is_empty() || (0..axes.len()).any(is_negative) {
        return 0;
    }
    let mut sizes: Vec<usize> = sizes.iter().map(|size| (*size).min(cells)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let (mut best, walls) = bound_at(0, lattice, &sizes);
    // As the price rises, bounds rise and then fall: they fall at once unless the surfaces of the nodes are less than
    // twice the walls.
    if best < walls {
        for price in 1..=PRICES {
            let (bound, _) = bound_at(price, lattice, &sizes);
            if bound <= best {
                break;
            }
            best = bound;
        }
    }
    (best + 2 * PRICES - 1) / (2 * PRICES)
}

/// The bound at a price of walls, and the weight of the edges through these, multiplied by `2 * PRICES`.
fn bound_at(price: i64, lattice: &Lattice, sizes: &[usize]) -> (i64, i64) {
    let sides = sides(lattice, price);
    let cells: usize = sides.iter().map(|side| side.size).product();
    let walls = sides.iter().map(|side| side.wall * (cells / side.size) as i64).sum();
    let is_closed = sizes.iter().sum::<usize>() == cells;
    let is_asked = |size: &&usize| !is_closed || **size <= LARGEST_EXACT;
    let most = sizes.iter().find(is_asked).map_or(0, |size| (*size).min(LARGEST_EXACT));
    let (last, others) = sides.split_last().expect("one dimension at least");
    let layer = cells / last.size;
    // If no column that fills a dimension costs less, the simpler form is as good.
    let may_close = sides.iter().any(|side| side.closed > 0);
    let is_layered = may_close && layer <= LARGEST_EXACT && sizes[0] > LARGEST_EXACT;
    let below = surfaces(others, if is_layered { layer } else { most });
    let exact = pile(&below, last, most);
    let closed_form = |size: usize| {
        if is_layered { layered(&below, last, size) } else { projections(&sides, size) }
    };
    // Subtracts the possible rounding error.
    let bound = |sum: f64| (sum * (1.0 - 1e-12) - walls as f64 - 1e-6).ceil().max(0.0) as i64;
    let alike = sizes.chunk_by(|a, b| a == b);
    if is_closed {
        let surface = |size: usize| match exact.get(size) {
            Some(surface) => *surface as f64,
            None => closed_form(size),
        };
        let sums = alike.map(|nodes| surface(nodes[0]) * nodes.len() as f64);
        return (bound(sums.sum()), walls);
    }
    // Which processes take part is undecided. Each cell costs at least the best share of a surface that its node's size
    // allows, and the largest nodes allow the best.
    let mut shares = vec![f64::INFINITY];
    for size in 1..exact.len() {
        shares.push(shares[size - 1].min(exact[size] as f64 / size as f64));
    }
    let mut sum = 0.0;
    let mut left = cells;
    for nodes in alike {
        let size = nodes[0];
        let taken = left.min(size * nodes.len());
        left -= taken;
        let share = match shares.get(size) {
            Some(share) => *share,
            None => shares[shares.len() - 1].min(projections(&sides, size) / size as f64),
        };
        sum += share * taken as f64;
    }
    (bound(sum), walls)
}

/// The dimensions at a price of walls, the smallest first.
fn sides(lattice: &Lattice, price: i64) -> Vec<Side> {
    let side = |dimension| Side::new(lattice, dimension, price);
    let mut sides: Vec<Side> = (0..lattice.axes().len()).map(side).collect();
    sides.sort_by_key(|side| side.size);
    sides
}

/// A dimension, and the cost of the ends of columns of cells along it, multiplied by `2 * PRICES`.
struct Side {
    size: usize,
    /// For each `t`, the increase of a column's cost by the `t`-th layer of cells, per cell.
    hops: Vec<i64>,
    /// The saving of a column that fills the dimension.
    closed: i64,
    /// The cost of the two walls at the ends of a column.
    wall: i64,
}

impl Side {
    fn new(lattice: &Lattice, dimension: usize, price: i64) -> Self {
        let axis = lattice.axes()[dimension];
        let mut hops = lattice.hops(dimension);
        if price > 0 && !axis.periodic && hops.len() > 1 {
            // Fewer of the longer vectors may cross walls. Omitting some only makes the bound weaker.
            hops = vec![hops[0] - hops[1]];
        }
        let first = hops.first().copied().unwrap_or(0);
        let all = hops.iter().sum::<i64>();
        let (near, closed, wall) = match axis.periodic {
            true => (2 * PRICES, 2 * PRICES * first, 0),
            false => (2 * PRICES - price, price * first, 2 * (PRICES - price) * all),
        };
        hops.iter_mut().for_each(|hop| *hop *= near);
        Self { size: axis.size as usize, hops, closed, wall }
    }

    /// The cost of steps of one, per column.
    fn step(&self) -> i64 {
        let hop = |t: usize| self.hops.get(t).copied().unwrap_or(0);
        hop(0) - hop(1)
    }
}

/// The least weight of the edges that leave `n` cells, walls included, for every `n` up to `most`.
fn surfaces(sides: &[Side], most: usize) -> Vec<i64> {
    // Without dimensions: nothing, or one cell.
    sides.iter().fold(vec![0, 0], |below, side| pile(&below, side, most))
}

/// Adds a dimension: `below` has the least surface of a layer, by its size. Memory: `8 * most` bytes per layer.
fn pile(below: &[i64], side: &Side, most: usize) -> Vec<i64> {
    let largest = below.len() - 1;
    let most = most.min(side.size.saturating_mul(largest));
    let layers = side.size.min(most);
    let mut best = vec![NEVER; most + 1];
    // By the number of layers and of cells, none of the layers being smaller than those already considered.
    let mut least = vec![vec![NEVER; most + 1]; layers + 1];
    least[0][0] = 0;
    for c in (1..=largest).rev() {
        for t in 0..layers.min(most / c) {
            let hop = side.hops.get(t).copied().unwrap_or(0);
            let layer = below[c] + hop * c as i64;
            let (lower, upper) = least.split_at_mut(t + 1);
            // A layer of c cells lies on t others that are no smaller.
            let piles = lower[t][c * t..=most - c].iter().map(|before| before + layer);
            let higher = upper[0][c * (t + 1)..].iter_mut().zip(piles.clone());
            higher.for_each(|(least, cost)| *least = (*least).min(cost));
            // A full ring has no ends.
            if side.closed > 0 && t + 1 == side.size {
                let full = best[c * (t + 1)..].iter_mut().zip(piles);
                full.for_each(|(best, cost)| *best = (*best).min(cost - side.closed * c as i64));
            }
        }
    }
    for of_layers in least {
        best.iter_mut().zip(of_layers).for_each(|(best, least)| *best = (*best).min(least));
    }
    best
}

/// A bound on the same for any size, from the surfaces of all layers: as if there were two sizes of layers in any
/// proportion. Only steps of one count.
fn layered(below: &[i64], side: &Side, size: usize) -> f64 {
    let mean = size as f64 / side.size as f64;
    let cost = |small: usize, large: usize| {
        let part = if small < large { (mean - small as f64) / (large - small) as f64 } else { 0.0 };
        let layers = below[small] as f64 * (1.0 - part) + below[large] as f64 * part;
        let ends = (side.step() * large as i64 - side.closed * small as i64) as f64;
        layers * side.size as f64 + ends
    };
    let small = 0..=mean as usize;
    let all = small.flat_map(|small| (mean.ceil() as usize..below.len()).map(move |l| (small, l)));
    all.map(|(small, large)| cost(small, large)).fold(f64::INFINITY, f64::min) * (1.0 - 1e-9)
}

/// A bound on the same for any size: the cells of a box-like set that is as wide in each dimension as is best, by the
/// inequality of Loomis and Whitney between a volume and its projections.
fn projections(sides: &[Side], size: usize) -> f64 {
    let size = size as f64;
    // Longer hops are omitted.
    let walls: Vec<(i64, f64)> = sides.iter().map(|side| (side.step(), side.size as f64)).collect();
    let may_be_compact = walls.iter().all(|(step, _)| *step > 0);
    let compact = may_be_compact.then(|| compact_box(size, &walls));
    let sum = sides.iter().enumerate().map(|(i, side)| {
        let narrow = size / side.size as f64;
        let wide = compact.as_ref().map_or(narrow, |sides| size / sides[i]);
        side.step() as f64 * wide - side.closed as f64 * narrow
    });
    sum.sum::<f64>() * (1.0 - 1e-9)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::mapping::{Grid, Offset};

    /// The least surface of `cells` in layers of at most `widest` from the `layer`-th on, by trying all.
    fn least(
        (below, side): (&[i64], &Side),
        (cells, layer, widest): (usize, usize, usize),
        known: &mut HashMap<(usize, usize, usize), i64>,
    ) -> i64 {
        if cells == 0 || layer == side.size {
            return if cells == 0 { 0 } else { NEVER };
        }
        if let Some(least) = known.get(&(cells, layer, widest)) {
            return *least;
        }
        let hop = side.hops.get(layer).copied().unwrap_or(0);
        let closed = if layer + 1 == side.size { side.closed } else { 0 };
        let of = |c: usize| below[c] + (hop - closed) * c as i64;
        let widths = 1..=widest.min(cells);
        let sums =
            widths.map(|c| of(c) + least((below, side), (cells - c, layer + 1, c), known)).min();
        let sum = sums.unwrap_or(NEVER);
        known.insert((cells, layer, widest), sum);
        sum
    }

    #[test]
    fn no_set_of_cells_has_fewer_edges_than_a_pile() {
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
                    let mut below = vec![0, 0];
                    let price = ring / 2;
                    for side in sides(&lattice, price) {
                        let found = pile(&below, &side, MOST);
                        let question = (&below[..], &side);
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
    fn the_closed_form_is_at_most_the_exact_bound_and_boxes_meet_it() {
        let both = |dims: &[usize], weights: &[i64], (ring, price): (u32, i64), size: usize| {
            let periodic = (0..dims.len()).map(|i| ring >> i & 1 == 1).collect();
            let stencil = Grid::nearest_neighbors(&weights[..dims.len()]);
            let lattice = Lattice::directed(&Grid::new(dims.to_vec(), periodic, stencil));
            let sides = sides(&lattice, price);
            let exact = surfaces(&sides, size)[size];
            let (last, others) = sides.split_last().unwrap();
            let below = surfaces(others, dims.iter().product::<usize>() / last.size);
            let bounds = [projections(&sides, size), layered(&below, last, size)];
            (bounds.map(|bound| bound / 8.0), exact as f64 / 8.0)
        };
        for dims in [&[40, 30][..], &[3, 50], &[5, 6, 7], &[4, 4, 4, 4]] {
            for weights in [[1, 1, 1, 1], [16, 1, 4, 2], [1, 5, 0, 3]] {
                let all = (0..12).map(|case| (case % 4, i64::from(case / 4 * 2)));
                for (at, size) in all.flat_map(|at| (1..=80).map(move |size| (at, size))) {
                    let (bounds, exact) = both(dims, &weights, at, size);
                    assert!(
                        bounds.iter().all(|bound| *bound <= exact),
                        "{dims:?} {weights:?} {at:?} {size}: {bounds:?} > {exact}"
                    );
                }
            }
        }
        let boxes: [(&[usize], &[i64], _, _, f64); 6] = [
            (&[20, 20, 20], &[1, 1, 1], (0, 0), 27, 54.0),
            (&[20, 20, 20], &[1, 1, 1], (0, 0), 64, 96.0),
            (&[40, 30], &[16, 1], (0, 0), 64, 128.0),
            (&[20, 20, 20], &[1, 1, 1], (0, 4), 64, 48.0),
            // Whole rings.
            (&[3, 50], &[1, 1], (1, 0), 30, 6.0),
            (&[3, 50], &[1, 1], (0, 0), 30, 26.0),
        ];
        for (dims, weights, at, size, edges) in boxes {
            let (bounds, exact) = both(dims, weights, at, size);
            assert_eq!(exact, edges, "{dims:?}");
            assert!(exact - bounds[0].max(bounds[1]) < 1e-3, "{dims:?}: {bounds:?} < {exact}");
        }
    }

    #[test]
    fn bounds_for_few_large_nodes_are_met() {
        let bound = |dims: &[usize], sizes: &[usize]| {
            let stencil = Grid::nearest_neighbors(&vec![1; dims.len()]);
            let grid = Grid::new(dims.to_vec(), vec![false; dims.len()], stencil);
            lower_bound(&Lattice::directed(&grid), sizes)
        };
        // A corner, whose square would have a surface of 24 and the rest one of 42, not counting walls of 48.
        assert_eq!(bound(&[12, 12], &[108, 36]), 24);
        // Halves, also with space to spare for more.
        assert_eq!(bound(&[64, 64], &[2048; 2]), 128);
        assert_eq!(bound(&[16, 16, 16], &[2048; 2]), 512);
        assert_eq!(bound(&[6, 4], &[6, 6, 6, 6]), 20);
    }

    /// Two squares of 2,048 cells have 107 edges, not counting the walls.
    #[test]
    fn room_to_spare_on_large_nodes_changes_no_bound() {
        let grid = Grid::new(vec![64, 64], vec![false; 2], Grid::nearest_neighbors(&[1, 1]));
        let lattice = Lattice::directed(&grid);
        assert_eq!(lower_bound(&lattice, &[2048; 3]), 107);
        // By the best of smaller squares, of 32 times 32.
        assert_eq!(lower_bound(&lattice, &[1024; 5]), 256);
    }
}
