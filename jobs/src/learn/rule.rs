//! The rule of a traffic: a grid in which every rank sends as much to each of its neighbors. It predicts the traffic
//! for another number of processes.

use std::collections::HashMap;
use std::fmt;

use cartograph_core::topology::dims::dims_create;
use cartograph_traffic::{Count, Edge, Recording};

/// A rule explains at least this fraction of the bytes.
const LEAST_EXPLAINED: f64 = 0.95;

/// The most dimensions of a grid that the program did not create by MPI, and the most grids that are tried.
const MOST_DIMS: usize = 3;
const MOST_GRIDS: usize = 500;

/// The most messages that are examined in all grids together: a job waits less than a second.
const MOST_VISITS: usize = 5_000_000;

/// The most neighbors of a rank.
const MOST_NEIGHBORS: usize = 64;

/// A created grid with at most this mean number of steps is not doubted.
const NEAR: f64 = 1.5;

/// The distance of a neighbor along each dimension; 0 beyond the last one.
type Apart = [i32; MOST_CREATED];

/// The most dimensions of a grid that the program created by MPI.
const MOST_CREATED: usize = 6;

/// How the bytes of neighbors change with the number of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// All processes together have the same data: their faces become smaller.
    Strong,
    /// Each process has as much data as before.
    Weak,
}

impl Scaling {
    /// The other scaling.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Strong => Self::Weak,
            Self::Weak => Self::Strong,
        }
    }
}

/// A grid of ranks in C order (the last dimension varies fastest) and what a rank sends to each neighbor.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    dims: Vec<u32>,
    periodic: Vec<bool>,
    /// The distances along each dimension, and what a rank sends there; the most bytes first.
    neighbors: Vec<(Apart, Count)>,
    /// True if the program created this grid by MPI.
    is_created: bool,
    /// The dimensions in which this grid was created without being periodic.
    ends: Vec<bool>,
    /// True if `MPI_Dims_create` chose these sides.
    is_chosen: bool,
    /// The fraction of the bytes that it explains.
    explained: f64,
    /// The mean number of grid steps that a byte travels.
    steps: f64,
}

impl Rule {
    /// The rule of a recording; `None` if no grid explains it.
    pub fn of(recording: &Recording) -> Option<Self> {
        let Recording { size, edges, topologies, .. } = recording;
        let edges: Vec<&Edge> = edges.iter().filter(|edge| edge.from != edge.to).collect();
        // If most ranks exchange bytes with most others, a grid explains nothing.
        let pairs = u64::from(*size) * u64::from(size.saturating_sub(1));
        if edges.is_empty() || 2 * edges.len() as u64 > pairs {
            return None;
        }
        let cells =
            |dims: &[u32]| dims.iter().try_fold(1u32, |cells, side| cells.checked_mul(*side));
        let created = topologies.iter().filter(|grid| grid.function == "MPI_Cart_create");
        let created = created.filter(|grid| cells(&grid.dims) == Some(*size));
        let created = created.filter_map(|grid| {
            let sides = grid.dims.iter().zip(&grid.periodic).filter(|(side, _)| **side > 1);
            let (dims, periodic): (Vec<u32>, Vec<bool>) = sides.unzip();
            let ends = periodic.iter().map(|periodic| !periodic).collect();
            Some(Self { is_created: true, ends, ..fit(dims, &edges)? })
        });
        let created: Vec<Self> = created.collect();
        let others = match created.iter().any(|rule| rule.steps <= NEAR) {
            true => Vec::new(),
            false => grids_of(*size),
        };
        let others = others.into_iter().take(MOST_VISITS / edges.len());
        let others = others.filter_map(|dims| fit(dims, &edges));
        let rules = created.into_iter().chain(others);
        let sorted = |dims: &[u32]| {
            let mut dims: Vec<u32> = dims.iter().copied().filter(|side| *side > 1).collect();
            dims.sort_unstable();
            dims
        };
        let chosen = topologies.iter().filter(|grid| grid.function == "MPI_Dims_create");
        let chosen: Vec<Vec<u32>> = chosen.map(|grid| sorted(&grid.dims)).collect();
        let rules =
            rules.map(|rule| Self { is_chosen: chosen.contains(&sorted(&rule.dims)), ..rule });
        // In the right grid, neighbors are near.
        rules.min_by(|one, other| {
            let by_steps = one.steps.total_cmp(&other.steps);
            by_steps.then(other.is_created.cmp(&one.is_created))
        })
    }

