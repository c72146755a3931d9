//! Dims for a box with different sides: those with the fewest bytes between processes.

use std::fmt;
use std::str::FromStr;

use super::super::Error;

/// The proportions of a grid's domain: the cost of one more cut across each dimension.
///
/// A box of sides L that is cut into d pieces along a dimension has d - 1 faces across it, each as large as the box
/// divided by L. If it is periodic, it has d faces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxShape {
    /// Bytes of a cut across the whole box, in an arbitrary unit.
    cuts: Vec<u128>,
}

/// The text is not a valid box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoBox(String);

impl fmt::Display for NoBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid value '{}' (expected sides such as 1x1x10, each from 1 to {MOST_SIDE})",
            self.0
        )
    }
}

impl std::error::Error for NoBox {}

/// Longer sides are a typing error.
const MOST_SIDE: u32 = 1_000_000;

/// The most sides above 1 of a grid whose number of processes is an `i32`.
const MOST_CUT: usize = 30;

impl BoxShape {
    /// The shape of a box with these sides; `None` if a side is 0, or their common multiple has more than 64 bits.
    pub fn from_sides(sides: &[u32]) -> Option<Self> {
        let mut common = 1_u128;
        for &side in sides {
            let side = u128::from(side);
            common = common.checked_mul(side / gcd(common, side.max(1)))?;
            if common == 0 || common > u128::from(u64::MAX) {
                return None;
            }
        }
        Some(Self { cuts: sides.iter().map(|&side| common / u128::from(side)).collect() })
    }

    /// The shape, from the bytes of a process's face across each dimension in a grid of these dims. `None` if a
    /// dimension is not cut, since nothing is known about it then, or a face has no bytes.
    pub fn from_faces(dims: &[u32], faces: &[u64]) -> Option<Self> {
        // A cut has a face for each process in the other dimensions.
        let cells: u128 = dims.iter().map(|side| u128::from(*side)).product();
        let known = dims.len() == faces.len() && dims.iter().all(|side| *side > 1);
        if !known || faces.contains(&0) || cells > i32::MAX as u128 {
            return None;
        }
        let cut = |(side, face): (&u32, &u64)| u128::from(*face) * (cells / u128::from(*side));
        Some(Self { cuts: dims.iter().zip(faces).map(cut).collect() })
    }

    /// The smallest sides of such a box; `None` if they are too long.
    pub fn sides(&self) -> Option<Vec<u32>> {
        let mut common = 1_u128;
        for cut in &self.cuts {
            common = common.checked_mul(cut / gcd(common, *cut))?;
        }
        let side = |cut: &u128| u32::try_from(common / cut).ok().filter(|side| *side <= MOST_SIDE);
        self.cuts.iter().map(side).collect()
    }

    /// The number of dimensions.
    pub fn ndims(&self) -> usize {
        self.cuts.len()
    }

    /// Bytes between processes of a grid with these dims, in the unit of the shape; across the ends of periodic
    /// dimensions too.
    pub fn bytes(&self, dims: &[i32], periodic: &[bool]) -> u128 {
        let dimensions = dims.iter().zip(&self.cuts).zip(periodic);
        dimensions
            .map(|((&side, cut), &periodic)| u128::from(faces(side as u32, periodic)) * cut)
            .sum()
    }

