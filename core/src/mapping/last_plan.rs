//! The last plan of a process: programs make the same grid again and again, and ask for it by
//! `MPI_Cart_map` first.
//!
//! A plan depends on nothing but what is compared here, so it does not matter which process or thread
//! of the program planned it.

use std::sync::{Mutex, PoisonError};

use super::{Options, Plan};
use crate::machine::Machine;

/// The last plan of a grid, or of a graph, and what it is for. Memory: 12 bytes a rank, and the edges of a graph.
#[derive(Debug)]
pub struct LastPlan<S>(Mutex<Option<(S, Machine, Options, Plan)>>);

impl<S: Clone + PartialEq> LastPlan<S> {
    /// None yet.
    #[expect(clippy::new_without_default, reason = "it is a static of the host")]
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The last plan again if the arguments are the same, else what `search` finds for them.
    pub fn plan(
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
        // The lock is not held while a search goes on, so another thread's plan may be replaced.
        let plan = search(subject, machine, options);
        *lock() = Some((subject.clone(), machine.clone(), *options, plan.clone()));
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{plan_cart, tests::nearest};

    #[test]
    fn what_is_recalled_is_what_is_planned() {
        let last = LastPlan::new();
        let round_robin = Machine::from_ids(&(0..16).map(|rank| rank % 4).collect::<Vec<_>>());
        let brief = Options { seconds: Some(0.0), ..Options::default() };
        for (dims, layout, options) in [
            ([4, 4], Machine::blocks(&[4; 4]), Options::default()),
            ([4, 4], Machine::blocks(&[4; 4]), brief),
            ([4, 4], round_robin.clone(), brief),
            ([8, 2], round_robin, brief),
        ] {
            let grid = nearest(&dims, &[false; 2]);
            let plan = plan_cart(&grid, &layout, &options);
            assert_eq!(last.plan(&grid, &layout, &options, plan_cart), plan);
            let recalled = last.plan(&grid, &layout, &options, |_, _, _| panic!("planned anew"));
            assert_eq!(recalled, plan);
        }
    }
}
