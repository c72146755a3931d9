//! The placements that may be chosen for a job.

use cartograph_core::learn::{Choice, Conditions, Entry, Guess, Placement};
use cartograph_core::machine::Machine;

use super::arms::{Means, Placing};
use crate::arms::Arm;

/// The placements that are worth trying for the kinds of work that a job may do.
pub(super) struct Candidates {
    /// Each with its kind.
    pub(super) arms: Vec<(u32, Arm)>,
    /// The means for the placements of each kind.
    pub(super) means: Vec<(u32, Means)>,
    /// True if the program failed in all placements.
    pub(super) are_blamed: bool,
}

impl Candidates {
    /// The candidates on the nodes of a job, of this shape.
    ///
    /// # Errors
    ///
    /// Why ranks cannot be placed there.
    pub(super) fn new(
        placing: &Placing,
        entry: &Entry,
        guess: &Guess,
        machine: &Machine,
        shape: u64,
    ) -> Result<Self, String> {
        let (mut arms, mut means) = (Vec::new(), Vec::new());
        for kind in &guess.kinds {
            let Some(found) = placing.arms(entry, *kind, machine, shape) else { continue };
            let (found, by) = found?;
            arms.extend(found.into_iter().map(|arm| (*kind, arm)));
            means.push((*kind, by));
        }
        let count = arms.len();
        arms.retain(|(_, arm)| !entry.is_blamed(&arm.order));
        let are_blamed = count > 0 && arms.is_empty();
        Ok(Self { arms, means, are_blamed })
    }

    /// The first candidate.
    pub(super) fn first(&self) -> Option<&Arm> {
        self.arms.first().map(|(_, arm)| arm)
    }

    /// The choice by the policy, where arm 0 is the default order.
    pub(super) fn choose(&self, entry: &Entry, guess: &Guess, conditions: &Conditions) -> Choice {
        let candidates: Vec<(Placement, f64)> = self
            .arms
            .iter()
            .map(|(kind, arm)| (Placement { kind: *kind, order: arm.order.clone() }, arm.gain()))
            .collect();
        entry.choose(guess, &candidates, conditions)
    }
}
