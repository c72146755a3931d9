//! Parts of a grid, of any shape, that are divided further.

use std::collections::HashMap;

use super::bisect::bisect;
use super::bound;
use super::construct::map;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;
use crate::mapping::model::lattice::Lattice;
use crate::mapping::model::objective::{Goal, Objective};
use crate::mapping::search::graph::improve;
use crate::mapping::search::subject::Divide;

/// A grid whose cells are divided repeatedly.
pub(in crate::mapping) struct GridDivider<'a> {
    lattice: &'a Lattice,
    /// Boxes that were divided before.
    known: HashMap<BoxShape, Vec<u32>>,
}

/// The sides of a box, which of them are rings, and the sizes of its parts.
type BoxShape = (Vec<(u32, bool)>, Vec<usize>);

/// The most results that are cached.
const MOST_KNOWN: usize = 64;

impl<'a> GridDivider<'a> {
    /// All of a grid; the lattice is symmetric.
    pub(super) fn new(lattice: &'a Lattice) -> Self {
        Self { lattice, known: HashMap::new() }
    }
}

impl Divide for GridDivider<'_> {
    fn map(
        &mut self,
        sizes: &[usize],
        goal: Goal,
        bound: i64,
        budget: &mut Budget,
    ) -> Vec<(Vec<u32>, &'static str)> {
        let counts: Vec<u32> = sizes.iter().map(|size| *size as u32).collect();
        let found = map(self.lattice, &counts, (goal, bound), budget);
        found.into_iter().map(|found| (found.node_of, found.algorithm)).collect()
    }

    fn divide(&mut self, cells: &[u32], sizes: &[usize], budget: &mut Budget) -> Vec<u32> {
        let counts: Vec<u32> = sizes.iter().map(|size| *size as u32).collect();
        if cells.len() == self.lattice.vertices() {
            return divide_box(self.lattice, &counts, budget);
        }
        let (part, numbers) = self.lattice.around(cells);
        if part.vertices() == cells.len() {
            let sides = part.axes().iter().map(|axis| (axis.size, axis.periodic)).collect();
            let question = (sides, sizes.to_vec());
            if let Some(answer) = self.known.get(&question) {
                return answer.clone();
            }
            let answer = divide_box(&part, &counts, budget);
            if self.known.len() < MOST_KNOWN {
                self.known.insert(question, answer.clone());
            }
            return answer;
        }
        divide_irregular(&part, &numbers, &counts, budget)
    }
}

/// The part of each cell of a box.
fn divide_box(lattice: &Lattice, sizes: &[u32], budget: &mut Budget) -> Vec<u32> {
    let bound = match lattice.vertices() {
        0..=MOST_BOUNDED => {
            let sizes: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
            bound::lower_bound(lattice, &sizes)
        }
        _ => 0,
    };
    match map(lattice, sizes, (Objective::Sum.into(), bound), budget) {
        Some(found) => found.node_of,
        None => in_order(sizes),
    }
}

/// For more cells, computing a bound takes longer than it saves.
const MOST_BOUNDED: usize = 1 << 20;

/// Cells in numerical order.
fn in_order(sizes: &[u32]) -> Vec<u32> {
    let parts = (0u32..).zip(sizes);
    parts.flat_map(|(part, size)| std::iter::repeat_n(part, *size as usize)).collect()
}

/// The part of each of some cells of a box with these numbers.
fn divide_irregular(
    lattice: &Lattice,
    cells: &[u32],
    sizes: &[u32],
    budget: &mut Budget,
) -> Vec<u32> {
    let graph = Csr::induced(lattice, cells, &mut vec![u32::MAX; lattice.vertices()]);
    let sequence: Vec<u32> = (0..sizes.len() as u32).collect();
    budget.spend(cells.len() * (2 + lattice.degree()) + 4 * lattice.vertices());
    let part_of = bisect(lattice, cells.to_vec(), sizes, &sequence);
    let part = cells.iter().map(|cell| part_of[*cell as usize]).collect();
    improve(&graph, part, sizes.len(), Objective::Sum.into(), budget)
}
