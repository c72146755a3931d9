//! Parts of a grid, of any shape, divided on.

use std::collections::HashMap;

use super::{Fill, Goal, LARGE, Shape, bisect, bound, brick, construct, map, strips};
use crate::mapping::cost::{Adjacency, Objective};
use crate::mapping::csr::Csr;
use crate::mapping::lattice::Lattice;
use crate::mapping::levels::{Divide, Found, Key, Parts, Tree, multisect};
use crate::mapping::refine::{Budget, Partition, anneal, swap_pairs};

/// A grid whose cells are divided again and again.
pub(in crate::mapping) struct Regions<'a> {
    lattice: &'a Lattice,
    /// The same with edges as they are.
    directed: &'a Lattice,
    /// Whether the whole grid is divided by a construction as it is: where its parts are boxes, they are
    /// divided better than what searching makes of them.
    plain: bool,
    /// Boxes that were divided before.
    known: HashMap<BoxShape, Vec<u32>>,
}

/// The sides of a box, which of them are rings, and its parts with their sizes.
type BoxShape = (Vec<(u32, bool)>, Parts, Vec<usize>);

/// Bricks of fewer cells are no smaller problem than the cells are.
const SMALLEST_BRICK: u32 = 8;

/// So many answers are kept.
const MOST_KNOWN: usize = 64;

impl<'a> Regions<'a> {
    /// All of a grid; the lattice is symmetric, and `directed` has its edges as they are.
    pub(in crate::mapping) fn new(
        lattice: &'a Lattice,
        directed: &'a Lattice,
        plain: bool,
    ) -> Self {
        Self { lattice, directed, plain, known: HashMap::new() }
    }
}

impl Divide for Regions<'_> {
    fn divide(
        &mut self,
        cells: &[u32],
        (parts, sizes): (Parts, &[usize]),
        budget: &mut Budget,
    ) -> Vec<u32> {
        let counts: Vec<u32> = sizes.iter().map(|size| *size as u32).collect();
        if cells.len() == self.lattice.vertices() {
            if self.plain && !self.lattice.axes().is_empty() {
                let best = construct(self.lattice, &counts, Objective::Sum, |_| false, budget);
                return best.into_iter().next().expect("one at least").node_of;
            }
            return whole(self.lattice, parts, &counts, budget);
        }
        let (part, numbers) = self.lattice.around(cells);
        if part.vertices() == cells.len() {
            let sides = part.axes().iter().map(|axis| (axis.size, axis.periodic)).collect();
            let question = (sides, parts, sizes.to_vec());
            if let Some(answer) = self.known.get(&question) {
                return answer.clone();
            }
            let answer = whole(&part, parts, &counts, budget);
            if self.known.len() < MOST_KNOWN {
                self.known.insert(question, answer.clone());
            }
            return answer;
        }
        irregular(&part, &numbers, &counts, budget)
    }

    fn place_known(&mut self, tree: &Tree, takes: &[u32], budget: &mut Budget) -> Option<Found> {
        placed_bricks((self.lattice, self.directed), tree, takes, budget)
    }
}

