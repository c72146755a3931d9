//! The evidence of runs: an interval for the gain of an arm that remains valid however often it is checked.
//!
//! Runs in the default order are compared with the runs of the arm just before and after them, so that a machine that
//! slows down or speeds up affects both. The differences of logarithms are tested by the mixture of Student's t over
//! normally distributed effects, a test martingale: by Ville's inequality it exceeds 1/alpha with probability at most
//! alpha, over all checks together.

use super::measure::{Gain, LEAST_NOISE, lower_median, median};

/// The level of intervals in output: 95 %.
pub const SHOWN: f64 = 0.05;

/// The level at which an arm is reported as faster. There are at most two arms, and only one side of a two-sided
/// interval counts, so a program that no placement affects is reported as faster in at most one of 100 histories.
pub const CLAIMED: f64 = 0.01;

/// The variance of effects, in units of the noise, over which the test is a mixture.
const EFFECTS: f64 = 9.0;

/// A completed run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// The placement, 0 for the default order.
    pub arm: usize,
    /// The kind of work: only runs of one group are compared.
    pub group: u64,
    /// The shape of its nodes.
    pub shape: u64,
    /// The time from `MPI_Init` to `MPI_Finalize`.
    pub seconds: f64,
}

/// The gain of an arm with its interval at a level, such as [`SHOWN`]; `None` if there are too few runs for one.
pub fn gain(runs: &[Run], arm: usize, level: f64) -> Option<Gain> {
    let differences: Vec<f64> = pairs(runs, 0, arm).iter().map(|pair| pair.difference).collect();
    let (mean, deviation) = moments(&differences)?;
    // Differences may agree by chance, or because jobs repeat in a rhythm, while runs of one arm do not.
    let deviation = deviation.max(noise(runs, LEAST_NOISE).sqrt() / 2.0);
    let far = quantile(differences.len(), level)? * deviation / (differences.len() as f64).sqrt();
    Some(Gain {
        mean: mean.exp(),
        least: (mean - far).exp(),
        most: (mean + far).exp(),
        pairs: differences.len(),
    })
}

/// The median times of the default order and of an arm over the groups that have both, as a ratio: the default order
/// takes `ratio` times as long. `None` if no group has both.
pub fn median_times(runs: &[Run], arm: usize) -> Option<f64> {
    let mut groups: Vec<u64> = runs.iter().map(|run| run.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let (mut sum, mut weights) = (0.0, 0.0);
    for group in groups {
        let of = |arm: usize| {
            let logs = runs.iter().filter(|run| run.group == group && run.arm == arm);
            let logs: Vec<f64> = logs.map(|run| run.seconds.ln()).collect();
            (!logs.is_empty()).then(|| (median(&logs), logs.len() as f64))
        };
        if let (Some((own, n)), Some((other, m))) = (of(0), of(arm)) {
            let weight = n * m / (n + m);
            sum += weight * (own - other);
            weights += weight;
        }
    }
    (weights > 0.0).then(|| (sum / weights).exp())
}

/// True if the default order and an arm have at least two runs each in one group: with fewer, nothing is claimed.
pub fn is_compared(runs: &[Run], arm: usize) -> bool {
    let count = |group, arm| runs.iter().filter(|run| (run.group, run.arm) == (group, arm)).count();
    runs.iter().any(|run| count(run.group, 0).min(count(run.group, arm)) >= COMPARED)
}

/// The least runs of either side.
pub(super) const COMPARED: usize = 2;

/// The most runs on each side that are compared with a run: within these, the machine has usually not changed.
const BESIDE: usize = 3;

/// Runs of one arm next to runs of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    /// The difference of the logarithms of their times.
    pub(super) difference: f64,
    /// Its variance, in units of that of a run.
    pub(super) variance: f64,
    /// The index of the last of these runs of the first arm.
    pub(super) at: usize,
}

/// Compares runs of one arm with the nearest runs of another, using each run once.
pub(super) fn pairs(runs: &[Run], one: usize, arm: usize) -> Vec<Pair> {
    let mut groups: Vec<u64> = runs.iter().map(|run| run.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut found = Vec::new();
    for group in groups {
        let all: Vec<(usize, &Run)> = runs
            .iter()
            .enumerate()
            .filter(|(_, run)| run.group == group && (run.arm == one || run.arm == arm))
            .collect();
        let blocks: Vec<&[(usize, &Run)]> =
            all.chunk_by(|(_, one), (_, next)| one.arm == next.arm).collect();
        let middle = |block: &[(usize, &Run)]| {
            median(&block.iter().map(|(_, run)| run.seconds.ln()).collect::<Vec<f64>>())
        };
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block[0].1.arm == one) {
            // Of the runs between two blocks, the first ones belong to the block before them, the last ones to the
            // block after them.
            let before = at.checked_sub(1).map(|at| {
                let between = blocks[at];
                let shared = if at > 0 { between.len() / 2 } else { between.len() };
                &between[between.len() - shared.min(BESIDE)..]
            });
            let after = blocks.get(at + 1).map(|between| {
                let is_last = at + 2 >= blocks.len();
                let shared = if is_last { between.len() } else { between.len().div_ceil(2) };
                &between[..shared.min(BESIDE)]
            });
            let others: Vec<(usize, &Run)> =
                before.into_iter().chain(after).flatten().copied().collect();
            if !others.is_empty() {
                found.push(Pair {
                    difference: middle(block) - middle(&others),
                    variance: (block.len() as f64).recip() + (others.len() as f64).recip(),
                    at: block[block.len() - 1].0,
                });
            }
        }
    }
    found
}

