//! Graphs as subjects of the driver.

use super::{GraphDivider, STEP, lower_bound, seconds_for};
use crate::mapping::budget::Budget;
use crate::mapping::model::csr::Csr;
use crate::mapping::search::subject::Subject;

/// The part of the time with levels that nodes get. Over 30 graphs of 6,000 to 100,000 vertices J is 0.97 of that of
/// SharedMap's eco by this and [`TOP_DOWN`](Subject::TOP_DOWN), 1.04 by those of grids.
const NODES: f64 = 0.1;

impl Subject for Csr {
    type Edges = Csr;
    type Divider<'a> = GraphDivider<'a>;
    const STEP: f64 = STEP;
    const TOP_DOWN: usize = 9;

    fn lower_bound(&self, sizes: &[usize]) -> i64 {
        lower_bound(self, sizes.iter().copied().max().unwrap_or(0))
    }

    fn seconds(&self, asked: Option<f64>, nodes: usize, has_levels: bool) -> (f64, f64) {
        let alone = seconds_for(self, nodes);
        if !has_levels {
            return (asked.unwrap_or(alone), 0.0);
        }
        let together = asked.unwrap_or(1.5 * alone);
        (NODES * together, (1.0 - NODES) * together)
    }

    fn edges(&self, budget: Budget) -> Option<Csr> {
        (budget.left() >= 2 * self.sweep() as i64).then(|| self.symmetric())
    }

    fn divider<'a>(&self, edges: &'a Csr) -> GraphDivider<'a> {
        GraphDivider::new(edges)
    }
}
