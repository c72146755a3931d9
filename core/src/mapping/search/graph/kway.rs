//! Many parts at once: a graph that is too large for bisections is coarsened until it is not, and improved by moves
//! among all parts during uncoarsening. The time is linear in the size of the graph.

use std::cmp::Reverse;

use super::bisect::Bisections;
use super::coarsen::levels;
use super::partition::{partition, steps};
use super::queue::Queue;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;
use crate::mapping::search::refine::{Gains, settle};
use crate::mapping::search::rng::Rng;

/// A graph with at most this number of vertices per part is not coarsened.
pub(super) const PER_PART: usize = 16;

/// The most cuts of the smallest graph of each bisection if the budget does not allow all bisections of the original
/// graph: moves gain more in that time.
const STARTS: usize = 3;

/// With fewer steps than this per vertex and per end of an edge, only bisections are made, if any.
const LEAST: usize = 24;

/// The budget with which all bisections finish, even those that take 13 sweeps, relative to the assumed steps. Parts
/// that are left when the budget ends are filled in one order, which is far worse than coarsening.
const ROOM: f64 = 1.4;

/// The intermediate tolerance of part sizes: the size divided by this number. With half the tolerance, 64x64x64
/// vertices on 4,096 nodes have 1.6 % more edges between nodes; with much more, making sizes exact costs more.
const SLACK: i64 = 10;

/// After this number of moves in a row without a gain, a search around one vertex ends. With more, or around vertices
/// whose own move loses, searches use up vertices that others need: 262,144 triangles on 4,096 nodes have 0.8 % more
/// edges.
const PATIENCE: usize = 4;

/// The most repetitions of the searches around all border vertices.
const ROUNDS: usize = 3;

/// The part of each vertex; part `i` has `sizes[i]` vertices, which are all of size 1.
pub(super) fn divide(
    graph: &Csr,
    sizes: &[usize],
    how: Bisections,
    rng: &mut Rng,
    budget: &mut Budget,
) -> Vec<u32> {
    let most = 2 * (graph.vertices() / (sizes.len() * PER_PART)).max(1) as i64;
    if budget.left() < (LEAST * graph.extent()) as i64 {
        return partition(graph, sizes, how, rng, budget);
    }
    let fits = |graph: &Csr, budget: &Budget| {
        ROOM * steps(graph, sizes.len()) as f64 <= budget.left() as f64
    };
    let random = (!how.in_order).then_some(&mut *rng);
    let mut levels = levels(graph, most, random, budget, |graph, budget| {
        graph.vertices() <= PER_PART * sizes.len() || fits(graph, budget)
    });
    let smallest = levels.last().map_or(graph, |level| &level.graph);
    let has_room = levels.is_empty() && fits(graph, budget);
    let starts = if has_room { how.starts } else { STARTS.min(how.starts) };
    let mut part = partition(smallest, sizes, Bisections { starts, ..how }, rng, budget);
    // If moves find nothing, the subsequent random numbers are the same as without them.
    let rng = &mut rng.clone();
    let is_whole = levels.is_empty();
    while let Some(level) = levels.pop() {
        let mut moves = Moves::new(&level.graph, part, sizes);
        moves.improve(rng, budget);
        let coarse = moves.part;
        part = level.coarse_of.iter().map(|vertex| coarse[*vertex as usize]).collect();
    }
    // A graph that was not coarsened already has exact sizes.
    let exact = is_whole.then(|| part.clone());
    let mut moves = Moves::new(graph, part, sizes);
    moves.improve(rng, budget);
    let settled = settle(graph, moves.part, moves.excess, budget);
    exact.filter(|exact| graph.cut(exact) <= graph.cut(&settled)).unwrap_or(settled)
}

/// Parts that are changed by moves of single vertices.
struct Moves<'a> {
    graph: &'a Csr,
    part: Vec<u32>,
    /// The excess size of each part.
    excess: Vec<i64>,
    /// The intermediate tolerance of its size.
    slack: i64,
    queue: Queue,
    /// Vertices that have moved in this round.
    moved: Vec<bool>,
    gains: Gains,
}

