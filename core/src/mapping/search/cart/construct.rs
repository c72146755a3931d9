//! The best of several constructions of a grid's mapping, made better by exchanges.

use super::bisect::bisect;
use super::brick;
use super::strips::{self, Strips};
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::{Adjacency, Cost};
use crate::mapping::model::lattice::Lattice;
use crate::mapping::model::objective::Goal;
use crate::mapping::search::graph;
use crate::mapping::search::refine::{LARGE, Partition, swap_pairs};

/// The name of a construction that only exchanges can improve.
const BRICKS: &str = "bricks";

/// A construction.
#[derive(Debug, Clone)]
enum Shape {
    Brick(Vec<u32>),
    Strips(Strips),
    Bisection,
}

impl Shape {
    fn name(&self) -> &'static str {
        match self {
            Self::Brick(_) => BRICKS,
            Self::Strips(_) => "strips",
            Self::Bisection => "bisection",
        }
    }

    /// The node of each cell, one of those in `sequence`.
    fn build(&self, lattice: &Lattice, sizes: &[u32], sequence: &[u32]) -> Vec<u32> {
        match self {
            Self::Brick(sides) => brick::fill(lattice, sides, sequence),
            Self::Strips(strips) => strips.fill(lattice, sizes, sequence),
            Self::Bisection => {
                let cells = (0..lattice.vertices() as u32).collect();
                bisect(lattice, cells, sizes, sequence)
            }
        }
    }
}

/// A mapping to nodes, to compare with others.
pub(super) struct Candidate {
    /// The node of each cell.
    pub(super) node_of: Vec<u32>,
    /// The cost; edges of both directions count.
    cost: Cost,
    /// The construction that found it.
    pub(super) algorithm: &'static str,
}

impl Candidate {
    fn new(lattice: &Lattice, node_of: Vec<u32>, algorithm: &'static str) -> Self {
        Self { cost: lattice.cost(&node_of), node_of, algorithm }
    }

    /// The better one of two.
    fn or(self, other: Self, goal: Goal) -> Self {
        if goal.key(other.cost) < goal.key(self.cost) { other } else { self }
    }

    /// The mapping whose busiest node has fewer edges, unless its total exceeds the other's by more than [`SPARING`].
    fn or_sparing(self, other: Self, goal: Goal) -> Self {
        let least = self.cost.inter_node_edges.min(other.cost.inter_node_edges);
        let key = |Cost { inter_node_edges: sum, max_node_edges: most }| {
            let is_near = SPARING.1 * sum <= SPARING.0 * least;
            (goal.excess(most), !is_near, most, sum)
        };
        if key(other.cost) < key(self.cost) { other } else { self }
    }
}

/// Constructions may take this fraction of the budget: one divided by this number.
const CONSTRUCTIONS: i64 = 3;

/// Below this many steps per cell, no construction is attempted.
const LEAST: i64 = 4;

/// Below this many steps per cell, one construction is made whatever it costs, otherwise four.
const FEW: i64 = 15;

/// The total may be larger by this factor if the busiest node has fewer edges, since that determines the time of an
/// exchange.
const SPARING: (i64, i64) = (101, 100);

/// From this many steps per cell on, a third more are used for the busiest node.
const SPARING_STEPS: i64 = 600;

/// The fraction, one divided by this number, by which the busiest node's edges should decrease. With a decrease of one
/// edge, J_max would be worse than the best published one on 9 of 120 grids instead of 4.
const FEWER: i64 = 32;

/// The number of cuts along strips that are built: their costs are approximately known before.
const STRIPS: usize = 6;

/// Maps the cells of a grid to nodes of exactly these sizes, none of which is 0 and whose sum is the number of cells.
/// The lattice is symmetric; the goal counts every edge from both of its ends, and so does the bound, at which the
/// search ends, unless the objective is the maximum; except on large grids, it ends only if no node has more than its
/// share, since an exchange takes as long as on the busiest.
pub(super) fn map(
    lattice: &Lattice,
    sizes: &[u32],
    (goal, bound): (Goal, i64),
    budget: &mut Budget,
) -> Option<Candidate> {
    let cells = lattice.vertices() as i64;
    if lattice.axes().is_empty() || sizes.len() < 2 || budget.left() < LEAST * cells {
        return None;
    }
    let nodes = sizes.len() as i64;
    let is_least = |Cost { inter_node_edges: sum, max_node_edges: most }| {
        !goal.objective.rules().busiest_first && sum <= bound && goal.excess(most) == 0
    };
    let done = |found: &Candidate| {
        let Cost { inter_node_edges: sum, max_node_edges: most } = found.cost;
        // Keys count every edge from both of its ends: twice.
        let is_even = most * nodes < sum + 2 * nodes;
        is_least(found.cost) && (is_even || lattice.vertices() > LARGE)
    };
    let best = construct(lattice, sizes, goal, done, budget);
    if done(&best) {
        return Some(best);
    }
    // Of 74 grids that bricks tile, none was improved except by exchanges.
    if best.algorithm == BRICKS || is_least(best.cost) {
        let mut partition = Partition::new(lattice, best.node_of.clone(), sizes.len());
        swap_pairs(&mut partition, goal, budget);
        let better = Candidate::new(lattice, partition.into_node_of(), best.algorithm);
        return Some(best.or(better, goal));
    }
    let improve = |from: &Candidate, goal: Goal, budget: &mut Budget| {
        let node_of = graph::improve(lattice, from.node_of.clone(), sizes.len(), goal, budget);
        Candidate::new(lattice, node_of, from.algorithm)
    };
    // With levels above the nodes, nodes have no limit: links count.
    let has_limit = goal.objective.rules().by_time && goal.most < i64::MAX;
    let spares = has_limit && budget.left() >= SPARING_STEPS * cells;
    let mut more = { *budget }.split(3);
    let better = improve(&best, goal, budget);
    let best = best.or(better, goal);
    if !spares {
        return Some(best);
    }
    let most = best.cost.max_node_edges;
    let fewer = Goal { most: goal.most.min(most - most / FEWER - 1), ..goal };
    let sparing = improve(&best, fewer, &mut more);
    Some(best.or_sparing(sparing, goal))
}

