//! Simulated annealing by moves of single vertices.
//!
//! Meanwhile, nodes may have a few vertices too many or too few, at a price: a missing vertex then wanders from node to
//! node until it fits, which exchanges of two vertices do not find. Only states with exact sizes count.

use super::partition::Partition;
use super::settle::settle;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::{Adjacency, Cost};
use crate::mapping::model::csr::Csr;
use crate::mapping::model::objective::Goal;
use crate::mapping::search::rng::Rng;

/// The temperatures at the start and at the end, in edges of average weight.
const WARM: f64 = 0.6;
const COLD: f64 = 0.12;

/// The cost of one vertex too many or too few at the start and at the end, in edges of average weight; it grows with
/// the square of the number.
const LENIENT: f64 = 0.3;
const STRICT: f64 = 1.4;

/// A state with at most this number of vertices too many or too few is repaired, to evaluate it.
const REPAIRED: u32 = 16;

/// The number of temperatures: a power of two.
const LEVELS: i64 = 64;

/// The steps for each examined vertex, in addition to its edges.
const STEPS: usize = 6;

/// Moves vertices at random, accepting ever fewer worse moves, for a quarter of the budget. Leaves the best state
/// found, or the initial one.
pub(in crate::mapping) fn anneal(
    partition: &mut Partition<'_, Csr>,
    goal: Goal,
    budget: &mut Budget,
) {
    let graph = partition.graph;
    let weights: i64 = (0..graph.vertices()).flat_map(|v| graph.edges(v)).map(|(_, w)| w).sum();
    if partition.nodes() < 2 || weights <= 0 {
        return;
    }
    let mut share = budget.split(4);
    let mut state = State::new(partition, weights as f64 / graph.len() as f64, goal);
    let before = state.best;
    state.cool(graph, &mut Rng::new(1), &mut share);
    budget.put_back(share);
    if state.best < before {
        *partition = Partition::new(graph, state.kept, partition.nodes());
    }
}

/// The factor between two values in one step of several levels.
fn factor(from: f64, to: f64) -> f64 {
    (0..LEVELS.ilog2()).fold(to / from, |ratio, _| ratio.sqrt())
}

struct State {
    node_of: Vec<u32>,
    leaving: Vec<i64>,
    /// The number of excess vertices of each node.
    excess: Vec<i32>,
    /// The cost of a vertex too many or too few.
    size: f64,
    /// The number of excess and missing vertices in total.
    wrong: u32,
    sum: i64,
    /// The weight of an average edge, at both of its ends.
    edge: f64,
    goal: Goal,
    best: (i64, (i64, i64)),
    kept: Vec<u32>,
}

impl State {
    fn new<A: Adjacency>(partition: &Partition<'_, A>, weight: f64, goal: Goal) -> Self {
        let nodes = partition.nodes();
        let cost = partition.cost();
        let node_of = partition.node_of();
        let mut state = Self {
            node_of: node_of.to_vec(),
            leaving: (0..nodes).map(|node| partition.leaving(node as u32)).collect(),
            excess: vec![0; nodes],
            size: LENIENT * 2.0 * weight,
            wrong: 0,
            sum: cost.inter_node_edges,
            edge: 2.0 * weight,
            goal,
            best: (0, (0, 0)),
            kept: node_of.to_vec(),
        };
        state.best = state.key();
        state
    }

    /// The key by which states are compared.
    fn key(&self) -> (i64, (i64, i64)) {
        let max_node_edges = self.leaving.iter().copied().max().unwrap_or(0);
        self.goal.key(Cost { inter_node_edges: self.sum, max_node_edges })
    }