impl<'a> Moves<'a> {
    fn new(graph: &'a Csr, part: Vec<u32>, sizes: &[usize]) -> Self {
        let mut excess: Vec<i64> = sizes.iter().map(|size| -(*size as i64)).collect();
        part.iter().enumerate().for_each(|(v, part)| excess[*part as usize] += graph.size(v));
        Self {
            graph,
            part,
            excess,
            slack: graph.largest_size().max(graph.total_size() / sizes.len() as i64 / SLACK),
            queue: Queue::new(graph.vertices()),
            moved: vec![false; graph.vertices()],
            gains: Gains::new(sizes.len()),
        }
    }

    /// The best part to move a vertex to, and the decrease of the cut; among equal ones, the smallest.
    fn best(&mut self, vertex: usize) -> Option<(i64, u32)> {
        let (own, size, slack) = (self.part[vertex] as usize, self.graph.size(vertex), self.slack);
        if self.excess[own] - size < -slack {
            return None;
        }
        let excess = |part: &u32| self.excess[*part as usize];
        let gains = self.gains.of(self.graph, &self.part, vertex);
        let choices = gains.filter(|(part, _)| excess(part) + size <= slack);
        let best = choices.max_by_key(|(part, gain)| (*gain, Reverse(excess(part)), *part));
        best.map(|(part, gain)| (gain, part))
    }

    fn apply(&mut self, vertex: usize, to: u32) {
        let size = self.graph.size(vertex);
        self.excess[self.part[vertex] as usize] -= size;
        self.excess[to as usize] += size;
        self.part[vertex] = to;
    }

    /// Searches around every border vertex whose move loses nothing, each time keeping the best state.
    fn improve(&mut self, rng: &mut Rng, budget: &mut Budget) {
        for _ in 0..ROUNDS {
            budget.spend(self.graph.sweep());
            let at_border = |vertex: &u32| {
                let own = self.part[*vertex as usize];
                self.graph.edges(*vertex as usize).any(|(to, _)| self.part[to] != own)
            };
            let mut seeds: Vec<u32> = (0..self.graph.vertices() as u32).filter(at_border).collect();
            rng.shuffle(&mut seeds);
            self.moved.fill(false);
            let mut gained = 0;
            for seed in seeds {
                if budget.is_spent() {
                    return;
                }
                if !self.moved[seed as usize] {
                    gained += self.search(seed as usize, budget);
                }
            }
            if gained == 0 {
                return;
            }
        }
    }

    /// Moves a vertex and those around it, as long as that may gain, and undoes moves without a gain. Returns the gain.
    fn search(&mut self, seed: usize, budget: &mut Budget) -> i64 {
        let Some((gain, _)) = self.best(seed).filter(|(gain, _)| *gain >= 0) else { return 0 };
        self.queue.set(seed, gain);
        let mut moves: Vec<(u32, u32)> = Vec::new();
        let (mut steps, mut sum, mut best, mut kept) = (0, 0, 0, 0);
        while let Some((gain, vertex)) = self.queue.first() {
            self.queue.remove(vertex);
            steps += self.graph.edges(vertex).len() + 4;
            let Some((now, to)) = self.best(vertex) else { continue };
            // Sizes have changed since the vertex was queued.
            if now < gain {
                self.queue.set(vertex, now);
                continue;
            }
            moves.push((vertex as u32, self.part[vertex]));
            self.apply(vertex, to);
            self.moved[vertex] = true;
            sum += now;
            if sum > best {
                (best, kept) = (sum, moves.len());
            }
            if moves.len() - kept > PATIENCE {
                break;
            }
            let graph = self.graph;
            for (other, _) in graph.edges(vertex) {
                if self.moved[other] {
                    continue;
                }
                steps += graph.edges(other).len() + 4;
                match self.best(other) {
                    Some((gain, _)) => self.queue.set(other, gain),
                    None => self.queue.remove(other),
                }
            }
        }
        for (vertex, from) in moves[kept..].iter().rev() {
            self.apply(*vertex as usize, *from);
        }
        self.queue.clear();
        budget.spend(steps);
        best
    }
}
