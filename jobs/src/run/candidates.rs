//! The placements that may be chosen for a job.

use cartograph_core::machine::Machine;

use crate::launch::{Line, Places};
use crate::learn::{Choice, Conditions, Entry, Guess, Placement};
use crate::place::{Arm, Means, base, worth_trying};
use crate::store::Store;

/// The placements that are worth trying for the kinds of work that a job may do.
pub(super) struct Candidates {
    /// Each with its kind.
    pub(super) arms: Vec<(u32, Arm)>,
    /// The means for all of them.
    pub(super) means: Means,
    /// True if the program failed in all placements.
    pub(super) are_blamed: bool,
}

impl Candidates {
    /// The candidates for a job with this command line on its nodes, of this shape.
    ///
    /// # Errors
    ///
    /// Why ranks cannot be placed there.
    pub(super) fn new(
        (line, store): (&Line, &Store),
        entry: &Entry,
        guess: &Guess,
        (machine, own): (&Machine, Option<&Places>),
        shape: u64,
        devices: u32,
    ) -> Result<Self, String> {
        let means = Means::of(line, &entry.mpi)?;
        // A rank's device may be near the CPUs that it has by default.
        let is_single = line.programs.all().count() == 1;
        let own = own.filter(|_| means.binds() && is_single && entry.devices.is_none());
        let domains = own.map_or_else(Vec::new, Places::domains);
        let mut arms = Vec::new();
        for kind in &guess.kinds {
            let found =
                worth_trying(store, (entry, *kind), (machine, &domains, shape), &means, devices);
            arms.extend(found.into_iter().map(|arm| (*kind, arm)));
        }
        let count = arms.len();
        arms.retain(|(_, arm)| {
            let is_base_blamed = base(&arm.order).is_some_and(|base| entry.is_blamed(base));
            !entry.is_blamed(&arm.order) && !is_base_blamed
        });
        let are_blamed = count > 0 && arms.is_empty();
        Ok(Self { arms, means, are_blamed })
    }

    /// The choice by the policy, where arm 0 is the default order.
    pub(super) fn choose(
        &self,
        (entry, others): (&Entry, &[Entry]),
        guess: &Guess,
        conditions: &Conditions,
    ) -> Choice {
        let candidates: Vec<(Placement, f64)> = self
            .arms
            .iter()
            .map(|(kind, arm)| (Placement { kind: *kind, order: arm.order.clone() }, arm.gain()))
            .collect();
        entry.choose(others, guess, &candidates, conditions)
    }
}
