//! The time that placements and comparisons have cost, and how much more they may cost.

/// The number of jobs over which the cost of slower placements is bounded.
pub const WINDOW: usize = 20;

/// The estimated fraction of the time of `WINDOW` jobs that slower placements may cost. The promise is 5 %, since
/// estimates err.
const BUDGET: f64 = 0.04;

/// The fraction of the saved time that checks may cost, except for the first ones.
const CHECKS: f64 = 0.1;

/// The cost of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// Its time in the default order.
    pub(super) bare: f64,
    /// The additional time, negative if it was saved: over the default order or, for a job in the default order, over
    /// the placement that was used otherwise.
    pub(super) more: f64,
    /// True if it ran in the default order.
    pub(super) is_check: bool,
    /// True if it was placed, and no job shows how long it would have taken in the default order.
    pub(super) is_uncompared: bool,
}

/// The estimated time that slower placements cost in the last jobs, and the time that placements saved in all jobs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    lost: f64,
    all: f64,
    longest: f64,
    saved: f64,
    checks: f64,
    /// True if one of the last placements was not compared. Otherwise, with several numbers of processes, each would
    /// try the same placement.
    pub(super) is_uncompared: bool,
}

impl Spent {
    pub(super) fn new(costs: &[Cost]) -> Self {
        let late = &costs[costs.len().saturating_sub(WINDOW - 1)..];
        let sum = |of: fn(&Cost) -> f64, all: &[Cost]| all.iter().map(of).sum::<f64>();
        let placed = |cost: &Cost| if cost.is_check { 0.0 } else { cost.more };
        // Future jobs are assumed to be like the shorter half of past ones: the first jobs may have been the long ones.
        let mut times: Vec<f64> = late.iter().map(|cost| cost.bare).collect();
        times.sort_by(f64::total_cmp);
        let middle = times.get((times.len().max(1) - 1) / 2).copied().unwrap_or(0.0);
        Self {
            lost: late.iter().map(|cost| placed(cost).max(0.0)).sum(),
            all: sum(|cost| cost.bare, late) + middle * (WINDOW - late.len()) as f64,
            longest: late.iter().map(|cost| cost.bare).fold(0.0, f64::max),
            is_uncompared: late.iter().any(|cost| cost.is_uncompared),
            saved: costs.iter().map(|cost| (-placed(cost)).max(0.0)).sum(),
            checks: sum(|cost| if cost.is_check { cost.more } else { 0.0 }, costs),
        }
    }

    /// True if slower placements cost more than this fraction of the longest job.
    pub(super) fn has_lost(&self, part: f64) -> bool {
        self.lost > part * self.longest
    }

    /// True if a job may be slower than in the default order by this fraction, even if it is as long as the longest so
    /// far.
    pub(super) fn allows(&self, slower: f64) -> bool {
        self.lost + slower.max(0.0) * self.longest <= BUDGET * self.all
    }

    /// True if another job may run in the default order, which takes longer by this fraction of its time.
    pub(super) fn allows_check(&self, part: f64) -> bool {
        self.checks + part * self.longest <= CHECKS * self.saved
    }
}
