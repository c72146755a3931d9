//! The published mappings, reimplemented from their descriptions, to compare on any instance.

use cartograph_core::mapping::Grid;

/// The methods, in the order of the tables.
pub(crate) const METHODS: [&str; 5] = ["blocked", "nodecart", "k-d", "hyperplane", "strips"];

/// The node of each cell by every method that has a result.
pub(crate) fn all(grid: &Grid, sizes: &[usize]) -> [Option<Vec<u32>>; 5] {
    let cells: usize = sizes.iter().sum();
    let box_ = Region::whole(grid);
    let mean = cells / sizes.len();
    let mut kd = Vec::new();
    kd_tree(grid, &box_, &mut kd);
    let mut planes = Vec::new();
    hyperplane(grid, &box_, mean, &mut planes);
    [
        Some(fill((0..cells).collect(), sizes)),
        nodecart(grid, sizes),
        Some(fill(kd, sizes)),
        Some(fill(planes, sizes)),
        Some(fill(strips(grid, mean), sizes)),
    ]
}

/// Fills nodes one after the other.
fn fill(order: Vec<usize>, sizes: &[usize]) -> Vec<u32> {
    let nodes = sizes.iter().enumerate();
    let nodes = nodes.flat_map(|(node, size)| std::iter::repeat_n(node as u32, *size));
    let mut node_of = vec![0; order.len()];
    for (cell, node) in order.into_iter().zip(nodes) {
        node_of[cell] = node;
    }
    node_of
}

/// A box of cells.
#[derive(Clone)]
struct Region {
    first: Vec<usize>,
    sides: Vec<usize>,
}

impl Region {
    fn whole(grid: &Grid) -> Self {
        Self { first: vec![0; grid.dims().len()], sides: grid.dims().to_vec() }
    }

    fn volume(&self) -> usize {
        self.sides.iter().product()
    }

    fn cut(&self, i: usize, at: usize) -> [Self; 2] {
        let (mut low, mut high) = (self.clone(), self.clone());
        low.sides[i] = at;
        high.first[i] += at;
        high.sides[i] -= at;
        [low, high]
    }

    /// The cells, the first of the dimensions in `slowest` changing slowest.
    fn cells(&self, grid: &Grid, slowest: &[usize], order: &mut Vec<usize>) {
        for index in 0..self.volume() {
            let (mut rest, mut at) = (index, self.first.clone());
            for &i in slowest.iter().rev() {
                at[i] += rest % self.sides[i];
                rest /= self.sides[i];
            }
            order.push(number(grid, &at));
        }
    }
}

fn number(grid: &Grid, at: &[usize]) -> usize {
    grid.dims().iter().zip(at).fold(0, |cell, (side, at)| cell * side + at)
}

/// Gropp, EuroMPI 2018: the primes of the node size go to the dimension with the smallest block among the dimensions
/// that they divide.
fn nodecart(grid: &Grid, sizes: &[usize]) -> Option<Vec<u32>> {
    if sizes.iter().any(|size| *size != sizes[0]) {
        return None;
    }
    let mut primes = Vec::new();
    let mut rest = sizes[0];
    let mut prime = 2;
    while rest > 1 {
        while rest.is_multiple_of(prime) {
            primes.push(prime);
            rest /= prime;
        }
        prime += 1;
    }
    let dims = grid.dims();
    let mut block = vec![1; dims.len()];
    for prime in primes.into_iter().rev() {
        let fits = (0..dims.len()).filter(|i| (dims[*i] / block[*i]).is_multiple_of(prime));
        let smallest = fits.min_by_key(|i| block[*i])?;
        block[smallest] *= prime;
    }
    let node = |cell: usize| {
        let mut rest = cell;
        let (mut node, mut stride) = (0, 1);
        for i in (0..dims.len()).rev() {
            node += rest % dims[i] / block[i] * stride;
            stride *= dims[i] / block[i];
            rest /= dims[i];
        }
        node as u32
    };
    Some((0..sizes.iter().sum()).map(node).collect())
}

/// The number of vectors of the stencil along each dimension.
fn along(grid: &Grid, i: usize) -> usize {
    grid.stencil().iter().filter(|vector| vector.by[i] != 0).count()
}

