//! What bounds and steers the search: a count of steps, and random numbers that are always the same.

/// Steps a second on a machine of today. A step is one edge looked at.
const STEPS_A_SECOND: f64 = 90e6;

/// How many steps are left. Counted instead of timed, so that every process gets the same answer.
#[derive(Debug, Clone)]
pub(super) struct Work {
    left: u64,
}

impl Work {
    /// As much as takes about `seconds`.
    pub(super) fn seconds(seconds: f64) -> Self {
        // The cast saturates, and makes 0 of what is no number.
        Self { left: (seconds * STEPS_A_SECOND) as u64 }
    }

    /// Notes steps that were done.
    pub(super) fn spend(&mut self, steps: usize) {
        self.left = self.left.saturating_sub(steps as u64);
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// A small generator of pseudo-random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(super) struct Rng {
    state: u64,
}

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`; `bound` is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
