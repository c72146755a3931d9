//! The limits of a small recording, as made by `cartograph run`: its size does not grow with that of the job.

use std::cmp::Reverse;

use crate::MOST_EVENTS;

/// The most calls in order over all processes: replay uses no more.
const MOST_CALLS: u32 = 4_000_000;

/// Fewer calls of a process are not worth keeping: this is some steps of a halo exchange.
const FEWEST_CALLS: u32 = 64;

/// The most bytes that all processes write together. Each has the same share, with about this many bytes for lines
/// other than sums with other processes and grids.
const MOST_BYTES: u32 = 190_000_000;
const OTHER_BYTES: u32 = 500;

/// The approximate maximal size of a call that is kept in order; calls take half of a process's share if that is
/// enough.
const CALL_BYTES: u32 = 50;

/// The approximate maximal size of such a sum, and of a grid; all grids together take a fifth.
const SUM_BYTES: u32 = 60;
const GRID_BYTES: u32 = 130;

/// The limits of each process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most calls that are kept in order.
    pub calls: usize,
    /// The most sums with other processes, sent and fetched each.
    pub sums: usize,
    /// The most grids.
    pub grids: usize,
}

impl Limits {
    /// The limits in a job of this size.
    ///
    /// All processes keep the same number of calls, so that each replayed message has both of its ends.
    pub fn new(size: u32) -> Self {
        let bytes = (MOST_BYTES / size.max(1)).saturating_sub(OTHER_BYTES);
        let calls = (MOST_CALLS / size.max(1)).min(bytes / 2 / CALL_BYTES).min(MOST_EVENTS as u32);
        let calls = if calls >= FEWEST_CALLS { calls } else { 0 };
        let bytes = bytes - calls * CALL_BYTES;
        Self {
            calls: calls as usize,
            sums: (bytes * 4 / 5 / SUM_BYTES).max(1) as usize,
            grids: (bytes / 5 / GRID_BYTES).max(1) as usize,
        }
    }

    /// Keeps only the largest sums of a process with others. Among equal sums, both ends keep the same.
    pub fn keep_largest<T>(&self, rank: u32, sums: &mut Vec<T>, of: impl Fn(&T) -> (u32, u64)) {
        if sums.len() > self.sums {
            sums.sort_by_cached_key(|sum| {
                let (other, bytes) = of(sum);
                (Reverse(bytes), (other ^ rank).wrapping_mul(0x9e37_79b9), other)
            });
            sums.truncate(self.sums);
            sums.sort_by_key(|sum| of(sum).0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Count, Device, Grid, Line, Process, SCHEMA, Window, Work};

    #[test]
    fn recordings_of_large_jobs_are_small() {
        assert_eq!(Limits::new(100).calls, MOST_EVENTS);
        let length = |line: &Line| serde_json::to_string(line).unwrap().len() + 1;
        for (size, steps) in [(2000, 10), (10_000, 3), (25_000, 1), (100_000, 0)] {
            let Limits { calls, sums, grids } = Limits::new(size);
            // The edges of a halo exchange with 26 neighbors.
            assert!(calls >= 55 * steps, "{calls}");
            // The neighbors of a process in a halo exchange, except some corners.
            assert!(sums >= 18, "{sums}");
            let process = Process {
                schema: SCHEMA,
                rank: size - 1,
                size,
                host: "nid001234".into(),
                address: None,
                program: String::new(),
                mpi: String::new(),
                part: 0,
                complete: true,
                nanoseconds: 3_600_000_000_000,
                cost: 36_000_000_000,
                stopped: false,
                work: Work { messages: 1 << 40, bytes: 1 << 50, collectives: 1 << 40 },
                pattern: Some(-(1 << 60)),
                device: Some(Device { number: 15, visible: 16, bus: "0000:3b:00.0".into() }),
                lines: sums + grids + 3,
            };
            let sum =
                Line::Sent { to: size - 1, count: Count { messages: 1 << 24, bytes: 1 << 33 } };
            let grid = Line::Grid(Grid {
                function: "MPI_Cart_create".into(),
                dims: vec![50, 50, 40],
                periodic: vec![true; 3],
                reorder: false,
                rank: size - 1,
                first: 0,
            });
            let call = Line::Collective {
                function: "MPI_Allreduce".into(),
                calls: 1 << 20,
                nanoseconds: 1 << 40,
            };
            // All calls differ.
            let long = |at: usize| Call::Isend(size - 1 - at as u32, 1 << 20, 1 << 20);
            let different: Vec<Call> = (0..calls).map(long).collect();
            let events: Vec<(u32, u64)> = (0..calls as u32).map(|at| (at, 10_000_000)).collect();
            let window = match calls {
                0 => 0,
                _ => length(&Line::Window(Window::new(&different, &events, 1 << 40, true))),
            };
            let all = length(&Line::Process(process))
                + window
                + sums * length(&sum)
                + grids * length(&grid)
                + 3 * length(&call);
            assert!(all * size as usize <= 200_000_000, "{}", all * size as usize);
        }
    }

    #[test]
    fn both_ends_keep_the_same_partners_if_sums_are_equal() {
        let limits = Limits { calls: 0, sums: 10, grids: 1 };
        let heavy = |one: u32, other: u32| u64::from(one + other == 3) * 100 + 8;
        let kept = |rank: u32| {
            let others = (0..100).filter(|other| *other != rank);
            let mut sums: Vec<(u32, u64)> =
                others.map(|other| (other, heavy(rank, other))).collect();
            limits.keep_largest(rank, &mut sums, |sum| *sum);
            assert!(sums.len() == 10 && sums.is_sorted());
            sums
        };
        let all: Vec<Vec<(u32, u64)>> = (0..100).map(kept).collect();
        assert!(all[0].contains(&(3, 108)) && all[3].contains(&(0, 108)));
        let has = |one: usize, other: u32| all[one].iter().any(|(to, _)| *to == other);
        let edges = || {
            all.iter()
                .enumerate()
                .flat_map(|(from, sums)| sums.iter().map(move |sum| (from, sum.0)))
        };
        let both = edges().filter(|(from, to)| has(*to as usize, *from as u32)).count();
        assert!(both * 10 >= edges().count() * 7, "{both} of {}", edges().count());
    }
}