/// The best construction; none is tried after one for which `done` is true.
fn construct(
    lattice: &Lattice,
    sizes: &[u32],
    goal: Goal,
    done: impl Fn(&Candidate) -> bool,
    budget: &mut Budget,
) -> Candidate {
    let cells = lattice.vertices();
    let mut first: usize = if budget.left() < FEW * cells as i64 { 1 } else { 4 };
    let mut allowed = budget.split(CONSTRUCTIONS);
    let mut best: Option<Candidate> = None;
    let mut build = |shape: Shape, sequence: &[u32]| {
        if best.as_ref().is_some_and(&done) || first == 0 && allowed.is_spent() {
            return true;
        }
        first = first.saturating_sub(1);
        let work = match shape {
            Shape::Bisection => 4 * sizes.len().ilog2() as usize + lattice.degree(),
            _ => 4 + lattice.degree(),
        };
        allowed.spend(cells * work);
        let node_of = shape.build(lattice, sizes, sequence);
        let built = Candidate::new(lattice, node_of, shape.name());
        let better = match best.take() {
            Some(best) => best.or(built, goal),
            None => built,
        };
        done(best.insert(better))
    };
    let sequences = sequences(sizes, cells);
    let is_even = sizes.iter().all(|size| *size == sizes[0]);
    let bricks = if is_even { brick::bricks(lattice, sizes[0]) } else { Vec::new() };
    let is_done = bricks.into_iter().any(|brick| build(Shape::Brick(brick), &sequences[0]));
    if !is_done {
        let mut strips = strips_by_cost(lattice, sizes, &sequences, budget).into_iter();
        let mut shapes: Vec<_> = strips.by_ref().take(2).collect();
        shapes.extend(sequences.iter().map(|sequence| (Shape::Bisection, sequence)));
        shapes.extend(strips.take(STRIPS - 2));
        shapes.into_iter().any(|(shape, sequence)| build(shape, sequence));
    }
    budget.put_back(allowed);
    best.expect("one shape at least")
}

/// The orders in which nodes are filled: as they are and, if sizes differ, by size, with node 0 and similar ones first.
fn sequences(sizes: &[u32], cells: usize) -> Vec<Vec<u32>> {
    let by_id: Vec<u32> = (0..sizes.len() as u32).collect();
    let mut by_size = by_id.clone();
    let is_small = (sizes[0] as usize * sizes.len()) < cells;
    by_size[1..].sort_by_key(|node| {
        let size = i64::from(sizes[*node as usize]);
        if is_small { size } else { -size }
    });
    if by_id == by_size { vec![by_id] } else { vec![by_id, by_size] }
}

/// The strips for all sequences, cheapest first. Among equal costs, the first has nodes in their order, which suits levels
/// of neighboring nodes.
fn strips_by_cost<'a>(
    lattice: &Lattice,
    sizes: &[u32],
    sequences: &'a [Vec<u32>],
    budget: &mut Budget,
) -> Vec<(Shape, &'a Vec<u32>)> {
    let mut all: Vec<(i64, Strips, &Vec<u32>)> = Vec::new();
    for (i, sequence) in sequences.iter().enumerate() {
        let in_order: Vec<u32> = sequence.iter().map(|node| sizes[*node as usize]).collect();
        let mut share = budget.split((sequences.len() - i) as i64);
        let found = strips::strips(lattice, &in_order, &mut share).into_iter();
        budget.put_back(share);
        all.extend(found.map(|(cost, strips)| (cost, strips, sequence)));
    }
    all.sort_by_key(|(cost, ..)| *cost);
    all.into_iter().map(|(_, strips, sequence)| (Shape::Strips(strips), sequence)).collect()
}
