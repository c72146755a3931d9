//! Reproducible random numbers.

use cartograph_shim::splitmix::{STEP, mix};

/// A small generator of pseudo-random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(in crate::mapping) struct Rng {
    state: u64,
}

impl Rng {
    pub(in crate::mapping) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(in crate::mapping) fn next(&mut self) -> u64 {
        let number = mix(self.state);
        self.state = self.state.wrapping_add(STEP);
        number
    }

    /// A number in `0..bound`; `bound` is not 0.
    pub(in crate::mapping) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    pub(in crate::mapping) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Approximately exponentially distributed: the logarithm is piecewise linear, so that only operations are used
    /// that every machine rounds alike.
    pub(in crate::mapping) fn exponential(&mut self) -> f64 {
        let bits = self.next() | 1;
        let zeros = bits.leading_zeros();
        let mantissa = (bits << zeros) as f64 / 2f64.powi(63);
        (f64::from(zeros) + 2.0 - mantissa) * std::f64::consts::LN_2
    }
}
