//! The coordinates of nodes in a torus, a mesh or a ring.

use std::collections::HashSet;

/// The largest number of dimensions.
pub const MOST_DIMS: usize = 3;

/// Coordinates are smaller than this.
const MOST: u16 = 1 << 10;

/// Coordinates; those of missing dimensions are 0.
pub type At = [u16; MOST_DIMS];

/// The positions of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Torus {
    /// For each dimension, the number of positions if its ends are neighbors; 0 if that is unknown, which means a mesh.
    pub rings: At,
    /// The coordinates of each node.
    pub at: Box<[At]>,
}

impl Torus {
    /// The length of the shortest path between two positions along a dimension, and whether it leads upward.
    pub fn way(&self, dimension: usize, from: u16, to: u16) -> (u16, bool) {
        let ahead = from.abs_diff(to);
        let (ring, upward) = (self.rings[dimension], to > from);
        if ring > 0 && 2 * ahead > ring { (ring - ahead, !upward) } else { (ahead, upward) }
    }

    /// The number of links between two nodes.
    pub fn hops(&self, a: u32, b: u32) -> i64 {
        let (a, b) = (self.at[a as usize], self.at[b as usize]);
        (0..MOST_DIMS).map(|i| i64::from(self.way(i, a[i], b[i]).0)).sum()
    }

    /// The links from one node to another by dimension-order routing, as in most networks: where each link begins, and
    /// its direction.
    pub fn route(&self, a: u32, b: u32, mut visit: impl FnMut((At, usize))) {
        let (mut at, to) = (self.at[a as usize], self.at[b as usize]);
        for i in 0..MOST_DIMS {
            let (steps, upward) = self.way(i, at[i], to[i]);
            let direction = 2 * i + usize::from(upward);
            for _ in 0..steps {
                visit((at, direction));
                at = self.beside(at, direction);
            }
        }
    }

    /// The position next to another: 2 directions per dimension, downward and upward. Beyond an end, it is the end.
    pub fn beside(&self, mut at: At, direction: usize) -> At {
        let (i, upward) = (direction / 2, direction % 2 == 1);
        let (place, ring) = (at[i], self.rings[i]);
        at[i] = match upward {
            true if ring > 0 && place + 1 == ring => 0,
            true => place + 1,
            false if place == 0 => ring.saturating_sub(1),
            false => place - 1,
        };
        at
    }

    /// The coordinates of some of the nodes: node `i` of the result is `nodes[i]` here.
    #[must_use]
    pub fn select(&self, nodes: impl Iterator<Item = u32>) -> Self {
        Self { rings: self.rings, at: nodes.map(|node| self.at[node as usize]).collect() }
    }

    /// The coordinates of nodes, if all nodes have some and no two have the same.
    pub(super) fn of_nodes(rings: At, at: &[Option<At>]) -> Option<Self> {
        let mut taken = HashSet::new();
        let fits =
            |at: &At| (0..MOST_DIMS).all(|i| at[i] < if rings[i] > 0 { rings[i] } else { MOST });
        let own = |at: &Option<At>| at.filter(|at| fits(at) && taken.insert(*at));
        Some(Self { rings, at: at.iter().map(own).collect::<Option<_>>()? })
    }

    /// The positions as words for a message to another process.
    pub(super) fn words(&self) -> impl Iterator<Item = u32> + '_ {
        [self.rings].into_iter().chain(self.at.iter().copied()).map(packed)
    }

    /// The positions from [`words`](Self::words) that another process sent.
    pub(super) fn from_words(words: &[u32]) -> Option<Self> {
        let (rings, at) = words.split_first()?;
        let at = at.iter().map(|word| unpacked(*word)).collect::<Option<_>>()?;
        Some(Self { rings: unpacked(*rings)?, at })
    }
}

/// Coordinates in one word.
pub(super) fn packed(at: At) -> u32 {
    at.iter().fold(0, |word, number| word << 10 | u32::from(*number))
}

/// The coordinates in a word, if it has some.
pub(super) fn unpacked(word: u32) -> Option<At> {
    let number = |i: usize| (word >> (10 * (MOST_DIMS - 1 - i)) & 1023) as u16;
    (word >> (10 * MOST_DIMS) == 0).then(|| std::array::from_fn(number))
}

/// Reads coordinates or sides, such as "3:0:1".
pub(super) fn numbers(text: &str, separator: char) -> Option<At> {
    let mut at = At::default();
    let mut places = at.iter_mut();
    for word in text.split(separator) {
        *places.next()? = word.parse().ok().filter(|number| *number < MOST)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn torus(rings: At, at: &[At]) -> Option<Torus> {
        Torus::of_nodes(rings, &at.iter().copied().map(Some).collect::<Vec<_>>())
    }

    #[test]
    fn routes_follow_rings_dimension_by_dimension() {
        let found = torus([8, 0, 0], &[[1, 0, 0], [7, 2, 0], [5, 0, 0]]).unwrap();
        assert_eq!((found.hops(0, 1), found.hops(1, 0), found.hops(0, 2)), (4, 4, 4));
        let mut links = Vec::new();
        found.route(0, 1, |link| links.push(link));
        let down = [[1, 0, 0], [0, 0, 0]].map(|at| (at, 0));
        let up = [[7, 0, 0], [7, 1, 0]].map(|at| (at, 3));
        assert_eq!(links, [down, up].concat());
        links.clear();
        found.route(1, 0, |link| links.push(link));
        assert_eq!(links[..2], [([7, 2, 0], 1), ([0, 2, 0], 1)]);
        assert_eq!(found.select([1].into_iter()).at[..], [[7, 2, 0]]);
    }

    #[test]
    fn two_nodes_at_one_place_are_an_error() {
        assert!(torus([0; 3], &[[1, 2, 3], [1, 2, 4]]).is_some());
        assert_eq!(torus([0; 3], &[[1, 2, 3], [1, 2, 3]]), None);
        assert_eq!(torus([4, 4, 4], &[[1, 2, 4]]), None);
        assert_eq!(Torus::of_nodes([0; 3], &[Some([1, 0, 0]), None]), None);
    }

    #[test]
    fn coordinates_are_read_from_words_and_texts() {
        let found = torus([8, 9, 0], &[[7, 8, 1023], [0, 1, 2]]).unwrap();
        let words: Vec<u32> = found.words().collect();
        assert_eq!(Torus::from_words(&words), Some(found));
        assert_eq!(Torus::from_words(&[0, 1 << 30]), None);
        assert_eq!(numbers("3:0:1", ':'), Some([3, 0, 1]));
        assert_eq!(numbers("12", ':'), Some([12, 0, 0]));
        for text in ["", "1:2:3:4", "1::2", "1024", "-1"] {
            assert_eq!(numbers(text, ':'), None, "{text}");
        }
    }
}
