//! Statistics of times: ratios of interleaved runs.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The part of a distribution below the upper end of a 95 % confidence interval.
const BELOW_UPPER_END: f64 = 0.975;

/// The speed of one variant relative to another, with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gain {
    pub(crate) mean: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Gain {
    /// Of runs in pairs, at least two: the mean of the logarithms of their ratios.
    pub(crate) fn of(now: &[f64], other: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> =
            now.iter().zip(other).map(|(now, other)| (now / other).ln()).collect();
        let count = ratios.len();
        if count < 2 || ratios.iter().any(|ratio| !ratio.is_finite()) {
            return None;
        }
        let mean = ratios.iter().sum::<f64>() / count as f64;
        let squares: f64 = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
        let error = (squares / (count - 1) as f64 / count as f64).sqrt();
        let student = StudentsT::new(0.0, 1.0, (count - 1) as f64).ok()?;
        let far = student.inverse_cdf(BELOW_UPPER_END) * error;
        Some(Self { mean: mean.exp(), least: (mean - far).exp(), most: (mean + far).exp() })
    }
}

pub(crate) fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_sure_only_if_the_runs_agree() {
        let sure = Gain::of(&[2.0, 2.02, 1.98], &[1.0, 1.01, 1.0]).unwrap();
        assert!(sure.least > 1.9 && sure.most < 2.1, "{sure:?}");
        let unsure = Gain::of(&[2.0, 1.0, 1.5], &[1.0, 1.2, 1.4]).unwrap();
        assert!(unsure.mean > 1.1 && unsure.least < 1.0, "{unsure:?}");
        // Two runs that agree by chance are not enough for a small gain.
        let two = Gain::of(&[1.10, 1.05], &[1.0, 1.0]).unwrap();
        assert!(two.least < 1.0, "{two:?}");
        assert_eq!(Gain::of(&[1.0], &[2.0]), None);
        // The interval of n runs whose logarithms of ratios are 0 and 1 in equal numbers, and its quantile of a table.
        for (runs, quantile) in [(2, 12.706), (4, 3.182), (12, 2.201), (22, 2.080), (122, 1.980)] {
            let now: Vec<f64> = (0..runs).map(|run| f64::from(run % 2).exp()).collect();
            let Gain { mean, least, .. } = Gain::of(&now, &vec![1.0; now.len()]).unwrap();
            let error = 0.5 / f64::from(runs - 1).sqrt();
            let far = (mean.ln() - least.ln()) / error;
            assert!((far - quantile).abs() < 6e-4, "{runs} runs: {far}");
        }
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0])), (2.0, 2.5));
    }
}
