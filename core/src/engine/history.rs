//! The topologies that a process remembers, so that later constructors match them.
//!
//! - Programs create several grids of the same processes with different periods, and use the ranks of one in another:
//!   all get the ranks of the first grid with these dims.
//! - The processes of a topology have their data in place: a constructor for some of them keeps ranks.
//!
//! A digest identifies the processes and their order. Rank 0 computes it if it knows all processes by their ranks in
//! `MPI_COMM_WORLD`, and scatters it with the new ranks; otherwise, all compute it together with a sum of a few words.
//! Rank 0 decides from its memory, so all ranks get the same result even if some have forgotten. If the digests of two
//! communicators collide, one gets an unsuitable but valid order.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cartograph_shim::splitmix::mix;

use super::digest::Digest;
use crate::mapping::Grid;

/// The most topologies that are remembered; the least recently used is forgotten first.
const MOST_TOPOLOGIES: usize = 64;

/// The most ranks in all orders that rank 0 remembers: 16 MB.
const MOST_RANKS: usize = 1 << 22;

/// The remembered topologies in which ranks could be reordered. Processes that share memory share them.
#[derive(Debug)]
pub struct History(Mutex<Vec<Remembered>>);

/// The processes of a communicator and their order, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order(u64);

/// A topology.
#[derive(Debug, Clone)]
struct Remembered {
    /// The old communicator: its processes and their number.
    old: Order,
    size: i32,
    /// The sides, if it is a grid.
    dims: Option<Box<[i32]>>,
    /// The number of its processes.
    vertices: i32,
    /// The order of the new communicator, if ranks were reordered.
    new: Option<Order>,
    /// The decision about a grid, on the process that made the decision.
    decision: Option<Decided>,
    /// The new rank of each process that shares this memory; `None` if it was left out.
    new_ranks: BTreeMap<u64, Option<i32>>,
}

/// Rank 0's decision about the ranks of a grid.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    /// The grid for which the decision was made.
    pub(super) grid: Grid,
    /// The old rank of each new one; `None` if all were kept.
    pub(super) old_rank: Option<Arc<[i32]>>,
}

/// A new topology, as one process sees it.
pub(super) struct Made<'a> {
    pub(super) dims: Option<&'a [i32]>,
    pub(super) vertices: i32,
    pub(super) new_rank: Option<i32>,
    /// The order of the new communicator, if ranks were reordered.
    pub(super) new: Option<Order>,
    pub(super) decision: Option<Decided>,
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    /// An empty memory.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Remembered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The decision about an earlier grid of these sides on these processes, if this process made it.
    pub(super) fn decision(&self, old: Order, size: i32, dims: &[i32]) -> Option<Decided> {
        let topologies = self.lock();
        let found = topologies.iter().find(|known| known.is_grid(old, size, dims))?;
        found.decision.clone()
    }

    /// The new rank of a process in an earlier grid of these sides on these processes: `Some(None)` if it was left out.
    pub fn new_rank(
        &self,
        old: Order,
        size: i32,
        dims: &[i32],
        process: u64,
    ) -> Option<Option<i32>> {
        let topologies = self.lock();
        let found = topologies.iter().find(|known| known.is_grid(old, size, dims))?;
        found.new_ranks.get(&process).copied()
    }

    /// True if an earlier topology reordered processes into this order.
    pub fn has_made(&self, order: Order) -> bool {
        self.lock().iter().any(|known| known.new == Some(order))
    }

    /// The numbers of topologies with more than this number of processes in which a process has a rank, the latest
    /// first.
    pub(super) fn larger(&self, process: u64, vertices: i32) -> impl Iterator<Item = u64> {
        let has_place = |known: &&Remembered| {
            known.vertices > vertices && known.new_ranks.get(&process).is_some_and(Option::is_some)
        };
        let topologies = self.lock();
        let ids: Vec<u64> = topologies.iter().rev().filter(has_place).map(Remembered::id).collect();
        ids.into_iter()
    }

    /// True if a process has a rank in a topology of at least this number of processes.
    pub fn has_place(&self, process: u64, vertices: i32) -> bool {
        self.larger(process, vertices - 1).next().is_some()
    }

    /// Forgets all topologies.
    pub fn clear(&self) {
        *self.lock() = Vec::new();
    }

    /// True if the memory is empty.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Remembers a topology that was created on `size` processes.
    pub(super) fn add(&self, (old, size): (Order, i32), process: u64, made: Made<'_>) {
        let Made { dims, vertices, new_rank, new, decision } = made;
        let mut topologies = self.lock();
        let is_it = |known: &Remembered| match dims {
            Some(dims) => known.is_grid(old, size, dims),
            None => {
                let of_graph = (known.old, known.vertices, known.new) == (old, vertices, new);
                known.dims.is_none() && of_graph
            }
        };
        let place = topologies.iter().position(is_it);
        let mut topology = match place.map(|place| topologies.remove(place)) {
            Some(known) if known.new == new => known,
            // Rank 0 had forgotten it and has made a new decision.
            _ => Remembered {
                old,
                size,
                dims: dims.map(Into::into),
                vertices,
                new,
                decision: None,
                new_ranks: BTreeMap::new(),
            },
        };
        topology.new_ranks.insert(process, new_rank);
        topology.decision = topology.decision.take().or(decision);
        topologies.push(topology);
        let ranks = |topologies: &[Remembered]| topologies.iter().map(Remembered::ranks).sum();
        while topologies.len() > 1
            && (topologies.len() > MOST_TOPOLOGIES || MOST_RANKS < ranks(&topologies))
        {
            topologies.remove(0);
        }
    }
}

