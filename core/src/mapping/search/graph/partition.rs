//! Many parts: by recursive bisection.

use super::bisect::{Bisections, bisect};
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;
use crate::mapping::model::order::breadth_first;
use crate::mapping::search::rng::Rng;

/// The number of sweeps over its graph that is assumed for a multilevel bisection. Most take fewer, those of grids in
/// three dimensions 13.
const MULTILEVEL: usize = 10;

/// The number of steps for dividing a graph into `parts`.
pub(super) fn steps(graph: &Csr, parts: usize) -> usize {
    MULTILEVEL * parts.next_power_of_two().ilog2() as usize * graph.sweep()
}

/// The part of each vertex. Part `i` has about the size `sizes[i]`, and exactly that if all vertices have the size 1.
/// The sizes add up to that of the graph.
///
/// If the budget does not allow all bisections, the last ones are omitted: the remaining parts are filled in one order.
pub(super) fn partition(
    graph: &Csr,
    sizes: &[usize],
    how: Bisections,
    rng: &mut Rng,
    budget: &mut Budget,
) -> Vec<u32> {
    let all: Vec<u32> = (0..graph.vertices() as u32).collect();
    let mut division = Division { part: vec![0; graph.vertices()], local: Vec::new(), how, rng };
    division.split(graph, &all, sizes, 0, budget);
    division.part
}

/// A recursive bisection of a graph.
struct Division<'a> {
    part: Vec<u32>,
    /// Scratch space: an entry per vertex, all `u32::MAX` between uses.
    local: Vec<u32>,
    how: Bisections,
    rng: &'a mut Rng,
}

impl Division<'_> {
    /// Distributes vertices of the whole graph over the parts from `first` on; `graph` contains only these vertices.
    fn split(
        &mut self,
        graph: &Csr,
        vertices: &[u32],
        sizes: &[usize],
        first: usize,
        budget: &mut Budget,
    ) {
        if sizes.len() < 2 || graph.vertices() == 0 {
            return vertices.iter().for_each(|vertex| self.part[*vertex as usize] = first as u32);
        }
        let (count, target) = half(sizes);
        // A coarse part hardly ever has exactly the required size.
        let all: usize = sizes.iter().sum();
        let target = (target as f64 / all as f64 * graph.total_size() as f64).round() as usize;
        if (budget.left() as usize) < MULTILEVEL * graph.sweep() {
            let order = if (budget.left() as usize) < 2 * graph.sweep() {
                (0..graph.vertices() as u32).collect()
            } else {
                budget.spend(2 * graph.sweep());
                breadth_first(graph)
            };
            return self.fill(graph, &order, vertices, (sizes, first));
        }
        let sides = bisect(graph, target as i64, self.how, self.rng, budget);
        budget.spend(2 * graph.sweep());
        for side in [0, 1] {
            let mine: Vec<u32> = (0..graph.vertices() as u32)
                .filter(|vertex| sides[*vertex as usize] == side)
                .collect();
            let theirs: Vec<u32> = mine.iter().map(|vertex| vertices[*vertex as usize]).collect();
            let (sizes, first) =
                if side == 0 { (&sizes[..count], first) } else { (&sizes[count..], first + count) };
            // Each half has its share of the budget, and the second also gets the rest of the first.
            let whole = if side == 0 { graph.vertices() } else { mine.len() };
            let mut share = budget.portion(mine.len(), whole.max(1));
            let inner = if sizes.len() < 2 {
                Csr::default()
            } else {
                self.local.resize(self.local.len().max(graph.vertices()), u32::MAX);
                Csr::induced(graph, &mine, &mut self.local)
            };
            self.split(&inner, &theirs, sizes, first, &mut share);
            budget.put_back(share);
        }
    }

    /// Fills the parts from `first` on, one after the other, in an order of the graph's vertices.
    fn fill(
        &mut self,
        graph: &Csr,
        order: &[u32],
        vertices: &[u32],
        (sizes, first): (&[usize], usize),
    ) {
        let (mut at, mut room) = (0, sizes[0] as i64);
        for vertex in order {
            while room <= 0 && at + 1 < sizes.len() {
                at += 1;
                room += sizes[at] as i64;
            }
            room -= graph.size(*vertex as usize);
            self.part[vertices[*vertex as usize] as usize] = (first + at) as u32;
        }
    }
}

/// The number of sizes, from the first on, whose sum is closest to half of the total, and that sum. At least one size
/// is on either side.
fn half(sizes: &[usize]) -> (usize, usize) {
    let all: usize = sizes.iter().sum();
    let sums = sizes[..sizes.len() - 1].iter().scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    let nearest = (1..).zip(sums).min_by_key(|(_, sum)| all.abs_diff(2 * sum));
    nearest.expect("two sizes at least")
}
