//! Digests: numbers that ranks compare instead of their arguments.
//!
//! The function is part of the agreement and must not change, since the ranks of one job may run different builds of the
//! library. Its step is a bijection of the state, so arguments of one length that differ in a single element never have
//! equal digests.

use cartograph_shim::splitmix::mix;

/// A digest being computed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Digest(u64);

impl Digest {
    /// Adds a number to the digest.
    #[must_use]
    pub(super) fn number(self, number: u64) -> Self {
        Self(mix(self.0 ^ number))
    }

    /// Adds an array: its length, then its entries in pairs, the first in the upper half.
    #[must_use]
    pub(super) fn array(self, entries: &[i32]) -> Self {
        // Through u32: a negative entry must not touch the other half.
        let half = |entry: i32| u64::from(entry as u32);
        let (pairs, rest) = entries.as_chunks::<2>();
        let start = self.number(entries.len() as u64);
        let paired = pairs.iter().fold(start, |so_far, [first, second]| {
            so_far.number(half(*first) << 32 | half(*second))
        });
        rest.iter().fold(paired, |so_far, last| so_far.number(half(*last) << 32))
    }

    /// The digest.
    pub(super) fn finish(self) -> u64 {
        #[cfg(test)]
        if super::tests::COLLIDING.get() {
            return 0;
        }
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the values that all builds of the library must compute.
    #[test]
    fn the_function_is_pinned() {
        let of = |entries: &[i32]| Digest::default().array(entries).finish();
        let pinned = [
            (&[][..], 0xe220_a839_7b1d_cdaf),
            (&[0], 0x5e41_ab08_7439_611e),
            (&[1, -1], 0x0622_438d_fb46_1a3e),
            (&[1, 2, 3], 0xf9f4_3947_d791_52e4),
        ];
        for (entries, value) in pinned {
            assert_eq!(of(entries), value, "{entries:?}");
        }
        assert_eq!(Digest::default().number(7).array(&[4, 4]).finish(), 0xcd77_92dc_1ee6_b0f4);
    }

    #[test]
    fn boundaries_between_entries_change_the_digest() {
        let of = |arrays: &[&[i32]]| {
            arrays.iter().fold(Digest::default(), |so_far, array| so_far.array(array)).finish()
        };
        let different: [&[&[i32]]; 8] = [
            &[&[1, 2]],
            &[&[2, 1]],
            &[&[1], &[2]],
            &[&[1, 2], &[]],
            &[&[], &[1, 2]],
            &[&[1, 2, 0]],
            &[&[0, 1, 2]],
            &[&[-1, 2]],
        ];
        for (i, one) in different.iter().enumerate() {
            for other in &different[..i] {
                assert_ne!(of(one), of(other), "{one:?} {other:?}");
            }
        }
    }
}