    /// The dims of `nnodes` processes with the fewest bytes. Among equal ones, those with the largest first dimension,
    /// then second, and so on.
    ///
    /// # Errors
    ///
    /// [`Error::NnodesNotPositive`]; [`Error::DimsProduct`] for no dimensions and more than one process.
    pub fn dims(&self, nnodes: i32, periodic: &[bool]) -> Result<Vec<i32>, Error> {
        if nnodes < 1 {
            return Err(Error::NnodesNotPositive { nnodes });
        }
        if self.cuts.is_empty() && nnodes > 1 {
            return Err(Error::DimsProduct { nnodes, product: 1 });
        }
        let divisors = divisors(nnodes as u32);
        // Dimensions that cost more than enough others are not cut: their divisors would cost less there.
        let mut cut: Vec<usize> = (0..self.cuts.len()).collect();
        let periods = |i: usize| periodic.get(i).copied().unwrap_or(false);
        for ends in [false, true] {
            let mut alike: Vec<usize> =
                cut.iter().copied().filter(|i| periods(*i) == ends).collect();
            alike.sort_by_key(|i| self.cuts[*i]);
            let beyond = alike.split_off(alike.len().min(MOST_CUT));
            cut.retain(|i| !beyond.contains(i));
        }

        // least[k][i]: the fewest bytes of the dimensions from cut[k] on that have divisors[i] processes, with the side
        // of cut[k].
        let mut least: Vec<Vec<Option<(u128, u32)>>> = Vec::new();
        for &dimension in cut.iter().rev() {
            let cost =
                |side: u32| u128::from(faces(side, periods(dimension))) * self.cuts[dimension];
            let best = |whole: u32| {
                let mut best: Option<(u128, u32)> = None;
                for &side in divisors.iter().rev().filter(|side| whole.is_multiple_of(**side)) {
                    let rest = match least.last() {
                        Some(next) => {
                            divisors.binary_search(&(whole / side)).ok().and_then(|at| next[at])
                        }
                        None => (whole == side).then_some((0, 1)),
                    };
                    let found = rest.map(|(rest, _)| (rest + cost(side), side));
                    best = match (best, found) {
                        (Some(best), Some(found)) if found.0 >= best.0 => Some(best),
                        (best, found) => found.or(best),
                    };
                }
                best
            };
            let level = divisors.iter().map(|&whole| best(whole)).collect();
            least.push(level);
        }
        let mut dims = vec![1; self.cuts.len()];
        let mut whole = nnodes as u32;
        for (&dimension, level) in cut.iter().zip(least.iter().rev()) {
            let at = divisors.binary_search(&whole).expect("a divisor's quotient is one");
            let (_, side) =
                level[at].expect("any number can be divided into its product with ones");
            dims[dimension] = side as i32;
            whole /= side;
        }
        Ok(dims)
    }
}

impl FromStr for BoxShape {
    type Err = NoBox;

    fn from_str(text: &str) -> Result<Self, NoBox> {
        let side = |word: &str| {
            let side = word.trim().parse().ok()?;
            (1..=MOST_SIDE).contains(&side).then_some(side)
        };
        let sides: Option<Vec<u32>> = text.split('x').map(side).collect();
        sides.and_then(|sides| Self::from_sides(&sides)).ok_or_else(|| NoBox(text.to_owned()))
    }
}

/// The number of faces across a dimension, divided by that of one cut.
fn faces(side: u32, periodic: bool) -> u32 {
    if periodic && side > 1 { side } else { side - 1 }
}

