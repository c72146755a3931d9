//! The blocks that go from process to process, as edges.

use std::collections::BTreeMap;

use crate::engine::digest::Digest;

/// The other end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// The process.
    pub rank: i32,
    /// The number that distinguishes blocks between one pair of processes.
    pub pairing: i32,
}

/// A block that goes from one process to another: of those with the same pairing the `copy`-th, which is the
/// same at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: i32,
    pub(super) to: i32,
    pub(super) pairing: i32,
    pub(super) copy: i32,
}

/// The value for no process.
pub(super) const NO_RANK: i32 = -1;

/// The edges of one side, in the order of the ends.
pub(super) fn edges(ends: &[Endpoint], edge: impl Fn(&Endpoint, i32) -> Edge) -> Vec<Edge> {
    let mut copies: BTreeMap<(i32, i32), i32> = BTreeMap::new();
    let number = |end: &Endpoint| {
        let copy = copies.entry((end.rank, end.pairing)).or_default();
        *copy += 1;
        edge(end, *copy - 1)
    };
    ends.iter().map(number).collect()
}

/// Numbers that are 0 in the sum over all processes where both ends give each edge: in 2^62 cases of others one
/// passes.
pub(super) fn imbalance(leaving: &[Edge], arriving: &[Edge]) -> [i64; 2] {
    const HALF: u64 = (1 << 31) - 1;
    let mut sums = [0; 2];
    for (edges, sign) in [(leaving, 1), (arriving, -1)] {
        for Edge { from, to, pairing, copy } in edges {
            let number = Digest::default().array(&[*from, *to, *pairing, *copy]).finish();
            sums[0] += sign * (number & HALF) as i64;
            sums[1] += sign * (number >> 33) as i64;
        }
    }
    sums
}
