//! The last plan of a process: programs create the same grid repeatedly, and call `MPI_Cart_map` for it first.
//!
//! A plan depends only on the arguments that are compared here, so any process or thread of the program may have
//! planned it.

use std::sync::{Mutex, PoisonError};

use super::{Csr, Grid, Options, Plan, search};
use crate::machine::Machine;

/// Like [`plan_grid`](super::plan_grid), but reuses the last plan if it is for the same grid.
pub fn plan_grid(grid: &Grid, machine: &Machine, options: &Options) -> Plan {
    static LAST: LastPlan<Grid> = LastPlan::new();
    LAST.plan(grid, machine, options, search::plan_grid)
}

/// Like [`plan_graph`](super::plan_graph), but reuses the last plan if it is for the same graph.
pub fn plan_graph(graph: &Csr, machine: &Machine, options: &Options) -> Plan {
    static LAST: LastPlan<Csr> = LastPlan::new();
    LAST.plan(graph, machine, options, search::plan_graph)
}

/// The last plan of a grid or a graph, and its arguments. Memory: 12 bytes per rank, and the edges of a graph.
struct LastPlan<S>(Mutex<Option<(S, Machine, Options, Plan)>>);

impl<S: Clone + PartialEq> LastPlan<S> {
    const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The last plan if the arguments are the same, otherwise the result of `search`.
    fn plan(
        &self,
        subject: &S,
        machine: &Machine,
        options: &Options,
        search: impl FnOnce(&S, &Machine, &Options) -> Plan,
    ) -> Plan {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, on, by, plan)) = &*lock()
            && (last, on, by) == (subject, machine, options)
        {
            return plan.clone();
        }
        // The lock is not held during a search, so another thread's plan may be replaced.
        let plan = search(subject, machine, options);
        *lock() = Some((subject.clone(), machine.clone(), *options, plan.clone()));
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::tests::nearest;

    #[test]
    fn a_recalled_plan_equals_a_new_plan() {
        let last = LastPlan::new();
        let round_robin = Machine::from_ids(&(0..16).map(|rank| rank % 4).collect::<Vec<_>>());
        let brief = Options { seconds: Some(0.0), ..Options::default() };
        for (dims, machine, options) in [
            ([4, 4], Machine::blocks(&[4; 4]), Options::default()),
            ([4, 4], Machine::blocks(&[4; 4]), brief),
            ([4, 4], round_robin.clone(), brief),
            ([8, 2], round_robin, brief),
        ] {
            let grid = nearest(&dims, &[false; 2]);
            let plan = search::plan_grid(&grid, &machine, &options);
            assert_eq!(last.plan(&grid, &machine, &options, search::plan_grid), plan);
            let recalled = last.plan(&grid, &machine, &options, |_, _, _| panic!("planned anew"));
            assert_eq!(recalled, plan);
        }
    }
}
