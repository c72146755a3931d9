//! The weights of a topology's edges, from a recording.

use crate::{Count, Recording};

/// Weights that differ from the recorded ones by no more than this fraction are acceptable if they are small numbers.
const TOLERANCE: f64 = 0.005;

/// The denominators for such small numbers.
const DENOMINATORS: std::ops::RangeInclusive<u32> = 1..=64;

/// The number of bits for the sum of all weights of a graph: the rest suffices for the sums and products of a search.
const SUM_BITS: u32 = 47;

/// Units of bytes, each 1024 times the one before.
const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Converts bytes to the weights of a graph's edges, in a unit in which their sum fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scale {
    /// The index in [`UNITS`].
    unit: usize,
}

impl Scale {
    /// The scale for edges with these bytes.
    pub fn of(bytes: impl Iterator<Item = u64>) -> Self {
        let sum = bytes.fold(0u128, |sum, bytes| sum.saturating_add(bytes.into()));
        let beyond = (u128::BITS - sum.leading_zeros()).saturating_sub(SUM_BITS);
        Self { unit: (beyond.div_ceil(10) as usize).min(UNITS.len() - 1) }
    }

    /// The weight of an edge with these bytes; not 0 if there are any.
    pub fn weight(self, bytes: u64) -> i64 {
        match bytes {
            0 => 0,
            _ => ((bytes >> (10 * self.unit)) as i64).max(1),
        }
    }

    /// The unit of weights.
    pub fn unit(self) -> &'static str {
        UNITS[self.unit]
    }
}

impl Recording {
    /// The weight of an edge along each dimension of a grid of these sides, from the bytes that neighbors in such grids
    /// of `MPI_Cart_create` sent each other, or the number of messages if all were empty. No weight exceeds `most`, and
    /// they are scaled down to small numbers if that is accurate enough. `None` if there was no such grid or nothing
    /// was sent.
    pub fn weights(&self, dims: &[u32], most: i64) -> Option<Vec<i64>> {
        let same =
            |known: &&crate::Topology| known.function == "MPI_Cart_create" && known.dims == dims;
        let mut sent = vec![Count::default(); dims.len()];
        for known in self.topologies.iter().filter(same) {
            sent.iter_mut().zip(&known.along).for_each(|(sum, count)| sum.add(*count));
        }
        let periodic = &self.topologies.iter().find(same)?.periodic;
        let bytes = sent.iter().any(|count| count.bytes > 0);
        let an_edge = |i: usize| {
            let count = if bytes { sent[i].bytes } else { sent[i].messages };
            // In a row of cells, all cells except perhaps one have a next one.
            let side = f64::from(dims[i].max(1));
            let edges = if periodic[i] { side } else { side - 1.0 };
            if edges > 0.0 { count as f64 * side / edges } else { 0.0 }
        };
        let sent: Vec<f64> = (0..dims.len()).map(an_edge).collect();
        let least = sent.iter().copied().filter(|sent| *sent > 0.0).fold(f64::INFINITY, f64::min);
        if least == f64::INFINITY {
            return None;
        }
        let scaled = |unit: f64| sent.iter().map(move |sent| sent / unit);
        let near = |weight: f64| (weight - weight.round()).abs() <= TOLERANCE * weight;
        let units = DENOMINATORS.map(|denominator| least / f64::from(denominator));
        let small = units.into_iter().find(|unit| scaled(*unit).all(near));
        let largest = sent.iter().copied().fold(0.0, f64::max);
        let unit = small.unwrap_or(least / 1000.0).max(largest / most as f64);
        Some(scaled(unit).map(|weight| weight.round() as i64).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Count, Recording, Scale, Topology};

    #[test]
    fn weights_are_bytes_unless_their_sum_is_too_large() {
        let bytes = [0, 1, 1000, 1 << 40];
        let scale = Scale::of(bytes.into_iter());
        assert_eq!(bytes.map(|bytes| scale.weight(bytes)), [0, 1, 1000, 1 << 40]);
        assert_eq!((scale.unit(), Scale::of([].into_iter())), ("bytes", Scale::default()));
        let most = [u64::MAX; 1000];
        let scale = Scale::of(most.into_iter());
        let sum: i64 = most.iter().map(|bytes| scale.weight(*bytes)).sum();
        assert!((1 << 37..1 << 47).contains(&sum), "{sum}");
        assert_eq!((scale.weight(1), scale.weight(0), scale.unit()), (1, 0, "GiB"));
    }

    fn recorded(dims: &[u32], periodic: &[bool], bytes: &[u64]) -> Recording {
        let count = |bytes: &u64| Count { messages: 1, bytes: *bytes };
        let topology = Topology {
            along: bytes.iter().map(count).collect(),
            ..Topology::new("MPI_Cart_create", dims, periodic)
        };
        Recording { topologies: vec![topology], ..Recording::default() }
    }

    #[test]
    fn the_weight_of_an_edge_is_its_traffic() {
        // 4 x 4: 24 edges each way of 4096 and of 256 bytes.
        let recording = recorded(&[4, 4, 1], &[false; 3], &[24 * 4096, 24 * 256, 0]);
        assert_eq!(recording.weights(&[4, 4, 1], 1 << 31), Some(vec![16, 1, 0]));
        assert_eq!(recording.weights(&[4, 4], 1 << 31), None);
        // A ring of 4 has 4 edges where a row has 3; a few messages of other kinds do not matter.
        let recording = recorded(&[4, 4], &[true, false], &[32 * 1000 + 7, 24 * 1500]);
        assert_eq!(recording.weights(&[4, 4], 1 << 31), Some(vec![2, 3]));
        // Not a ratio of small numbers, and a ratio that is too large.
        let recording = recorded(&[2, 2], &[false; 2], &[31_417, 10_000]);
        assert_eq!(recording.weights(&[2, 2], 1 << 31), Some(vec![22, 7]));
        let recording = recorded(&[2, 2], &[false; 2], &[u64::MAX, 1]);
        assert_eq!(recording.weights(&[2, 2], 1000), Some(vec![1000, 0]));
        // Only empty messages, and no messages.
        let mut recording = recorded(&[2, 2], &[false; 2], &[0, 0]);
        assert_eq!(recording.weights(&[2, 2], 1 << 31), Some(vec![1, 1]));
        recording.topologies[0].along = vec![Count::default(); 2];
        assert_eq!(recording.weights(&[2, 2], 1 << 31), None);
    }
}