/// The node of each cell where bricks that all nodes can be put together from tile the grid: each node gets whole
/// ones. They are a grid themselves, a smaller one, which is divided among all levels; where nodes take the same, a
/// brick is all of a node, and the levels above alone are left. What a mapping costs can be told from the bricks.
fn placed_bricks(
    (lattice, directed): (&Lattice, &Lattice),
    tree: &Tree,
    takes: &[u32],
    budget: &mut Budget,
) -> Option<Found> {
    let size = takes.iter().fold(0, |common, take| greatest_common_divisor(common, *take));
    if takes.len() < 2 || size < SMALLEST_BRICK {
        return None;
    }
    let mut bricks = brick::bricks(lattice, size);
    if lattice.vertices() > LARGE {
        bricks.truncate(1);
    }
    let takes: Vec<u32> = takes.iter().map(|take| take / size).collect();
    let mut best: Option<(Key, &[u32], Found)> = None;
    for (i, sides) in bricks.iter().enumerate() {
        let mut share = budget.split((bricks.len() - i) as i64);
        let (boxes, as_they_are) = (lattice.of_boxes(sides), directed.of_boxes(sides));
        let mut regions = Regions::new(&boxes, &as_they_are, false);
        let node_of = multisect(boxes.vertices(), tree, &takes, &mut regions, &mut share);
        budget.put_back(share);
        let found = Found::new(tree, &as_they_are, node_of, "bricks");
        let key = tree.key_of(&found.costs, Objective::Sum);
        if best.as_ref().is_none_or(|(least, ..)| key < *least) {
            best = Some((key, sides, found));
        }
    }
    best.map(|(_, sides, found)| {
        let node_of = brick::fill(lattice, sides, &found.node_of);
        Found { node_of, ..found }
    })
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The part of each cell of a box.
fn whole(lattice: &Lattice, parts: Parts, sizes: &[u32], budget: &mut Budget) -> Vec<u32> {
    let bound = match lattice.vertices() {
        0..=MOST_BOUNDED => {
            let sizes: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
            bound::lower_bound(lattice, &sizes)
        }
        _ => 0,
    };
    let goal = Goal { objective: Objective::Sum, bound, even: parts == Parts::Nodes };
    match map(lattice, sizes, goal, budget) {
        Some(found) => found.node_of,
        None => in_order(sizes),
    }
}

/// Of more cells no bound is worked out, which takes longer than it saves.
const MOST_BOUNDED: usize = 1 << 20;

/// Cells in the order of their numbers.
fn in_order(sizes: &[u32]) -> Vec<u32> {
    let parts = (0u32..).zip(sizes);
    parts.flat_map(|(part, size)| std::iter::repeat_n(part, *size as usize)).collect()
}

/// The part of each of the cells of a box with these numbers, which are not all of it.
fn irregular(lattice: &Lattice, cells: &[u32], sizes: &[u32], budget: &mut Budget) -> Vec<u32> {
    /// Annealing pays only with so many steps for each cell.
    const ANNEALING_STEPS: i64 = 300;
    /// How many cuts along strips are tried.
    const STRIPS: usize = 6;
    let graph = Csr::of_most(lattice, cells);
    let sequence: Vec<u32> = (0..sizes.len() as u32).collect();
    let mean = (cells.len() / sizes.len()).max(1) as u32;
    budget.spend(cells.len() * (2 + lattice.degree()));
    let cuts = [bisect::Cut::Half, bisect::Cut::HalfLast].map(Shape::Bisection).into_iter();
    let walks = strips::strips(lattice, mean).into_iter().take(STRIPS).map(Shape::Strips);
    let mut best: Option<(i64, Vec<u32>)> = None;
    for (i, shape) in cuts.chain([Shape::Tree]).chain(walks).enumerate() {
        if i > 1 && budget.left() < (8 * (lattice.vertices() + graph.len())) as i64 {
            break;
        }
        let part = shape.build_some(lattice, cells, sizes, &sequence);
        budget.spend(4 * lattice.vertices() + graph.len());
        let cost = graph.cost(&part).inter_node_edges;
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, part));
        }
    }
    let (_, part) = best.expect("one at least");
    let mut partition = Partition::new(&graph, part, sizes.len());
    let mut share = budget.split(2);
    swap_pairs(&mut partition, Objective::Sum, &mut share);
    budget.put_back(share);
    if budget.left() >= ANNEALING_STEPS * cells.len() as i64 {
        let mut share = budget.split(8);
        anneal(&mut partition, Objective::Sum, budget);
        swap_pairs(&mut partition, Objective::Sum, &mut share);
        budget.put_back(share);
    }
    partition.into_node_of()
}

impl Shape {
    /// The part of each of some of the cells, which are given in ascending order.
    fn build_some(
        &self,
        lattice: &Lattice,
        cells: &[u32],
        sizes: &[u32],
        sequence: &[u32],
    ) -> Vec<u32> {
        let all = lattice.vertices();
        let part_of = match self {
            Self::Bisection(cut) => {
                bisect::bisect_some(lattice, cells.to_vec(), sizes, sequence, *cut)
            }
            Self::Brick(sides) => brick::fill(lattice, sides, sequence),
            Self::Strips(_) | Self::Tree => {
                let mut wanted = vec![false; all];
                cells.iter().for_each(|cell| wanted[*cell as usize] = true);
                let mut fill = Fill { sizes, sequence, left: 0, node_of: vec![0; all] };
                let put = |cell: u32| {
                    if wanted[cell as usize] {
                        fill.put(cell);
                    }
                };
                match self {
                    Self::Strips(strips) => strips.walk(lattice, put),
                    _ => bisect::tree_order(lattice).into_iter().for_each(put),
                }
                fill.node_of
            }
        };
        cells.iter().map(|cell| part_of[*cell as usize]).collect()
    }
}