    /// The grid for another number of processes, if the `MPI_Dims_create` of MPICH and of Open MPI choose it alike.
    fn dims_of(&self, processes: u32) -> Option<Vec<u32>> {
        if !self.is_chosen {
            return None;
        }
        let create = |processes: u32| {
            let mut dims = vec![0; self.dims.len()];
            dims_create(i32::try_from(processes).ok()?, &mut dims).ok()?;
            dims.into_iter().map(|side| u32::try_from(side).ok()).collect::<Option<Vec<u32>>>()
        };
        let (own, new) = (create(self.dims.iter().product())?, create(processes)?);
        if by_factors(processes, new.len()) != new {
            return None;
        }
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.dims[*at]));
        if order.iter().map(|at| self.dims[*at]).ne(own) || new.contains(&1) {
            return None;
        }
        let mut dims = self.dims.clone();
        for (at, side) in order.iter().zip(&new) {
            dims[*at] = *side;
        }
        // Two ranks do not show whether they are neighbors on both sides.
        let mut pairs = self.dims.iter().zip(&dims).zip(&self.ends);
        if pairs.any(|((old, new), ends)| *old == 2 && *new > 2 && !ends) {
            return None;
        }
        // The order of dimensions is unknown if equal sides become different, unless MPI created the grid.
        let pairs = |at: usize| (0..at).map(move |before| (before, at));
        let mut differ = (0..dims.len()).flat_map(pairs);
        let is_open =
            differ.any(|(one, at)| self.dims[one] == self.dims[at] && dims[one] != dims[at]);
        (self.is_created || !is_open).then_some(dims)
    }

    /// The rule for another number of processes; `None` if it is unknown how the grid grows, or if its messages are too
    /// many for a job to wait.
    pub fn at(&self, processes: u32, scaling: Scaling) -> Option<Self> {
        if (processes as usize).saturating_mul(self.neighbors.len()) > MOST_VISITS {
            return None;
        }
        let dims = self.dims_of(processes)?;
        let sides = self.dims.iter().zip(&dims);
        let shrunk: Vec<f64> = sides.map(|(old, new)| f64::from(*old) / f64::from(*new)).collect();
        let neighbors = self.neighbors.iter().map(|(apart, count)| {
            // A face extends along the other dimensions.
            let along = apart.iter().zip(&shrunk).filter(|(apart, _)| **apart == 0);
            let factor = match scaling {
                Scaling::Strong => along.map(|(_, shrunk)| shrunk).product::<f64>(),
                Scaling::Weak => 1.0,
            };
            let bytes = (count.bytes as f64 * factor).round() as u64;
            (*apart, Count { bytes, ..*count })
        });
        Some(Self { neighbors: neighbors.collect(), dims, ..self.clone() })
    }

    /// The number of processes.
    fn size(&self) -> u32 {
        self.dims.iter().product()
    }

    /// The messages of all ranks.
    pub fn edges(&self) -> Vec<Edge> {
        let mut all: HashMap<(u32, u32), Count> = HashMap::new();
        for from in 0..self.size() {
            for (apart, count) in &self.neighbors {
                let to = self.neighbor(from, apart).filter(|to| *to != from);
                if let Some(to) = to {
                    all.entry((from, to)).or_default().add(*count);
                }
            }
        }
        let edges = all.into_iter().map(|((from, to), count)| Edge { from, to, count });
        let mut edges: Vec<Edge> = edges.collect();
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
        edges
    }

    /// The rank at a distance from another, if there is one.
    fn neighbor(&self, rank: u32, apart: &[i32]) -> Option<u32> {
        let (mut rest, mut to, mut stride) = (rank, 0, 1);
        for ((side, periodic), apart) in self.dims.iter().zip(&self.periodic).zip(apart).rev() {
            let (at, side) = (i64::from(rest % side) + i64::from(*apart), i64::from(*side));
            let is_inside = (0..side).contains(&at);
            if !is_inside && !periodic {
                return None;
            }
            to += u32::try_from(at.rem_euclid(side)).ok()? * stride;
            (rest, stride) = (rest / side as u32, stride * side as u32);
        }
        Some(to)
    }

    /// True if this is the same grid with the same neighbors as another rule for as many processes.
    pub fn is_like(&self, other: &Self) -> bool {
        let near = |rule: &Self| {
            let mut all: Vec<Apart> = rule.neighbors.iter().map(|(apart, _)| *apart).collect();
            all.sort_unstable();
            all
        };
        (&self.dims, &self.periodic) == (&other.dims, &other.periodic) && near(self) == near(other)
    }

    /// The sides of the grid.
    pub fn dims(&self) -> &[u32] {
        &self.dims
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.dims.iter().map(u32::to_string).collect();
        write!(f, "a grid of {}", sides.join(" x "))?;
        let periodic: Vec<String> = (0..self.dims.len())
            .filter(|dimension| self.periodic[*dimension])
            .map(|dimension| dimension.to_string())
            .collect();
        match &periodic[..] {
            [] => {}
            [one] => write!(f, ", periodic in dimension {one}")?,
            all => write!(f, ", periodic in dimensions {}", all.join(", "))?,
        }
        let plural = if self.neighbors.len() == 1 { "" } else { "s" };
        write!(f, ", with {} neighbor{plural}", self.neighbors.len())?;
        write!(f, " ({:.0} % of the bytes)", 100.0 * self.explained)
    }
}