/// Hunold and others, CLUSTER 2020: halves the dimension with the largest ratio of size to number of vectors along it,
/// regardless of the node size.
fn kd_tree(grid: &Grid, region: &Region, order: &mut Vec<usize>) {
    let widest = (0..region.sides.len()).filter(|i| region.sides[*i] > 1).max_by(|i, j| {
        let share = |i: usize| region.sides[i] as f64 / (along(grid, i) as f64).max(1e-3);
        share(*i).total_cmp(&share(*j)).then(j.cmp(i))
    });
    match widest {
        None => order.push(number(grid, &region.first)),
        Some(i) => {
            for half in region.cut(i, region.sides[i] / 2) {
                kd_tree(grid, &half, order);
            }
        }
    }
}

/// The same paper: cuts the cheapest dimension near its middle such that both parts are whole nodes.
fn hyperplane(grid: &Grid, region: &Region, size: usize, order: &mut Vec<usize>) {
    let weight = |i: usize| -> f64 {
        let share = |by: &[i32]| {
            let square: i64 = by.iter().map(|step| i64::from(*step).pow(2)).sum();
            i64::from(by[i]).pow(2) as f64 / square.max(1) as f64
        };
        grid.stencil().iter().map(|vector| share(&vector.by)).sum()
    };
    let mut dims: Vec<usize> = (0..region.sides.len()).collect();
    dims.sort_by(|i, j| {
        weight(*i).total_cmp(&weight(*j)).then(region.sides[*j].cmp(&region.sides[*i]))
    });
    if region.volume() > size {
        for &i in &dims {
            let plane = region.volume() / region.sides[i];
            let cuts = (1..region.sides[i]).filter(|at| (at * plane).is_multiple_of(size));
            if let Some(at) = cuts.min_by_key(|at| region.sides[i].abs_diff(2 * at)) {
                for part in region.cut(i, at) {
                    hyperplane(grid, &part, size, order);
                }
                return;
            }
        }
    }
    region.cells(grid, &dims, order);
}

/// The same paper: strips along the longest dimension, about n^(1/d) wide, scaled by the reach of the stencil, walked
/// back and forth.
fn strips(grid: &Grid, size: usize) -> Vec<usize> {
    let dims = grid.dims();
    let longest = (0..dims.len()).max_by_key(|i| (dims[*i], dims.len() - i)).unwrap_or(0);
    let reach = |i: usize| -> f64 {
        let by = |v: &&cartograph_core::mapping::Offset| v.by[i];
        let far = grid.stencil().iter().max_by_key(|v| by(v)).map_or(0, |v| v.by[i]);
        let near = grid.stencil().iter().min_by_key(|v| by(v)).map_or(0, |v| v.by[i]);
        f64::from(far - near).max(1.0)
    };
    let mean = (0..dims.len()).map(|i| reach(i).ln()).sum::<f64>() / dims.len() as f64;
    let side = (size as f64).powf(1.0 / dims.len() as f64);
    let counts: Vec<usize> = (0..dims.len())
        .map(|i| {
            let width = (side * reach(i) / mean.exp()).clamp(1.0, dims[i] as f64);
            if i == longest { 1 } else { (dims[i] as f64 / width).round().max(1.0) as usize }
        })
        .collect();
    let mut order = Vec::new();
    let mut slowest: Vec<usize> = (0..dims.len()).filter(|i| *i != longest).collect();
    slowest.insert(0, longest);
    for strip in 0..counts.iter().product() {
        let (mut rest, mut region) = (strip, Region::whole(grid));
        for i in (0..dims.len()).rev() {
            let mut at = rest % counts[i];
            rest /= counts[i];
            // Back and forth, depending on the strips of the dimensions before this one.
            at = if rest % 2 == 1 { counts[i] - 1 - at } else { at };
            region.first[i] = dims[i] * at / counts[i];
            region.sides[i] = dims[i] * (at + 1) / counts[i] - region.first[i];
        }
        let mut cells = Vec::new();
        region.cells(grid, &slowest, &mut cells);
        if strip % 2 == 1 {
            cells.reverse();
        }
        order.extend(cells);
    }
    order
}
