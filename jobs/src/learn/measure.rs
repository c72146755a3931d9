//! Statistics of times: ratios of interleaved runs.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Runs whose times agree more closely do so by chance, or because of the clock's resolution.
pub(super) const LEAST_NOISE: f64 = 0.003;

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

/// The speed of an arm relative to the default order, or of one variant to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// The geometric mean.
    pub mean: f64,
    /// The lower limit of the interval.
    pub least: f64,
    /// The upper limit.
    pub most: f64,
    /// The number of comparisons.
    pub pairs: usize,
}

/// The speed of one variant relative to another, from at least two pairs of runs: the mean of the logarithms of their
/// ratios. An interval at a level of 0.05 contains the true speed in 95 % of cases, if the number of runs does not
/// depend on their times.
pub fn paired_gain(now: &[f64], other: &[f64], level: f64) -> Option<Gain> {
    let ratios: Vec<f64> = now.iter().zip(other).map(|(now, other)| (now / other).ln()).collect();
    let pairs = ratios.len();
    if pairs < 2 || ratios.iter().any(|ratio| !ratio.is_finite()) {
        return None;
    }
    let mean = ratios.iter().sum::<f64>() / pairs as f64;
    let squares: f64 = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
    let noise = (squares / (pairs - 1) as f64).sqrt().max(LEAST_NOISE);
    let student = StudentsT::new(0.0, 1.0, (pairs - 1) as f64).ok()?;
    let far = student.inverse_cdf(1.0 - level / 2.0) * noise / (pairs as f64).sqrt();
    Some(Gain { mean: mean.exp(), least: (mean - far).exp(), most: (mean + far).exp(), pairs })
}

/// The order in which variants run: each round begins with the next variant, so that a machine that slows down or
/// speeds up affects all of them alike.
pub fn turns(round: u32, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |turn| (turn + round as usize) % count)
}

/// The median; NaN if there are no times.
pub fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

/// The middle number, or the lower one of the two in the middle: most disturbances make runs slower. `None` if there are
/// no numbers.
pub(super) fn lower_median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(now: &[f64], other: &[f64]) -> Option<Gain> {
        paired_gain(now, other, 0.05)
    }

    #[test]
    fn a_gain_is_certain_only_if_the_runs_agree() {
        let sure = of(&[2.0, 2.02, 1.98], &[1.0, 1.01, 1.0]).unwrap();
        assert!(sure.least > 1.9 && sure.most < 2.1, "{sure:?}");
        let unsure = of(&[2.0, 1.0, 1.5], &[1.0, 1.2, 1.4]).unwrap();
        assert!(unsure.mean > 1.1 && unsure.least < 1.0, "{unsure:?}");
        // Two runs that agree by chance do not prove a small gain.
        let two = of(&[1.10, 1.05], &[1.0, 1.0]).unwrap();
        assert!(two.least < 1.0, "{two:?}");
        assert_eq!(of(&[1.0], &[2.0]), None);
        // The interval of n runs in which half of the logarithms of ratios are 0 and half are 1, with the quantile from
        // a table.
        for (runs, quantile) in [(2, 12.706), (4, 3.182), (12, 2.201), (22, 2.080), (122, 1.980)] {
            let now: Vec<f64> = (0..runs).map(|run| f64::from(run % 2).exp()).collect();
            let Gain { mean, least, .. } = of(&now, &vec![1.0; now.len()]).unwrap();
            let error = 0.5 / f64::from(runs - 1).sqrt();
            let far = (mean.ln() - least.ln()) / error;
            assert!((far - quantile).abs() < 6e-4, "{runs} runs: {far}");
        }
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0])), (2.0, 2.5));
    }
}