/// The sides that Open MPI's `MPI_Dims_create` chooses, the largest first: each prime factor, from the largest on, goes to
/// the smallest side. For 72 processes, they are 12 x 6, and exact ones 9 x 8.
fn by_factors(mut processes: u32, dimensions: usize) -> Vec<u32> {
    let mut factors = Vec::new();
    let mut factor = 2;
    while processes > 1 {
        if processes.is_multiple_of(factor) {
            factors.push(factor);
            processes /= factor;
        } else if factor > processes / factor {
            factor = processes;
        } else {
            factor += 1;
        }
    }
    let mut sides = vec![1; dimensions];
    for factor in factors.into_iter().rev() {
        if let Some(least) = sides.iter_mut().min() {
            *least *= factor;
        }
    }
    sides.sort_unstable_by(|one, other| other.cmp(one));
    sides
}

/// The grids of this number of ranks, each side at least 2, the most compact first.
fn grids_of(size: u32) -> Vec<Vec<u32>> {
    fn extend(rest: u32, dims: &mut Vec<u32>, all: &mut Vec<Vec<u32>>) {
        if rest > 1 {
            all.push([&dims[..], &[rest]].concat());
        }
        if dims.len() + 1 == MOST_DIMS || all.len() > MOST_GRIDS {
            return;
        }
        for side in (2..=rest / 2).filter(|side| rest.is_multiple_of(*side)) {
            dims.push(side);
            extend(rest / side, dims, all);
            dims.pop();
        }
    }
    let mut all = Vec::new();
    extend(size, &mut Vec::new(), &mut all);
    all.sort_by_key(|dims| dims.iter().sum::<u32>());
    all
}

