//! The pattern of a program's messages as one sum per process, which takes a multiplication and an addition for each
//! message.

use cartograph_shim::splitmix::mix;

/// The bits of a weight.
const BITS: u32 = 12;

/// The range of weights: they are at least `-WEIGHTS / 2` and less than `WEIGHTS / 2`.
pub const WEIGHTS: i64 = 1 << BITS;

/// The weight of the bytes that one rank sends to another, or fetches from it. The weighted sum of all bytes of a rank
/// shows whether two runs sent them to the same ranks: for each rank, all partners have different weights, which look
/// random.
pub fn partner_weight(rank: u32, partner: u32) -> i64 {
    (mix(u64::from(rank) << 32 | u64::from(partner)) >> (u64::BITS - BITS)) as i64 - WEIGHTS / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_partners_differ_by_a_third_of_their_range() {
        let all = (0..64).flat_map(|rank| (0..64).map(move |partner| (rank, partner)));
        let weights: Vec<i64> = all.map(|(rank, partner)| partner_weight(rank, partner)).collect();
        assert!(weights.iter().all(|weight| (-WEIGHTS / 2..WEIGHTS / 2).contains(weight)));
        let mean = weights.iter().sum::<i64>() as f64 / weights.len() as f64;
        assert!(mean.abs() < 0.02 * WEIGHTS as f64, "{mean}");
        let apart: i64 = weights.windows(2).map(|pair| (pair[0] - pair[1]).abs()).sum();
        let apart = apart as f64 / weights.len() as f64 / WEIGHTS as f64;
        assert!((apart - 1.0 / 3.0).abs() < 0.02, "{apart}");
    }
}