impl Remembered {
    fn is_grid(&self, old: Order, size: i32, dims: &[i32]) -> bool {
        (self.old, self.size, self.dims.as_deref()) == (old, size, Some(dims))
    }

    /// The number of ranks in the order.
    fn ranks(&self) -> usize {
        let order = self.decision.as_ref().and_then(|decided| decided.old_rank.as_ref());
        order.map_or(0, |order| order.len())
    }

    /// A number that is the same on all its processes.
    fn id(&self) -> u64 {
        mix(self.old.0 ^ self.vertices as u64)
    }
}

/// A process with its rank, as the halves of a number that is small enough for a sum over 2^31 processes.
pub(super) fn seat(identity: u64, rank: i32) -> [i64; 2] {
    let number = mix(mix(identity) ^ rank as u64);
    [i64::from(number as u32), (number >> 32) as i64]
}

impl Order {
    pub(super) fn of_sum([low, high]: [i64; 2]) -> Self {
        Self(Digest::default().number(low as u64).number(high as u64).finish())
    }

    /// The order of processes that are all known, by their [identities](super::Advisor::identity), starting with rank
    /// 0's.
    pub fn of_all(identities: impl IntoIterator<Item = u64>) -> Self {
        let mut sum = [0; 2];
        for (rank, identity) in (0..).zip(identities) {
            let [low, high] = seat(identity, rank);
            sum = [sum[0] + low, sum[1] + high];
        }
        Self::of_sum(sum)
    }

    /// The digest as two integers of a message; `None` as zeros.
    pub(super) fn words(order: Option<Self>) -> [i32; 2] {
        let number = order.map_or(0, |order| order.0);
        [number as i32, (number >> 32) as i32]
    }

    pub(super) fn of_words([low, high]: [i32; 2]) -> Option<Self> {
        let number = u64::from(low as u32) | u64::from(high as u32) << 32;
        (number != 0).then_some(Self(number))
    }
}

/// The processes of a communicator, all of which are known.
#[derive(Debug, Clone)]
pub struct Identities {
    /// The identity of each, by rank.
    pub of_ranks: Vec<u64>,
    /// The number of processes that have an identity of this kind: those of `MPI_COMM_WORLD`.
    pub of_world: i32,
}

impl Identities {
    /// The order of these processes.
    pub fn order(&self) -> Order {
        Order::of_all(self.of_ranks.iter().copied())
    }

