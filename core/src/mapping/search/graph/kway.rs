//! Many parts at once: a graph that is too large for bisections is coarsened until it is not, and improved by moves
//! among all parts while uncoarsening. The time is linear in the size of the graph.

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

/// A graph with so few vertices a part is not coarsened.
pub(super) const PER_PART: usize = 16;

/// The most cuts of the smallest graph of each bisection where the budget does not allow all bisections of the graph
/// as it is:
/// moves mend more in that time.
const STARTS: usize = 3;

/// With fewer steps than this for each vertex and each end of an edge there are only bisections, if any.
const LEAST: usize = 24;

/// The budget with which all bisections end, also those that take 13 sweeps, over the steps that they are counted with.
/// What is left when it ends is divided by an order, which is far worse than coarsening.
const ROOM: f64 = 1.4;

/// The tolerance of part sizes before the end: the size divided by this number. With half as much, 64x64x64 vertices on 4,096
/// nodes have 1.6 % more edges between nodes; with much more, sizes are made exact at a higher cost.
const SLACK: i64 = 10;

/// The number of moves in a row without a gain that ends a search around one vertex. With more, or around vertices
/// whose own move loses, vertices are used up that others' searches need: 262,144 triangles on 4,096 nodes have 0.8 %
/// more edges.
const PATIENCE: usize = 4;

/// The most repetitions of the searches around all vertices at a border.
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
    // If moves find nothing, the random numbers after them are the same as without them.
    let rng = &mut rng.clone();
    let is_whole = levels.is_empty();
    while let Some(level) = levels.pop() {
        let mut moves = Moves::new(&level.graph, part, sizes);
        moves.improve(rng, budget);
        let coarse = moves.part;
        part = level.coarse_of.iter().map(|vertex| coarse[*vertex as usize]).collect();
    }
    // A graph that was not coarsened has its sizes already.
    let exact = is_whole.then(|| part.clone());
    let mut moves = Moves::new(graph, part, sizes);
    moves.improve(rng, budget);
    let settled = settle(graph, moves.part, moves.excess, budget);
    exact.filter(|exact| graph.cut(exact) <= graph.cut(&settled)).unwrap_or(settled)
}

/// Parts that change by moves of single vertices.
struct Moves<'a> {
    graph: &'a Csr,
    part: Vec<u32>,
    /// The excess size of each part.
    excess: Vec<i64>,
    /// The tolerance of its size meanwhile.
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

    /// The part that it pays most to move a vertex to, and what that takes off the cut; of equal ones the smallest.
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

    /// Searches around every vertex at a border whose move loses nothing, each time keeping what was best.
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

    /// Moves a vertex and what is around it, as long as that may gain, and takes back what did not. What it gained.
    fn search(&mut self, seed: usize, budget: &mut Budget) -> i64 {
        let Some((gain, _)) = self.best(seed).filter(|(gain, _)| *gain >= 0) else { return 0 };
        self.queue.set(seed, gain);
        let mut moves: Vec<(u32, u32)> = Vec::new();
        let (mut steps, mut sum, mut best, mut kept) = (0, 0, 0, 0);
        while let Some((gain, vertex)) = self.queue.first() {
            self.queue.remove(vertex);
            steps += self.graph.edges(vertex).len() + 4;
            let Some((now, to)) = self.best(vertex) else { continue };
            // Sizes have changed since it came.
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