/// The rule of messages in a grid, if it explains them.
fn fit(dims: Vec<u32>, edges: &[&Edge]) -> Option<Rule> {
    // Sides of 2 alone show no neighborhood.
    if dims.len() > MOST_CREATED || !dims.iter().any(|side| *side > 2) {
        return None;
    }
    let periodic = periodic(&dims, edges);
    let apart = |edge: &Edge| apart(&dims, &periodic, edge).0;
    let mut sums: HashMap<Apart, (u64, Count)> = HashMap::new();
    for edge in edges {
        let (count, sum) = sums.entry(apart(edge)).or_default();
        *count += 1;
        sum.add(edge.count);
    }
    let mut sums: Vec<(Apart, u64, Count)> =
        sums.into_iter().map(|(apart, (count, sum))| (apart, count, sum)).collect();
    sums.sort_by(|one, other| (other.2.bytes, one.0).cmp(&(one.2.bytes, other.0)));
    sums.truncate(MOST_NEIGHBORS);
    let mean = |count: u64, sum: Count| Count {
        messages: sum.messages.div_ceil(count),
        bytes: sum.bytes / count,
    };
    let means: HashMap<Apart, u64> =
        sums.iter().map(|(apart, count, sum)| (*apart, mean(*count, *sum).bytes)).collect();
    let all = edges.iter().fold(0u64, |sum, edge| sum.saturating_add(edge.count.bytes));
    let mut wrong: u64 = 0;
    for edge in edges {
        let expected = means.get(&apart(edge)).copied().unwrap_or(0);
        wrong = wrong.saturating_add(edge.count.bytes.abs_diff(expected));
    }
    // Missing messages of other ranks to such a neighbor count as wrong.
    sums.retain(|(apart, count, sum)| {
        let sides = dims.iter().zip(&periodic).zip(apart);
        let ranks: u64 = sides
            .map(|((side, periodic), apart)| match periodic {
                true => u64::from(*side),
                false => u64::from(side.saturating_sub(apart.unsigned_abs())),
            })
            .product();
        // Few ranks send it: it is left out.
        let is_rule = 2 * count >= ranks;
        wrong = wrong.saturating_add(match is_rule {
            true => ranks.saturating_sub(*count).saturating_mul(sum.bytes / count),
            false => sum.bytes,
        });
        is_rule
    });
    let explained = 1.0 - wrong as f64 / all.max(1) as f64;
    if all == 0 || explained < LEAST_EXPLAINED {
        return None;
    }
    let steps = sums.iter().map(|(apart, _, sum)| {
        let steps: u32 = apart.iter().map(|apart| apart.unsigned_abs()).sum();
        f64::from(steps) * sum.bytes as f64
    });
    let steps = steps.sum::<f64>() / all as f64;
    let neighbors = sums.into_iter().map(|(apart, count, sum)| (apart, mean(count, sum)));
    let neighbors = neighbors.collect();
    let (is_created, is_chosen, ends) = (false, false, vec![false; dims.len()]);
    Some(Rule { dims, periodic, neighbors, is_created, ends, is_chosen, explained, steps })
}

/// The dimensions in which ranks at the border send as much across it as others to their neighbors.
fn periodic(dims: &[u32], edges: &[&Edge]) -> Vec<bool> {
    let mut bytes = vec![(0u64, 0u64); dims.len()];
    for edge in edges {
        let (apart, crosses) = apart(dims, &[true; MOST_CREATED], edge);
        for ((all, across), (apart, crosses)) in
            bytes.iter_mut().zip(apart.into_iter().zip(crosses))
        {
            *all = all.saturating_add(if apart == 0 { 0 } else { edge.count.bytes });
            *across = across.saturating_add(if crosses { edge.count.bytes } else { 0 });
        }
    }
    let is_periodic = |(side, (all, across)): (&u32, &(u64, u64))| {
        *across > 0 && 2 * u128::from(*side) * u128::from(*across) >= u128::from(*all)
    };
    dims.iter().zip(&bytes).map(is_periodic).collect()
}

/// The distance of the ranks of a message along each dimension, in periodic ones the shorter way, and where it crosses
/// the border.
fn apart(dims: &[u32], periodic: &[bool], edge: &Edge) -> (Apart, [bool; MOST_CREATED]) {
    let (mut from, mut to) = (edge.from, edge.to);
    let (mut all, mut crosses) = (Apart::default(), [false; MOST_CREATED]);
    for (at, side) in dims.iter().enumerate().rev() {
        let apart = (to % side) as i32 - (from % side) as i32;
        (from, to) = (from / side, to / side);
        let side = *side as i32;
        crosses[at] = periodic[at] && side > 2 && 2 * apart.abs() > side;
        all[at] = if crosses[at] { apart - apart.signum() * side } else { apart };
    }
    (all, crosses)
}

#[cfg(test)]
mod tests;
