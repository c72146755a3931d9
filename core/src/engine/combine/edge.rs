//! The blocks that processes exchange, as edges.

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

/// A block sent from one process to another: the `copy`-th of those with the same pairing, which is the same number at
/// both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: i32,
    pub(super) to: i32,
    pub(super) pairing: i32,
    pub(super) copy: i32,
}

/// "No process".
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

/// Numbers whose sum over all processes is 0 if both ends of each edge agree; otherwise, one of 2^62 cases passes.
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
