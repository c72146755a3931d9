//! Changes of the machine, noticed by the times of placed runs.

use super::measure::{Run, median};

/// The placement's times have changed if two in a row differ from those before by this many standard deviations, and by
/// this logarithm.
const CHANGED: f64 = 3.0;
const LEAST_CHANGE: f64 = 0.1;

/// The index of the run from which on the times of a placement have changed, 0 if they have not.
pub(super) fn last_change(runs: &[Run], noise: f64) -> usize {
    let least = least_change(noise);
    let (mut since, mut last) = (0, 0.0);
    for (at, run) in runs.iter().enumerate().filter(|(_, run)| run.arm > 0) {
        let alike = |other: &&Run| (other.arm, other.group) == (run.arm, run.group);
        let before = runs[since..at].iter().rev().filter(alike);
        let before: Vec<f64> = before.map(|run| run.seconds.ln()).collect();
        // The run before may be the first one after the change.
        let before = &before[usize::from(last != 0.0 && before.len() > 1)..];
        if before.is_empty() {
            continue;
        }
        let apart = run.seconds.ln() - median(&before[..before.len().min(BEFORE)]);
        let is_far = apart.abs() > least;
        if is_far && last * apart > 0.0 {
            since = previous(runs, at);
        }
        last = if is_far { apart } else { 0.0 };
    }
    since
}

/// The number of runs since the last one in a placement, if that was slower than those before it.
pub(super) fn since_slow(runs: &[Run], noise: f64) -> Option<usize> {
    let at = runs.iter().rposition(|run| run.arm > 0)?;
    let alike = |run: &&Run| (run.arm, run.group) == (runs[at].arm, runs[at].group);
    let before = runs[..at].iter().rev().filter(alike).take(BEFORE);
    let slowest = before.map(|run| run.seconds).reduce(f64::max)?;
    let is_slow = (runs[at].seconds / slowest).ln() > least_change(noise);
    is_slow.then(|| runs.len() - 1 - at)
}

/// The logarithm by which the times of a placement must differ.
fn least_change(noise: f64) -> f64 {
    LEAST_CHANGE.max(CHANGED * noise.sqrt())
}

/// The index of the placed run before this one.
fn previous(runs: &[Run], at: usize) -> usize {
    runs[..at].iter().rposition(|run| run.arm > 0).unwrap_or(at)
}

/// The number of runs before a change that are compared with those after it.
const BEFORE: usize = 5;
