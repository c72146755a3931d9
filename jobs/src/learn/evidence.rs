//! The evidence of runs: an interval for the gain of an arm that remains valid however often it is checked.
//!
//! Runs in the default order are compared with the runs of the arm just before and after them, so that a machine that
//! slows down or speeds up affects both. The differences of logarithms are tested by the mixture of Student's t over
//! normally distributed effects, a test martingale: by Ville's inequality it exceeds 1/alpha with probability at most
//! alpha, over all checks together.

use super::change::{last_change, since_slow};
use super::measure::{Gain, LEAST_NOISE, Run, lower_median, median, paired_gain};

/// The level of intervals in output: 95 %.
pub const SHOWN: f64 = 0.05;

/// The level at which an arm is reported as faster. There are at most two arms, and only one side of a two-sided
/// interval counts, so a program that no placement affects is reported as faster in at most one of 100 histories.
pub const CLAIMED: f64 = 0.01;

/// A smaller gain does not justify a setting, however significant it is.
pub const NOTABLE: f64 = 1.02;

/// The variance of effects, in units of the noise, over which the test is a mixture.
const EFFECTS: f64 = 9.0;

/// Fewer comparisons prove nothing: both runs in the default order may have been disturbed.
const LEAST_PAIRS: usize = 3;

/// The gain of an arm with its interval at a level, such as [`SHOWN`]; `None` if there are too few runs for one.
pub fn gain(runs: &[Run], arm: usize, level: f64) -> Option<Gain> {
    let noise = noise(runs, LEAST_NOISE);
    let found = differences(runs, arm, noise);
    let differences: Vec<f64> = found.iter().map(|found| found.difference).collect();
    let count = differences.len();
    let (mean, deviation) = moments(&differences).filter(|_| count >= LEAST_PAIRS)?;
    // Differences may agree by chance, or because jobs repeat in a rhythm, while runs of one arm do not.
    let variance = found.iter().map(|found| found.variance).sum::<f64>() / count as f64;
    let deviation = deviation.max((noise * variance).sqrt());
    let far = quantile(count, runs.len() - 2, level)? * deviation / (count as f64).sqrt();
    Some(Gain {
        mean: mean.exp(),
        least: (mean - far).exp(),
        most: (mean + far).exp(),
        pairs: count,
    })
}

/// The gain of an arm that is surely faster; `None` also if its last run was slower than those before it, until the next
/// one shows whether the machine has changed.
pub fn claimed(runs: &[Run], arm: usize) -> Option<Gain> {
    let is_slow = since_slow(runs, noise(runs, LEAST_NOISE)).is_some();
    gain(runs, arm, CLAIMED).filter(|gain| gain.least > 1.0 && !is_slow)
}