/// The number of runs for which the assumed noise counts.
const NOISE_RUNS: f64 = 2.0;

/// A difference of more than this number of usual ones counts as one of that size: some runs are disturbed.
const DISTURBED: f64 = 3.0;

/// The variance of the logarithm of a run's time, starting from the assumed deviation `before`: estimated from
/// consecutive runs of one arm and group, so that slow changes of the machine do not count.
pub(super) fn noise(runs: &[Run], before: f64) -> f64 {
    let mut squares = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let alike = |other: &&Run| other.arm == run.arm && other.group == run.group;
        if let Some(other) = runs[..at].iter().rev().find(alike) {
            squares.push((run.seconds / other.seconds).ln().powi(2) / 2.0);
        }
    }
    // Of the squares of normally distributed numbers, half are below this part of the mean.
    let usual = before.powi(2).max(lower_median(&squares).unwrap_or(0.0) / 0.455);
    let sum: f64 = squares.iter().map(|square| square.min(DISTURBED.powi(2) * usual)).sum();
    (sum + NOISE_RUNS * before.powi(2)) / (squares.len() as f64 + NOISE_RUNS)
}

/// The mean and the standard deviation of at least two numbers.
fn moments(numbers: &[f64]) -> Option<(f64, f64)> {
    let count = numbers.len() as f64;
    if numbers.len() < 2 || !numbers.iter().all(|number| number.is_finite()) {
        return None;
    }
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    Some((mean, (squares / (count - 1.0)).sqrt().max(LEAST_NOISE)))
}

/// The value of Student's t from `count` numbers at which the mixture is `1 / level`; `None` if no t suffices.
fn quantile(count: usize, level: f64) -> Option<f64> {
    let n = count as f64;
    let spread = 1.0 + n * EFFECTS;
    // The martingale is spread^(-1/2) ((1 + x) / (1 + x / spread))^(n/2), where x is t^2 / (n - 1).
    let wanted = (spread.sqrt() / level).powf(2.0 / n);
    (wanted < spread).then(|| ((wanted - 1.0) / (1.0 - wanted / spread) * (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(all: &[(usize, f64)]) -> Vec<Run> {
        all.iter()
            .map(|(arm, seconds)| Run { arm: *arm, group: 1, shape: 0, seconds: *seconds })
            .collect()
    }

    #[test]
    fn own_runs_are_compared_with_those_beside_them() {
        let drifting = runs(&[(0, 1.0), (1, 1.0), (1, 2.0), (0, 4.0), (1, 8.0), (0, 8.0)]);
        let found: Vec<f64> =
            pairs(&drifting, 0, 1).iter().map(|pair| pair.difference.exp()).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[0] - 1.0).abs() < 1e-9 && (found[1] - 1.0).abs() < 1e-9, "{found:?}");
        // Runs of other work are not compared.
        let mut mixed = runs(&[(0, 1.0), (1, 1.0)]);
        mixed[1].group = 2;
        assert!(pairs(&mixed, 0, 1).is_empty() && median_times(&mixed, 1).is_none());
        assert!((median_times(&runs(&[(0, 3.0), (1, 2.0)]), 1).unwrap() - 1.5).abs() < 1e-9);
    }

    #[test]
    fn few_runs_prove_nothing() {
        let two = runs(&[(0, 2.0), (1, 1.0), (1, 1.0), (0, 2.0), (1, 1.0)]);
        assert_eq!(gain(&two, 1, SHOWN), None);
        let more =
            [(0, 2.0), (1, 1.0), (1, 1.01), (0, 2.01), (1, 1.0), (1, 0.99), (0, 1.99), (1, 1.0)];
        let mut more = runs(&more);
        let found = gain(&more, 1, SHOWN).unwrap();
        assert!(found.least > 1.8 && found.most < 2.2 && found.pairs == 3, "{found:?}");
        assert_eq!(gain(&more, 1, CLAIMED), None);
        more.extend(runs(&[(1, 1.0), (0, 2.0)]));
        assert!(gain(&more, 1, CLAIMED).unwrap().least > 1.8);
        // With more noise, more runs are needed.
        let far = runs(&[
            (0, 2.0),
            (1, 1.0),
            (1, 2.0),
            (0, 1.5),
            (1, 1.0),
            (1, 1.5),
            (0, 2.5),
            (1, 1.5),
            (1, 2.0),
            (0, 2.5),
        ]);
        assert!(gain(&far, 1, SHOWN).unwrap().least < 1.0);
    }
}
