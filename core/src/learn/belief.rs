//! Beliefs about the gains of placements: predictions, corrected by the accuracy of earlier ones, and the times of
//! jobs.

use super::evidence::{Run, pairs};

/// The assumed noise of a run, as the standard deviation of the logarithm of its time.
pub(super) const NOISE: f64 = 0.08;

/// The same for runs on nodes of different shapes.
pub(super) const NOISE_OF_SHAPES: f64 = 0.1;

/// The fraction of a predicted gain that is usually realized, since replay does not model shared caches and other jobs,
/// and its variance.
const TRUST: f64 = 0.6;
const TRUST_VARIANCE: f64 = 0.16;

/// The error of a corrected prediction: a constant, and a part in proportion to the prediction.
const FORECAST_ERROR: f64 = 0.12;
const FORECAST_PART: f64 = 0.3;

/// The weight of a run relative to that of the next run.
const FADING: f64 = 0.9;

/// A belief about the logarithm of an arm's gain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Belief {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    /// The number of runs of the arm.
    pub(super) runs: usize,
}

/// The belief about each arm, from predictions and the measured gain of each.
pub(super) fn beliefs(
    predicted: &[f64],
    runs: &[Run],
    experience: &[(f64, f64)],
    measured: impl Fn(usize) -> Option<(f64, f64)>,
) -> Vec<Belief> {
    let measured: Vec<Option<(f64, f64)>> = (0..predicted.len()).map(measured).collect();
    let here = predicted.iter().zip(&measured).skip(1);
    let here = here.filter_map(|(predicted, found)| {
        found.map(|(mean, variance)| (predicted.max(1.0).ln(), mean, variance))
    });
    let elsewhere = experience.iter().map(|(predicted, found)| {
        (predicted.max(1.0).ln(), found.max(1e-3).ln(), 2.0 * NOISE.powi(2))
    });
    let trust = trust(here.chain(elsewhere));
    let belief = |arm: usize| {
        if arm == 0 {
            return Belief { mean: 0.0, deviation: 0.0, runs: 0 };
        }
        let runs = runs.iter().filter(|run| run.arm == arm).count();
        let predicted = predicted[arm].max(1.0).ln();
        let (before, error) = (trust * predicted, forecast_error(predicted));
        match measured[arm] {
            None => Belief { mean: before, deviation: error, runs },
            Some((found, variance)) => {
                let certain = error.powi(-2);
                let all = certain + variance.recip();
                let mean = (certain * before + found / variance) / all;
                Belief { mean, deviation: all.recip().sqrt(), runs }
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

/// The measured logarithm of an arm's gain over another, and its variance. It is the median of comparisons, of which
/// later ones count more; of two, it is the smaller one.
pub(super) fn measured(runs: &[Run], over: usize, arm: usize, noise: f64) -> Option<(f64, f64)> {
    let (mut all, mut weights, mut squares) = (Vec::new(), 0.0, 0.0);
    for pair in pairs(runs, over, arm) {
        let weight = FADING.powi((runs.len() - pair.at) as i32) / pair.variance;
        all.push((pair.difference, weight));
        weights += weight;
        squares += weight * weight * pair.variance;
    }
    all.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let lower = weighted_median(all.iter().copied(), weights)?;
    let upper = weighted_median(all.iter().rev().copied(), weights)?;
    let middle = if all.len() > 2 { f64::midpoint(lower, upper) } else { lower.min(upper) };
    Some((middle, noise * squares / (weights * weights)))
}

/// The first of sorted numbers up to which half of all weights are reached.
fn weighted_median(mut sorted: impl Iterator<Item = (f64, f64)>, weights: f64) -> Option<f64> {
    let mut below = 0.0;
    let middle = sorted.find(|(_, weight)| {
        below += weight;
        below >= weights / 2.0
    });
    middle.map(|(number, _)| number)
}