    /// The order of the processes that get new ranks, by the old rank of each.
    pub(super) fn new_order(&self, old_rank: &[i32]) -> Order {
        Order::of_all(old_rank.iter().map(|old| self.of_ranks[*old as usize]))
    }

    /// True if all of them have ranks in one larger topology that a single process can recognize: one of the whole
    /// world.
    pub fn are_part(&self, history: &History, process: u64) -> bool {
        (self.of_ranks.len() as i32) < self.of_world && history.has_place(process, self.of_world)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Cart;

    fn order(identities: &[u64]) -> Order {
        Order::of_all(identities.iter().copied())
    }

    fn made(dims: Option<&[i32]>, vertices: i32, new: Option<Order>) -> Made<'_> {
        let old_rank = new.map(|_| (0..vertices).collect());
        let grid = Grid::from(&Cart::new(&[vertices], &[false], vertices).unwrap());
        let decision = dims.map(|_| Decided { grid: grid.clone(), old_rank });
        Made { dims, vertices, new_rank: Some(3), new, decision }
    }

    #[test]
    fn different_processes_or_orders_have_different_digests() {
        let one = order(&[0, 1, 2, 3]);
        for other in [&[1, 0, 2, 3][..], &[0, 1, 2], &[0, 1, 2, 4], &[0, 1, 2, 3, 4], &[0, 1, 3, 2]]
        {
            assert_ne!(order(other), one, "{other:?}");
        }
        assert_eq!(order(&[0, 1, 2, 3]), one);
    }

    #[test]
    fn grids_are_known_by_processes_and_dims() {
        let (history, old) = (History::new(), order(&[0, 1, 2, 3]));
        assert!(history.is_empty());
        history.add((old, 4), 0, made(Some(&[2, 2]), 4, None));
        history.add((old, 4), 0, made(None, 4, Some(order(&[0, 2, 1, 3]))));
        assert!(history.decision(old, 4, &[2, 2]).is_some_and(|found| found.old_rank.is_none()));
        assert_eq!(history.new_rank(old, 4, &[2, 2], 0), Some(Some(3)));
        for (other, size, dims, process) in [
            (old, 4, &[4, 1], 0),
            (old, 5, &[2, 2], 0),
            (old, 4, &[2, 2], 1),
            (order(&[0, 2, 1, 3]), 4, &[2, 2], 0),
        ] {
            assert_eq!(history.new_rank(other, size, dims, process), None);
        }
        assert!(history.has_made(order(&[0, 2, 1, 3])) && !history.has_made(old));
        assert!(history.has_place(0, 4) && !history.has_place(0, 5) && !history.has_place(1, 1));
    }

    #[test]
    fn a_new_decision_replaces_one_that_rank_0_forgot() {
        let (history, old, new) = (History::new(), order(&[0, 1]), order(&[1, 0]));
        history.add((old, 2), 7, made(Some(&[2]), 2, None));
        let anew = Made { new_rank: None, ..made(Some(&[2]), 2, Some(new)) };
        history.add((old, 2), 0, anew);
        assert_eq!(history.new_rank(old, 2, &[2], 7), None);
        assert_eq!(history.new_rank(old, 2, &[2], 0), Some(None));
        assert!(history.has_made(new) && !history.has_place(0, 1));
    }

    #[test]
    fn memory_is_bounded() {
        let history = History::new();
        let of = |number: u64| order(&[number, 1000]);
        for number in 0..1000 {
            history.add((of(number), 2), 0, made(Some(&[2]), 2, None));
            // A topology that is used again is kept.
            history.add((of(0), 2), 0, made(Some(&[2]), 2, None));
        }
        assert_eq!(history.lock().len(), MOST_TOPOLOGIES);
        assert!(history.decision(of(0), 2, &[2]).is_some());
        assert!(history.decision(of(999), 2, &[2]).is_some());
        assert!(history.decision(of(1), 2, &[2]).is_none());
        let many = MOST_RANKS as i32 / 2;
        for number in 0..4 {
            history.add((of(number), many), 0, made(Some(&[many]), many, Some(of(number + 1))));
        }
        assert_eq!(history.lock().len(), 2);
    }
}
