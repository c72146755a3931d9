//! Two parts of exact sizes: coarsen, cut the smallest graph, refine while uncoarsening.

use super::coarsen::levels;
use super::fm::{Limits, Quality, refine};
use super::queue::Queue;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;
use crate::mapping::search::rng::Rng;

/// Graphs with at most this number of vertices are not coarsened.
const SMALL: usize = 64;

/// The parameters of a bisection.
#[derive(Clone, Copy)]
pub(super) struct Bisections {
    /// The number of cuts of the smallest graph; the best is taken.
    pub(super) starts: usize,
    /// True if vertices are merged in numerical order instead of random order: see [`coarsen`].
    pub(super) in_order: bool,
}

impl Bisections {
    /// The parameters for dividing a graph into this number of parts.
    pub(super) fn new(starts: usize, parts: usize) -> Self {
        Self { starts, in_order: parts >= 1024 }
    }
}

/// The side, 0 or 1, of each vertex, such that side 0 has the size `target`; exactly, if all vertices have the size 1
/// and `target` is not more than their number.
pub(super) fn bisect(
    graph: &Csr,
    target: i64,
    how: Bisections,
    rng: &mut Rng,
    budget: &mut Budget,
) -> Vec<u8> {
    let most = (graph.total_size() / 24).max(1);
    let random = (!how.in_order).then_some(&mut *rng);
    let is_small = |graph: &Csr, _: &Budget| graph.vertices() <= SMALL;
    let mut levels = levels(graph, most, random, budget, is_small);
    let smallest = levels.last().map_or(graph, |level| &level.graph);
    let mut sides = start(smallest, target, how.starts, rng, budget);
    while let Some(level) = levels.pop() {
        refine(&level.graph, &mut sides, target, limits(&level.graph), budget);
        sides = level.coarse_of.iter().map(|coarse| sides[*coarse as usize]).collect();
    }
    refine(graph, &mut sides, target, limits(graph), budget);
    sides
}

/// Sizes are met as closely as the size of the vertices allows.
fn limits(graph: &Csr) -> Limits {
    let largest = graph.largest_size();
    Limits {
        tolerance: largest - 1,
        slack: largest,
        patience: (graph.vertices() / 50).clamp(30, 300),
        passes: 8,
    }
}

/// Cuts a small graph by growing side 0 from one vertex, several times.
fn start(graph: &Csr, target: i64, starts: usize, rng: &mut Rng, budget: &mut Budget) -> Vec<u8> {
    let mut best: Option<(Quality, Vec<u8>)> = None;
    for _ in 0..starts {
        let mut sides = grow(graph, target, rng, budget);
        let quality = refine(graph, &mut sides, target, limits(graph), budget);
        if best.as_ref().is_none_or(|(than, _)| quality < *than) {
            best = Some((quality, sides));
        }
    }
    best.map(|(_, sides)| sides).unwrap_or_default()
}

/// Grows side 0 from a random vertex, always adding the vertex that increases the cut least; occasionally any vertex,
/// since refinement finds some good cuts only from there.
fn grow(graph: &Csr, target: i64, rng: &mut Rng, budget: &mut Budget) -> Vec<u8> {
    budget.spend(graph.sweep());
    let mut sides = vec![1; graph.vertices()];
    let mut queue = Queue::new(graph.vertices());
    let mut gains: Vec<i64> = (0..graph.vertices())
        .map(|vertex| -graph.edges(vertex).map(|(_, weight)| weight).sum::<i64>())
        .collect();
    let mut seeds: Vec<u32> = (0..graph.vertices() as u32).collect();
    rng.shuffle(&mut seeds);
    let scattered = rng.below(8) == 0;
    let mut size = 0;
    while size < target {
        let vertex = match queue.first() {
            Some((_, vertex)) => vertex,
            None => match seeds.pop() {
                Some(seed) => seed as usize,
                None => break,
            },
        };
        queue.remove(vertex);
        if sides[vertex] == 0 {
            continue;
        }
        // A large vertex may increase the error; a smaller one may follow.
        if size + graph.size(vertex) - target > target - size {
            continue;
        }
        sides[vertex] = 0;
        size += graph.size(vertex);
        for (to, weight) in graph.edges(vertex) {
            gains[to] += 2 * weight;
            if sides[to] == 1 && !scattered {
                queue.set(to, gains[to]);
            }
        }
    }
    sides
}