fn gcd(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// All divisors, ascending.
fn divisors(n: u32) -> Vec<u32> {
    let root = n.isqrt();
    let mut found: Vec<u32> = (1..=root).filter(|divisor| n.is_multiple_of(*divisor)).collect();
    let large: Vec<u32> =
        found.iter().rev().map(|divisor| n / divisor).filter(|divisor| *divisor > root).collect();
    found.extend(large);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All factorizations of a number.
    fn all(n: i32, count: usize) -> Vec<Vec<i32>> {
        if count == 0 {
            return if n == 1 { vec![Vec::new()] } else { Vec::new() };
        }
        let first = (1..=n).rev().filter(|side| n % side == 0);
        first
            .flat_map(|side| {
                all(n / side, count - 1).into_iter().map(move |rest| [&[side], &rest[..]].concat())
            })
            .collect()
    }

    #[test]
    fn no_dims_have_fewer_bytes() {
        let boxes: [&[u32]; 9] = [
            &[1, 1],
            &[1, 10],
            &[7, 3],
            &[1, 1, 1],
            &[1, 1, 10],
            &[10, 10, 1],
            &[3, 2, 5],
            &[1, 1, 1, 1],
            &[4, 1, 2, 8],
        ];
        for sides in boxes {
            let shape = BoxShape::from_sides(sides).unwrap();
            for mask in 0..1_u32 << sides.len() {
                let periodic: Vec<bool> = (0..sides.len()).map(|i| mask >> i & 1 == 1).collect();
                for n in 1..=96 {
                    let found = shape.dims(n, &periodic).unwrap();
                    // `all` lists larger first sides first, so these win if several dims are equally good.
                    let mut best: Option<Vec<i32>> = None;
                    for dims in all(n, sides.len()) {
                        let bytes = |dims: &Vec<i32>| shape.bytes(dims, &periodic);
                        if best.as_ref().is_none_or(|best| bytes(&dims) < bytes(best)) {
                            best = Some(dims);
                        }
                    }
                    assert_eq!(Some(found), best, "{n} in {sides:?} {periodic:?}");
                }
            }
        }
    }

    #[test]
    fn long_boxes_are_cut_along_their_length() {
        let shape: BoxShape = "1x1x10".parse().unwrap();
        assert_eq!(shape.dims(64, &[]).unwrap(), [2, 2, 16]);
        assert_eq!(shape.bytes(&[4, 4, 4], &[false; 3]), 63);
        assert_eq!(shape.bytes(&[2, 2, 16], &[false; 3]), 35);
        // In a periodic dimension of one process, each process is its own neighbor, and sends nothing.
        assert_eq!(shape.bytes(&[1, 1, 1], &[true; 3]), 0);
        assert_eq!(shape.bytes(&[3, 2, 1], &[true; 3]), 50);
        assert_eq!(shape.ndims(), 3);
        let shape: BoxShape = "10x10x1".parse().unwrap();
        assert_eq!(shape.dims(64, &[]).unwrap(), [8, 8, 1]);
    }

    #[test]
    fn faces_determine_the_box() {
        // 4 x 4 x 4 processes with blocks of 8 x 8 x 80.
        let shape = BoxShape::from_faces(&[4, 4, 4], &[640, 640, 64]).unwrap();
        assert_eq!(shape.dims(64, &[]).unwrap(), [2, 2, 16]);
        assert_eq!(shape.sides(), Some(vec![1, 1, 10]));
        // 2 x 2 x 16 with blocks of 16 x 16 x 20: the same box.
        let shape = BoxShape::from_faces(&[2, 2, 16], &[320, 320, 256]).unwrap();
        assert_eq!(shape.dims(64, &[]).unwrap(), [2, 2, 16]);
        assert_eq!(BoxShape::from_faces(&[4, 1], &[1, 1]), None);
        assert_eq!(BoxShape::from_faces(&[4, 4], &[1, 0]), None);
        // No grid has more processes than an `i32` counts.
        assert!(BoxShape::from_faces(&[i32::MAX as u32], &[1]).is_some());
        assert_eq!(BoxShape::from_faces(&[1 << 16, 1 << 15], &[1, 1]), None);
    }

    #[test]
    fn faces_that_fit_no_box_are_refused() {
        for text in ["", "x", "0x1", "1x", "-1x2", "1.5x2", "10000000x1"] {
            let error = text.parse::<BoxShape>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("invalid value '{text}'")), "{error}");
        }
        assert_eq!("2x4".parse::<BoxShape>().unwrap(), "1x2".parse().unwrap());
        assert!(matches!(
            "1x1".parse::<BoxShape>().unwrap().dims(0, &[]),
            Err(Error::NnodesNotPositive { .. })
        ));
        let no_dimensions = BoxShape::from_sides(&[]).unwrap();
        assert!(no_dimensions.dims(2, &[]).is_err());
        assert_eq!(no_dimensions.dims(1, &[]), Ok(Vec::new()));
        // The common multiple of their sides: 2^64 - 1, which just fits, and more.
        let most = [3 * 5 * 17 * 257 * 641, 65_537, 6_700_417];
        assert!(BoxShape::from_sides(&most).is_some());
        assert_eq!(BoxShape::from_sides(&[65_536, 65_537, 65_539, 65_543]), None);
        assert_eq!(BoxShape::from_sides(&[2, 0]), None);
    }

    #[test]
    fn each_divisor_occurs_once() {
        assert_eq!(divisors(36), [1, 2, 3, 4, 6, 9, 12, 18, 36]);
        assert_eq!(divisors(12), [1, 2, 3, 4, 6, 12]);
        assert_eq!(divisors(1), [1]);
    }

    #[test]
    fn many_dimensions_take_no_time() {
        let shape = BoxShape::from_sides(&[1; 1000]).unwrap();
        let dims = shape.dims(1 << 30, &[]).unwrap();
        assert_eq!(dims.iter().filter(|side| **side == 2).count(), 30);
        assert_eq!(&dims[..30], [2; 30]);
        let shape = BoxShape::from_sides(&[1, 2, 3, 4, 5, 6]).unwrap();
        let dims = shape.dims(2_095_133_040, &[]).unwrap();
        assert_eq!(dims.iter().map(|side| i64::from(*side)).product::<i64>(), 2_095_133_040);
    }
}
