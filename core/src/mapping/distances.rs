//! The distance of two processes, by the outermost level between them.

use crate::machine::MOST_LEVELS;

/// The cost of an edge by the distance of its ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Distances {
    /// Inside a node, between nodes of one group of the innermost level above, between such groups of one
    /// group of the next level, and so on; 0 where not given.
    given: [i64; MOST_LEVELS + 1],
}

/// The largest distance that may be given.
pub const MOST_DISTANCE: i64 = 1_000_000;

/// The growth of distances from one level to the next, if they are not given: the literature on mapping to such
/// machines measures with it.
const GROWTH: i64 = 10;

impl Distances {
    /// No distances are given.
    pub const AS_ASSUMED: Self = Self { given: [0; MOST_LEVELS + 1] };

    /// Reads distances from inside a node outward, such as "1,10,100". Those that are not given are 10 times
    /// the one before, and the first is 1.
    ///
    /// # Errors
    ///
    /// The fault, to be read after the name of where it was written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut distances = Self::default();
        let mut before = 0;
        for (at, word) in text.split([',', ':']).enumerate() {
            let number = word.trim().parse().ok().filter(|n| (1..=MOST_DISTANCE).contains(n));
            let number = number.ok_or_else(|| {
                format!(
                    "has '{}', but distances are whole numbers from 1 to {MOST_DISTANCE}",
                    word.trim()
                )
            })?;
            if number < before {
                return Err(format!(
                    "'{text}' has {number} after {before}; farther levels must not cost less"
                ));
            }
            before = number;
            *distances
                .given
                .get_mut(at)
                .ok_or_else(|| format!("'{text}' has more than {} distances", MOST_LEVELS + 1))? =
                number;
        }
        Ok(distances)
    }

    /// The distances from inside a node outward, for so many levels above the nodes.
    pub fn of(&self, above: usize) -> Vec<i64> {
        let mut last = 0;
        let given = self.given.iter().take(above + 2);
        let distance = |given: &i64| {
            last = match (*given, last) {
                (0, 0) => 1,
                (0, last) => (last * GROWTH).min(MOST_DISTANCE * MOST_DISTANCE),
                (given, _) => given,
            };
            last
        };
        given.map(distance).collect()
    }
}
