//! Grids as subjects of the search.

use super::bound;
use super::region::GridDivider;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::grid::Grid;
use crate::mapping::model::lattice::Lattice;
use crate::mapping::search::subject::Subject;

/// The time to search for a better mapping of a grid, in seconds: 330 us per cell up to 250 ms; beyond some thousand
/// cells less and less, since a whole program waits for it, but at least 0.3 us per cell.
fn seconds_for(cells: usize) -> f64 {
    let cells = cells as f64;
    (3.3e-4 * cells).min(0.25).min(1.3e3 / cells).max(LEAST_SECONDS * cells)
}

/// The time per cell of a large grid, in seconds.
const LEAST_SECONDS: f64 = 3e-7;

/// The time if levels above the nodes count as well. It is less, except on large grids: the result of a long search for
/// nodes is hardly ever the final mapping of the search through levels, and that gains next to nothing from more time.
/// Measured in docs/results/quality.md.
fn seconds_with_levels(cells: usize) -> f64 {
    (0.11 * seconds_for(cells)).max(1.5 * LEAST_SECONDS * cells as f64)
}

impl Subject for Grid {
    type Edges = Lattice;
    type Divider<'a> = GridDivider<'a>;
    const STEP: f64 = 1.0;
    const TOP_DOWN: usize = 5;

    fn lower_bound(&self, sizes: &[usize]) -> i64 {
        bound::lower_bound(&Lattice::directed(self), sizes)
    }

    fn seconds(&self, asked: Option<f64>, _: usize, has_levels: bool) -> (f64, f64) {
        let cells = self.vertices();
        if !has_levels {
            return (asked.unwrap_or(seconds_for(cells)), 0.0);
        }
        let together = asked.unwrap_or(seconds_with_levels(cells));
        let nodes = (2.0 / 3.0 * together).min(2.0 * LEAST_SECONDS * cells as f64);
        (nodes, together - nodes)
    }

    fn edges(&self, _: Budget) -> Option<Lattice> {
        Some(Lattice::symmetric(self))
    }

    fn divider<'a>(&self, edges: &'a Lattice) -> GridDivider<'a> {
        GridDivider::new(edges)
    }
}
