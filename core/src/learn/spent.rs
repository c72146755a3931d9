//! The time that trials have cost, and how much more they may cost.

use super::belief::{Belief, measured};
use super::evidence::{Run, mean_times};

/// The number of jobs over which the cost of trials is bounded.
pub(super) const WINDOW: usize = 20;

/// The estimated fraction of the time of `WINDOW` jobs that trials may cost. The promise is 5 %, since estimates err.
const BUDGET: f64 = 0.0285;

/// The estimated time of the last jobs in the best placement, and the additional time of trials among them.
pub(super) struct Spent {
    lost: f64,
    all: f64,
    longest: f64,
    /// The fraction of these jobs that ran on nodes of this shape.
    here: f64,
}

impl Spent {
    pub(super) fn new(beliefs: &[Belief], best: usize, runs: &[Run], shape: u64) -> Self {
        let late = &runs[runs.len().saturating_sub(WINDOW - 1)..];
        let here = late.iter().filter(|run| run.shape == shape).count().max(1) as f64;
        let here = here / late.len().max(1) as f64;
        let mut spent = Self { lost: 0.0, all: 0.0, longest: 0.0, here };
        for (at, run) in late.iter().enumerate() {
            let behind = match (run.shape == shape, run.arm) {
                (true, arm) => beliefs.get(arm).map_or(0.0, |b| beliefs[best].found - b.found),
                (false, 0) => gain_on(runs, run.shape),
                (false, _) => -gain_on(runs, run.shape),
            };
            let seconds = run.seconds / behind.max(0.0).exp();
            spent.all += seconds;
            spent.longest = spent.longest.max(seconds);
            // The first run of all is not a trial: there was no alternative.
            if behind > 0.0 && (at > 0 || late.len() < runs.len()) {
                spent.lost += run.seconds - seconds;
            }
        }
        // Future jobs are assumed to be like the shorter half of past ones: the first jobs may have been the long ones.
        let mut times: Vec<f64> = late.iter().map(|run| run.seconds).collect();
        times.sort_by(f64::total_cmp);
        let middle = times.get((times.len().max(1) - 1) / 2).copied().unwrap_or(0.0);
        spent.all += middle * (WINDOW - late.len()) as f64;
        spent
    }

    /// True if a trial may be slower by this fraction of a job's time, even if the job is as long as the longest so
    /// far.
    pub(super) fn allows(&self, slower: f64) -> bool {
        self.loses_less(slower, BUDGET)
    }

    /// True if the default order may be slower by this fraction of a job's time, given that it is repeated on nodes of
    /// each shape.
    pub(super) fn allows_check(&self, slower: f64) -> bool {
        self.loses_less(slower, BUDGET * self.here)
    }

    fn loses_less(&self, slower: f64, part: f64) -> bool {
        let lost = self.lost + slower.max(0.0) * self.longest;
        lost <= part * (self.all + lost)
    }
}

/// The logarithm of the measured gain on nodes of a shape, or on all nodes if there was at most one run on this shape.
fn gain_on(everywhere: &[Run], shape: u64) -> f64 {
    let there: Vec<Run> = everywhere.iter().copied().filter(|run| run.shape == shape).collect();
    match there.len() {
        0 | 1 => measured(everywhere, 0, 1, 1.0).map_or(0.0, |(mean, _)| mean),
        _ => mean_times(&there, 1).map_or(0.0, f64::ln),
    }
}
