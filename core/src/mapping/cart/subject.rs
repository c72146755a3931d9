//! Grids as subjects of the driver.

use super::bound;
use super::region::GridDivider;
use crate::machine::Machine;
use crate::mapping::cost::Adjacency;
use crate::mapping::grid::Grid;
use crate::mapping::lattice::Lattice;
use crate::mapping::plan::Plan;
use crate::mapping::refine::Budget;
use crate::mapping::subject::{Seconds, Subject};
use crate::mapping::unknown_weights;

/// The time to search for a better mapping of a grid, in seconds: 330 us a cell up to 250 ms; beyond some thousand
/// cells ever less, since a whole program waits for it, but no less than 0.3 us a cell.
fn seconds_for(cells: usize) -> f64 {
    let cells = cells as f64;
    (3.3e-4 * cells).min(0.25).min(1.3e3 / cells).max(LEAST_SECONDS * cells)
}

/// The time for a cell of a large grid, in seconds.
const LEAST_SECONDS: f64 = 3e-7;

/// The time where levels above the nodes count as well. It is less on all but large grids: what a long search for nodes
/// alone finds is hardly ever what the search through levels ends with, and that one gains next to nothing by more
/// time. Measured in docs/results/quality.md.
fn seconds_with_levels(cells: usize) -> f64 {
    (0.11 * seconds_for(cells)).max(1.5 * LEAST_SECONDS * cells as f64)
}

impl Subject for Grid {
    type Edges = Lattice;
    type Divider<'a> = GridDivider<'a>;
    const STEP: f64 = 1.0;
    const NODES: f64 = 2.0 / 3.0;
    const TOP_DOWN: usize = 5;
    const SPARES_BUSIEST: bool = true;

    fn lower_bound(&self, sizes: &[usize]) -> i64 {
        bound::lower_bound(&Lattice::directed(self), sizes)
    }

    fn seconds(&self) -> Seconds {
        let cells = self.vertices();
        Seconds {
            alone: seconds_for(cells),
            with_levels: seconds_with_levels(cells),
            at_most: 2.0 * LEAST_SECONDS * cells as f64,
        }
    }

    fn edges(&self, _: Budget) -> Option<Lattice> {
        Some(Lattice::symmetric(self))
    }

    fn divider<'a>(&self, edges: &'a Lattice) -> GridDivider<'a> {
        // Weights that the guard tries are no knowledge.
        GridDivider::new(edges, !self.has_unknown_weights())
    }

    fn images(&self) -> impl Iterator<Item = usize> {
        let ends: Vec<bool> = (0..self.dims().len()).map(|i| self.is_mirrored(i)).collect();
        let is_image = move |vertex: &usize| {
            let mut rest = *vertex;
            (0..self.dims().len()).rev().all(|i| {
                let (side, at) = (self.dims()[i], rest % self.dims()[i]);
                rest /= side;
                at == 0 || self.periodic()[i] || (at == side - 1 && ends[i])
            })
        };
        (0..self.vertices()).filter(is_image)
    }

    fn renumbered(&self, image: usize) -> Vec<u32> {
        let place = |vertex: usize| {
            let (mut rest, mut image, mut stride, mut to) = (vertex, image, 1, 0);
            for i in (0..self.dims().len()).rev() {
                let (side, periodic) = (self.dims()[i], self.periodic()[i]);
                let (at, first) = (rest % side, image % side);
                let at = match first {
                    _ if periodic => (at + first) % side,
                    0 => at,
                    _ => side - 1 - at,
                };
                to += at * stride;
                (rest, image, stride) = (rest / side, image / side, stride * side);
            }
            to as u32
        };
        (0..self.vertices()).map(place).collect()
    }

    fn is_no_loss(&self, layout: &Machine, plan: &Plan) -> bool {
        !self.has_unknown_weights() || unknown_weights::is_no_loss(self, layout, plan)
    }

    fn traits(&self) -> Vec<usize> {
        let periodic = self.periodic().iter().map(|periodic| usize::from(*periodic));
        self.dims().iter().copied().chain(periodic).collect()
    }
}
