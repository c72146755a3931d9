//! The last plan of a process: programs make the same grid again and again, and ask for it by
//! `MPI_Cart_map` first.
//!
//! A plan depends on nothing but what is compared here, so it does not matter which process or thread
//! of the program planned it. One plan is kept: 12 bytes a rank, and the edges of a graph.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Csr, Grid, Options, Plan, plan_cart, plan_graph};
use crate::machine::Machine;

/// A grid or graph that is mapped.
#[derive(Debug)]
enum Subject {
    Cart(Grid),
    Graph(Csr),
}

#[derive(Debug)]
struct Last {
    subject: Subject,
    layout: Machine,
    options: Options,
    plan: Plan,
}

/// The last plan, and what it is for.
#[derive(Debug)]
pub struct LastPlan(Mutex<Option<Last>>);

impl LastPlan {
    /// None yet.
    #[expect(clippy::new_without_default, reason = "it is a static of the host")]
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// [`plan_cart`], which returns the last plan again if the arguments are the same.
    pub fn plan_cart(&self, grid: &Grid, layout: &Machine, options: &Options) -> Plan {
        let same = |subject: &Subject| matches!(subject, Subject::Cart(last) if last == grid);
        self.recall((layout, options), same).unwrap_or_else(|| {
            let plan = plan_cart(grid, layout, options);
            self.keep(Subject::Cart(grid.clone()), (layout, options), plan)
        })
    }

    /// [`plan_graph`], which returns the last plan again if the arguments are the same.
    pub fn plan_graph(&self, graph: &Csr, layout: &Machine, options: &Options) -> Plan {
        let same = |subject: &Subject| matches!(subject, Subject::Graph(last) if last == graph);
        self.recall((layout, options), same).unwrap_or_else(|| {
            let plan = plan_graph(graph, layout, options);
            self.keep(Subject::Graph(graph.clone()), (layout, options), plan)
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Last>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recall(
        &self,
        terms: (&Machine, &Options),
        same: impl FnOnce(&Subject) -> bool,
    ) -> Option<Plan> {
        let last = self.lock();
        let last = last.as_ref().filter(|last| (&last.layout, &last.options) == terms)?;
        same(&last.subject).then(|| last.plan.clone())
    }

    /// The lock is not held while a search goes on, so another thread's plan may be replaced.
    fn keep(&self, subject: Subject, (layout, options): (&Machine, &Options), plan: Plan) -> Plan {
        let (layout, options) = (layout.clone(), *options);
        *self.lock() = Some(Last { subject, layout, options, plan: plan.clone() });
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Cart;

    #[test]
    fn what_is_recalled_is_what_is_planned() {
        let grid = |dims: [i32; 2]| Grid::from(&Cart::new(&dims, &[false; 2], 64).unwrap());
        let last = LastPlan::new();
        let options = Options::default();
        let dealt = Machine::from_ids(&(0..16).map(|rank| rank % 4).collect::<Vec<_>>());
        for layout in [Machine::blocks(&[4; 4]), dealt] {
            for dims in [[4, 4], [8, 2], [4, 4]] {
                let plan = plan_cart(&grid(dims), &layout, &options);
                for _ in 0..2 {
                    assert_eq!(last.plan_cart(&grid(dims), &layout, &options), plan);
                }
                let graph = || Csr::from_edges(16, (0..16).map(|v| (v, (v * 5 + 3) % 16, 1)));
                let plan = plan_graph(&graph(), &layout, &options);
                assert_eq!(last.plan_graph(&graph(), &layout, &options), plan);
                assert_eq!(last.recall((&layout, &options), |_| true), Some(plan));
            }
        }
    }
}
