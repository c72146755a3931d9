//! The SplitMix64 generator (Steele, Lea and Flood, 2014). Ranks of one job may run different builds of the library and
//! compare these numbers, so they must not change.

/// The difference between successive states.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that the generator returns in the state `x`: a bijection that mixes all bits.
pub const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(STEP);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_equal_the_reference() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(STEP), 0x6e78_9e6a_a1b9_65f4);
    }
}
