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

/// A hash of bytes.
pub fn digest(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let start = mix(bytes.len() as u64);
    let all = words.iter().fold(start, |digest, word| mix(digest ^ u64::from_le_bytes(*word)));
    rest.iter().fold(all, |digest, byte| mix(digest ^ u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_equal_the_reference() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(STEP), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn texts_of_zeros_have_different_hashes() {
        let all: Vec<u64> = (0..20).map(|length| digest(&vec![0; length])).collect();
        assert!((1..20).all(|at| !all[..at].contains(&all[at])), "{all:?}");
    }
}