/// True if a variant is significantly faster than the baseline, as one of several that are tested: together they report a
/// false gain in at most 1 % of cases.
pub fn is_faster(baseline: &[f64], times: &[f64], tests: usize) -> bool {
    // Of a two-sided interval one side counts.
    let level = 2.0 * CLAIMED / tests.max(1) as f64;
    let found = paired_gain(baseline, times, level);
    found.is_some_and(|gain| gain.least > 1.0 && gain.mean >= NOTABLE)
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
const BESIDE: usize = 2;

/// The difference of the logarithms of times between runs in the default order and the nearest runs of an arm.
struct Difference {
    difference: f64,
    /// Its variance, in units of that of a run.
    variance: f64,
}

/// The differences of all runs in the default order since the last change of the machine. On both sides, as many runs of
/// the arm are compared, so that a drift of all times cancels; the last ones count once the arm has run after them.
fn differences(runs: &[Run], arm: usize, noise: f64) -> Vec<Difference> {
    let mut groups: Vec<u64> = runs.iter().map(|run| run.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut found = Vec::new();
    for group in groups {
        let all = runs.iter().filter(|run| run.group == group && (run.arm == 0 || run.arm == arm));
        let all: Vec<Run> = all.copied().collect();
        let late = &all[last_change(&all, noise)..];
        let blocks: Vec<&[Run]> = late.chunk_by(|one, next| one.arm == next.arm).collect();
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block[0].arm == 0) {
            let Some(after) = blocks.get(at + 1) else { break };
            let before = at.checked_sub(1).map_or(&[][..], |at| blocks[at]);
            let beside =
                if before.is_empty() { 1 } else { before.len().min(after.len()).min(BESIDE) };
            let before = &before[before.len().saturating_sub(beside)..];
            let others = [before, &after[..beside]].concat();
            found.push(Difference {
                difference: middle(block) - middle(&others),
                variance: (block.len() as f64).recip() + (others.len() as f64).recip(),
            });
        }
    }
    found
}

/// The median of the logarithms of times.
fn middle(runs: &[Run]) -> f64 {
    median(&runs.iter().map(|run| run.seconds.ln()).collect::<Vec<f64>>())
}

/// The number of runs for which the assumed noise counts.
const NOISE_RUNS: f64 = 2.0;

/// A difference larger than this multiple of the usual one counts as one of that size: some runs are disturbed.
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

/// The value of Student's t, from the mean of `count` numbers and a deviation with this many degrees of freedom, at which
/// the mixture is `1 / level`; `None` if no t suffices.
fn quantile(count: usize, freedom: usize, level: f64) -> Option<f64> {
    let freedom = freedom as f64;
    let spread = 1.0 + count as f64 * EFFECTS;
    // The martingale is spread^(-1/2) ((1 + x) / (1 + x / spread))^((freedom + 1) / 2), where x is t^2 / freedom.
    let wanted = (spread.sqrt() / level).powf(2.0 / (freedom + 1.0));
    (wanted < spread).then(|| ((wanted - 1.0) / (1.0 - wanted / spread) * freedom).sqrt())
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
    fn runs_are_compared_with_equally_many_on_both_sides() {
        let of = |runs: &[Run]| -> Vec<f64> {
            let found = differences(runs, 1, LEAST_NOISE);
            found.iter().map(|found| found.difference.exp()).collect()
        };
        // All times grow alike, so the first comparison, which has only one side, is as far off as any.
        let arms = [0, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0];
        let drifting = (0..).zip(arms).map(|(at, arm)| (arm, 1.02f64.powi(at)));
        let found = of(&runs(&drifting.collect::<Vec<(usize, f64)>>()));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!((found[0] * 1.02 - 1.0).abs() < 1e-9, "{found:?}");
        assert!(found[1..].iter().all(|ratio| (ratio - 1.0).abs() < 1e-9), "{found:?}");
        // Runs of other work are not compared.
        let mut mixed = runs(&[(0, 1.0), (1, 1.0)]);
        mixed[1].group = 2;
        assert!(of(&mixed).is_empty() && median_times(&mixed, 1).is_none());
        assert!((median_times(&runs(&[(0, 3.0), (1, 2.0)]), 1).unwrap() - 1.5).abs() < 1e-9);
    }

    #[test]
    fn few_runs_prove_nothing() {
        let two = runs(&[(0, 2.0), (1, 1.0), (1, 1.0), (0, 2.0), (1, 1.0)]);
        assert_eq!(gain(&two, 1, SHOWN), None);
        let more =
            [(0, 2.0), (1, 1.0), (1, 1.01), (0, 2.01), (1, 1.0), (1, 0.99), (0, 1.99), (1, 1.0)];
        let more = runs(&more);
        let found = gain(&more, 1, SHOWN).unwrap();
        assert!(found.least > 1.8 && found.most < 2.2 && found.pairs == 3, "{found:?}");
        assert!(claimed(&more, 1).is_some());
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

    #[test]
    fn nothing_is_claimed_once_times_have_changed() {
        let faster =
            [(0, 2.0), (1, 1.0), (0, 2.0), (1, 1.01), (0, 2.01), (1, 1.0), (0, 2.0), (1, 0.99)];
        let then = |more: &[(usize, f64)]| claimed(&runs(&[&faster[..], more].concat()), 1);
        assert!(then(&[]).is_some() && then(&[(1, 1.02)]).is_some());
        // The next run shows whether the machine has changed.
        assert_eq!(then(&[(1, 3.0)]), None);
        assert!(then(&[(1, 3.0), (0, 2.0), (1, 1.0)]).is_some());
        assert_eq!(then(&[(1, 3.0), (0, 2.0), (1, 3.0), (1, 3.0)]), None);
    }

    #[test]
    fn jobs_that_repeat_in_a_rhythm_prove_nothing() {
        let times = [1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0];
        let arms = [1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1];
        let all: Vec<(usize, f64)> = arms.into_iter().zip(times).collect();
        assert_eq!(claimed(&runs(&all), 1), None);
    }
}
