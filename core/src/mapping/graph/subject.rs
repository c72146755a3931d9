//! Graphs as subjects of the driver.

use super::{GraphDivider, STEP, lower_bound, seconds_for};
use crate::mapping::csr::Csr;
use crate::mapping::refine::Budget;
use crate::mapping::subject::{Seconds, Subject};

impl Subject for Csr {
    type Edges = Csr;
    type Divider<'a> = GraphDivider<'a>;
    const STEP: f64 = STEP;
    // Over 30 graphs of 6,000 to 100,000 vertices J is 0.97 of that of SharedMap's eco by these, 1.04 by those of grids.
    const NODES: f64 = 0.1;
    const TOP_DOWN: usize = 9;
    const SPARES_BUSIEST: bool = false;

    fn lower_bound(&self, sizes: &[usize]) -> i64 {
        lower_bound(self, sizes.iter().copied().max().unwrap_or(0))
    }

    fn seconds(&self) -> Seconds {
        let alone = seconds_for(self);
        Seconds { alone, with_levels: 1.5 * alone, at_most: alone }
    }

    fn edges(&self, budget: Budget) -> Option<Csr> {
        (budget.left() >= self.steps() as i64).then(|| self.symmetric())
    }

    fn divider<'a>(&self, edges: &'a Csr) -> GraphDivider<'a> {
        GraphDivider::new(edges)
    }
}
