//! Beliefs about the gains of placements: predictions, corrected by the accuracy of earlier ones, and the times of
//! jobs.

use super::measure::{Run, median};

/// The assumed noise of a run, as the standard deviation of the logarithm of its time.
pub(super) const NOISE: f64 = 0.08;

/// The fraction of a predicted gain that is usually realized, since replay does not model shared caches and other jobs,
/// and its variance.
const TRUST: f64 = 0.6;
const TRUST_VARIANCE: f64 = 0.16;

/// The error of a corrected prediction: a constant, and a part in proportion to the prediction.
const FORECAST_ERROR: f64 = 0.12;
const FORECAST_PART: f64 = 0.3;

/// Runs are compared with those at most this number of runs before and after them: meanwhile, the machine has usually not
/// changed.
const NEAR: usize = 12;

/// The most runs in the default order that are compared.
const MOST_COMPARED: f64 = 16.0;

/// A gain is assumed to be this many standard deviations smaller than measured.
const DOUBT: f64 = 2.0;

/// The variance is assumed to be larger by this number divided by that of runs: few runs do not show all noise.
const FEW: f64 = 5.0;

/// A placement that is predicted to be faster is assumed not to be slower than by this logarithm.
pub(super) const WORST: f64 = 0.4;

/// A belief about the logarithm of an arm's gain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Belief {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    /// The number of runs of the arm.
    pub(super) runs: usize,
    /// The least that it may be.
    pub(super) least: f64,
}

/// The belief about each arm, from predictions and the measured gain of each.
pub(super) fn beliefs(
    predicted: &[f64],
    runs: &[Run],
    experience: &[(f64, f64)],
    measured: impl Fn(usize) -> Option<Measured>,
) -> Vec<Belief> {
    let measured: Vec<Option<Measured>> = (0..predicted.len()).map(measured).collect();
    let here = predicted.iter().zip(&measured).skip(1);
    let here = here.filter_map(|(predicted, found)| {
        found.map(|Measured { mean, variance, .. }| (predicted.max(1.0).ln(), mean, variance))
    });
    let elsewhere = experience.iter().map(|(predicted, found)| {
        (predicted.max(1.0).ln(), found.max(1e-3).ln(), 2.0 * NOISE.powi(2))
    });
    let trust = trust(here.chain(elsewhere));
    let belief = |arm: usize| {
        if arm == 0 {
            return Belief { mean: 0.0, deviation: 0.0, runs: 0, least: 0.0 };
        }
        let runs = runs.iter().filter(|run| run.arm == arm).count();
        let predicted = predicted[arm].max(1.0).ln();
        let (before, error) = (trust * predicted, forecast_error(predicted));
        match measured[arm] {
            None => Belief { mean: before, deviation: error, runs, least: -WORST },
            Some(Measured { mean: found, variance, least, .. }) => {
                let certain = error.powi(-2);
                let all = certain + variance.recip();
                // A prediction may make a gain smaller, but not larger than measured.
                let mean = found.min((certain * before + found / variance) / all);
                Belief { mean, deviation: all.recip().sqrt(), runs, least }
            }
        }
    };
    (0..predicted.len()).map(belief).collect()
}

/// The standard deviation of the gain around its corrected prediction.
fn forecast_error(predicted: f64) -> f64 {
    FORECAST_ERROR.hypot(FORECAST_PART * predicted)
}

/// The realized fraction of the predicted gains that were measured.
fn trust(tried: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let (mut over, mut under) = (TRUST / TRUST_VARIANCE, TRUST_VARIANCE.recip());
    for (predicted, found, variance) in tried {
        let certain = (forecast_error(predicted).powi(2) + variance).recip();
        over += certain * predicted * found;
        under += certain * predicted * predicted;
    }
    (over / under).clamp(0.0, 1.0)
}

/// The logarithm of an arm's gain over another, as measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// The median of the differences between runs.
    pub(super) mean: f64,
    /// Its variance.
    pub(super) variance: f64,
    /// The least that it may be.
    pub(super) least: f64,
    /// The largest difference.
    pub(super) most: f64,
}

/// Compares the last runs of one arm with all runs of another that are near them: the median of the differences of the
/// logarithms of their times is the estimate of Hodges and Lehmann, on which a few disturbed runs have no influence. The
/// least gain is bounded by the noise and by the ranks of the differences, which assume nothing about disturbances.
pub(super) fn measured(runs: &[Run], over: usize, arm: usize, noise: f64) -> Option<Measured> {
    let mut differences = Vec::new();
    let (mut own, mut others) = (0.0, vec![false; runs.len()]);
    for (at, run) in runs.iter().enumerate().rev().filter(|(_, run)| run.arm == over) {
        let (first, before) = (at.saturating_sub(NEAR), differences.len());
        let near = &runs[first..runs.len().min(at + NEAR + 1)];
        for (other, beside) in (first..).zip(near) {
            if (beside.arm, beside.group) == (arm, run.group) {
                differences.push((run.seconds / beside.seconds).ln());
                others[other] = true;
            }
        }
        own += if differences.len() > before { 1.0 } else { 0.0 };
        if own >= MOST_COMPARED {
            break;
        }
    }
    differences.sort_by(f64::total_cmp);
    let others = others.iter().filter(|is_compared| **is_compared).count() as f64;
    let most = *differences.last()?;
    let mean = median(&differences);
    let variance = noise * (1.0 / own + 1.0 / others) * (1.0 + FEW / (own + others));
    // The standard deviation of the statistic of Mann and Whitney, as a part of all differences.
    let ranks = ((own + others + 1.0) / (12.0 * own * others)).sqrt();
    let part = (0.5 - DOUBT * ranks).max(0.0);
    let least = differences[(part * differences.len() as f64) as usize];
    Some(Measured { mean, variance, least: least.min(mean - DOUBT * variance.sqrt()), most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(own: &[f64], placed: &[f64]) -> f64 {
        let of = |arm, seconds: &f64| Run { arm, group: 1, shape: 0, seconds: *seconds };
        let runs = own.iter().zip(placed).flat_map(|(own, placed)| [of(0, own), of(1, placed)]);
        let runs: Vec<Run> = runs.collect();
        measured(&runs, 0, 1, 1e-4).unwrap().least
    }

    #[test]
    fn a_slower_arm_is_not_proven_by_disturbed_runs() {
        let placed = [13.0; 5];
        assert!(least(&[20.0, 20.0, 10.0, 20.0, 10.0], &placed) < 0.0);
        assert!(least(&[100.0, 10.0, 10.0, 100.0, 10.0], &placed) < 0.0);
        // A faster one is, although one of its runs was disturbed.
        let placed = [8.0, 8.0, 80.0, 8.0, 8.0, 8.0, 8.0, 8.0];
        assert!(least(&[10.0; 8], &placed) > 0.2, "{}", least(&[10.0; 8], &placed));
    }

    #[test]
    fn few_runs_are_less_certain() {
        let certain = |count: usize| least(&vec![10.0; count], &vec![9.0; count]);
        assert!(certain(1) < certain(2) && certain(2) < certain(8));
    }
}