    /// Lowers the temperature and raises the price until the budget is spent.
    fn cool(&mut self, graph: &Csr, random: &mut Rng, budget: &mut Budget) {
        let mut temperature = WARM * self.edge;
        let (colder, stricter) = (factor(WARM, COLD), factor(LENIENT, STRICT));
        let total = budget.left();
        for level in 1..=LEVELS {
            let until = total - total / LEVELS * level;
            while budget.left() > until {
                budget.spend(self.step(graph, temperature, random));
            }
            temperature *= colder;
            self.size *= stricter;
            let repair = 8 * graph.len();
            let may_repair = budget.left() >= repair as i64 || level == LEVELS;
            if level % 8 == 0 && may_repair && (1..=REPAIRED).contains(&self.wrong) {
                budget.spend(repair);
                let excess = self.excess.iter().map(|excess| i64::from(*excess)).collect();
                let repaired = settle(graph, self.node_of.clone(), excess, &mut Budget::default());
                let key = self.goal.key(graph.cost(&repaired));
                if key < self.best {
                    (self.best, self.kept) = (key, repaired);
                }
            }
        }
    }

    /// The changes in the edges that leave a vertex's own node and another one, if the vertex moves there.
    fn changes(&self, graph: &Csr, vertex: usize, to: u32) -> (i64, i64) {
        let from = self.node_of[vertex];
        let (mut own, mut other, mut all) = (0, 0, 0);
        for (target, weight) in graph.row(vertex) {
            let node = self.node_of[*target as usize];
            all += weight;
            own += if node == from { *weight } else { 0 };
            other += if node == to { *weight } else { 0 };
        }
        (2 * own - all, all - 2 * other)
    }

    /// Examines one vertex, and perhaps moves it to the node of a neighbor. Returns the number of steps.
    fn step(&mut self, graph: &Csr, temperature: f64, random: &mut Rng) -> usize {
        // The upper half of one number chooses the vertex, and the lower half the neighbor.
        let bits = random.next();
        let (upper, lower) = (bits >> 32, bits & 0xffff_ffff);
        let u = ((upper * self.node_of.len() as u64) >> 32) as usize;
        let row = graph.row(u);
        if row.is_empty() || u == 0 {
            return STEPS;
        }
        let (neighbor, _) = row[((lower * row.len() as u64) >> 32) as usize];
        let (a, b) = (self.node_of[u] as usize, self.node_of[neighbor as usize] as usize);
        if a == b {
            return STEPS;
        }
        let (da, db) = self.changes(graph, u, b as u32);
        // The squares of the excess: (x - 1)^2 - x^2 and (y + 1)^2 - y^2.
        let sizes = 2 * (1 + self.excess[b] - self.excess[a]);
        let excess = |node: usize, change: i64| {
            let leaving = self.leaving[node];
            self.goal.excess(leaving + change) - self.goal.excess(leaving)
        };
        let change =
            (da + db + excess(a, da) + excess(b, db)) as f64 + self.size * f64::from(sizes);
        if change <= temperature * random.exponential() {
            self.apply(u, b, (da, db));
        }
        STEPS + row.len()
    }

    /// Moves a vertex to node `b`.
    fn apply(&mut self, vertex: usize, b: usize, (da, db): (i64, i64)) {
        let a = self.node_of[vertex] as usize;
        self.node_of[vertex] = b as u32;
        self.leaving[a] += da;
        self.leaving[b] += db;
        self.sum += da + db;
        self.wrong -= self.excess[a].unsigned_abs() + self.excess[b].unsigned_abs();
        self.excess[a] -= 1;
        self.excess[b] += 1;
        self.wrong += self.excess[a].unsigned_abs() + self.excess[b].unsigned_abs();
        if self.wrong == 0 {
            self.keep();
        }
    }

    /// Keeps the state if it is the best so far.
    fn keep(&mut self) {
        let (excess, (least, _)) = self.best;
        if excess == 0 && !self.goal.objective.rules().busiest_first && self.sum > least {
            return;
        }
        let key = self.key();
        if key < self.best {
            self.best = key;
            self.kept.copy_from_slice(&self.node_of);
        }
    }
}
