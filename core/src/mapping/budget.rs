//! The budget of a search, in counted steps, so that no clock affects the result.

use std::sync::atomic::{AtomicBool, Ordering};

/// The steps that a current machine takes in a second: a step reads one edge.
const STEPS_PER_SECOND: f64 = 3e8;

/// A flag with which another thread ends a search, which then returns the best mapping found. Not set by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stop(pub Option<&'static AtomicBool>);

impl Stop {
    /// True once the search must end.
    pub fn is_set(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl PartialEq for Stop {
    /// True if both are the same flag.
    fn eq(&self, other: &Self) -> bool {
        self.0.map(std::ptr::from_ref) == other.0.map(std::ptr::from_ref)
    }
}

/// The steps that a search may still take.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::mapping) struct Budget {
    left: i64,
    stop: Stop,
}

impl Budget {
    /// The steps that take about `seconds`.
    pub(in crate::mapping) fn seconds(seconds: f64) -> Self {
        let left = (seconds * STEPS_PER_SECOND) as i64;
        Self { left: left.max(0), stop: Stop::default() }
    }

    /// The steps of a search whose own steps take longer than these.
    pub(in crate::mapping) fn scaled(self, factor: f64) -> Self {
        Self { left: (factor * self.left() as f64) as i64, ..self }
    }

    /// The same steps, as long as the flag is not set.
    pub(in crate::mapping) fn until(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// Uses steps.
    pub(in crate::mapping) fn spend(&mut self, steps: usize) {
        #[cfg(test)]
        crate::mapping::tests::SPENT.with(|spent| spent.set(spent.get() + steps));
        self.left = self.left.saturating_sub(steps as i64);
    }

    /// The number of steps that are left.
    pub(in crate::mapping) fn left(self) -> i64 {
        if self.stop.is_set() { 0 } else { self.left.max(0) }
    }

    /// True if the budget is spent.
    pub(in crate::mapping) fn is_spent(self) -> bool {
        self.left() == 0
    }

    /// Takes a share of the remaining budget, in `parts` parts, to be spent separately.
    #[must_use]
    pub(in crate::mapping) fn split(&mut self, parts: i64) -> Self {
        let share = self.left() / parts;
        self.left -= share;
        Self { left: share, ..*self }
    }

    /// Like [`split`](Self::split), but at most `most`.
    #[must_use]
    pub(in crate::mapping) fn at_most(&mut self, most: Self, parts: i64) -> Self {
        let share = (self.left() / parts).min(most.left());
        self.left -= share;
        Self { left: share, ..*self }
    }

    /// Takes `part` of `whole` shares of the rest.
    #[must_use]
    pub(in crate::mapping) fn portion(&mut self, part: usize, whole: usize) -> Self {
        let share = (self.left() as f64 * (part as f64 / whole as f64)) as i64;
        self.left -= share;
        Self { left: share, ..*self }
    }

    /// Returns the unused steps of a share.
    pub(in crate::mapping) fn put_back(&mut self, rest: Self) {
        self.left = self.left.saturating_add(rest.left());
    }
}
