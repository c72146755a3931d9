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

/// The growth of distances that are not given: from inside a node to another node, and from each further level to the
/// next. On SMPI, seven exchanges on fat trees and dragonflies take 0.97 times as long as with 1:10:100 and the sum
/// (0.89 to 1.16); with host files they took 0.96 times as long, and with 1:10:20 0.98 times.
const GROWTH: [i64; 2] = [10, 3];

impl Distances {
    /// No distances are given.
    pub const NOT_GIVEN: Self = Self { given: [0; MOST_LEVELS + 1] };

    /// Parses distances from inside a node outward, such as "1,10,100". If some are missing, the first is 1, the second
    /// 10 times that, and each further one three times the previous.
    ///
    /// # Errors
    ///
    /// The fault, as text that follows the name of the source.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut distances = Self::default();
        let mut before = 0;
        for (at, word) in text.split([',', ':']).enumerate() {
            let number = word.trim().parse().ok().filter(|n| (1..=MOST_DISTANCE).contains(n));
            let number = number.ok_or_else(|| {
                format!(
                    "invalid distance '{}' (expected whole numbers from 1 to {MOST_DISTANCE})",
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

    /// The distances from inside a node outward, for this number of levels above the nodes.
    pub fn of(&self, above: usize) -> Vec<i64> {
        let mut last = 1;
        let given = self.given.iter().take(above + 2).enumerate();
        let distance = |(level, given): (usize, &i64)| {
            last = match (*given, level) {
                (0, 0) => 1,
                (0, level) => {
                    (last * GROWTH[(level - 1).min(1)]).min(MOST_DISTANCE * MOST_DISTANCE)
                }
                (given, _) => given,
            };
            last
        };
        given.map(distance).collect()
    }
}
