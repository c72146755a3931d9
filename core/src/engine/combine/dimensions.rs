//! Messages along the dimensions of a torus, on which all processes have their neighbors at the same offsets (Träff
//! and Hunold, "Cartesian Collective Communication", ICPP 2019).
//!
//! A block first goes along one dimension as far as the offset of its receiver says, then along the next. In each
//! dimension, blocks that go equally far travel in one message, whichever process they are from: a process sends one
//! message for each different distance other than 0.
//!
//! The ranks of a torus are numbered as those of a grid, the last dimension fastest. An offset is numbered like the
//! process that has it from process 0, and so are the edges of all processes: as if they left process 0.

use std::collections::BTreeSet;

use super::schedule::ScheduleBuilder;
use super::{Edge, Payload, Schedule};

/// The most dimensions of a torus.
const MOST_DIMENSIONS: usize = 4;

/// The most neighbors for which tori are looked for, so that process 0 takes little time. In four dimensions, 624 are
/// at most two away in each.
const MOST_NEIGHBORS: usize = 1024;

/// The most tori that all processes check. Several are needed: where dimensions have few processes, a torus that other
/// processes do not fit may look best to process 0.
const MOST_TORI: usize = 32;

/// The extents of a torus, 1 for each unused dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Torus([i32; MOST_DIMENSIONS]);

impl Torus {
    /// The process whose coordinates are those of `rank` and, `sign` times, those of `offset`.
    fn moved(self, rank: i32, sign: i64, offset: i32) -> i32 {
        let (mut rank, mut offset) = (i64::from(rank), i64::from(offset));
        let (mut stride, mut moved) = (1, 0);
        for extent in self.0.iter().rev().map(|extent| i64::from(*extent)) {
            moved += stride * (rank % extent + sign * (offset % extent)).rem_euclid(extent);
            (rank, offset, stride) = (rank / extent, offset / extent, stride * extent);
        }
        moved as i32
    }

    /// The part of an offset that lies in one dimension.
    fn part(self, offset: i32, dimension: usize) -> i32 {
        let stride: i32 = self.0[dimension + 1..].iter().product();
        offset / stride % self.0[dimension] * stride
    }

    /// The edges of a process as if it were process 0: those that leave, and those that arrive, each in order.
    fn offsets(self, rank: i32, [leaving, arriving]: [&[Edge]; 2]) -> [Vec<Edge>; 2] {
        let offsets = |edges: &[Edge], to: &dyn Fn(&Edge) -> i32| {
            let offset = |edge: &Edge| Edge { from: 0, to: to(edge), ..*edge };
            let mut offsets: Vec<Edge> = edges.iter().map(offset).collect();
            offsets.sort_unstable();
            offsets
        };
        [
            offsets(leaving, &|edge| self.moved(edge.to, -1, rank)),
            offsets(arriving, &|edge| self.moved(rank, -1, edge.from)),
        ]
    }

    fn dimensions(self) -> usize {
        self.0.iter().filter(|extent| **extent > 1).count()
    }
}

/// The candidates of process 0: tori on which its edges fit, those with the fewest messages first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TorusCandidates {
    /// The edges that leave process 0, in order.
    offsets: Vec<Edge>,
    tori: Vec<Torus>,
}

impl TorusCandidates {
    /// The candidates of process 0 of `size`, from its edges.
    pub(super) fn new(size: i32, ends: [&[Edge]; 2]) -> Self {
        let mut offsets = ends[0].to_vec();
        offsets.sort_unstable();
        if offsets.len() > MOST_NEIGHBORS {
            return Self::default();
        }
        let far: Vec<i32> = offsets.iter().map(|edge| edge.to).filter(|to| *to != 0).collect();
        let mut tori = tori(size, &far);
        tori.retain(|torus| torus.offsets(0, ends).iter().all(|own| *own == offsets));
        tori.truncate(MOST_TORI);
        if tori.is_empty() { Self::default() } else { Self { offsets, tori } }
    }

    pub(super) fn to_words(&self) -> Vec<i32> {
        let tori = self.tori.iter().flat_map(|torus| torus.0);
        let offsets = self.offsets.iter().flat_map(|edge| [edge.to, edge.pairing, edge.copy]);
        let head = if self.tori.is_empty() { None } else { Some(self.tori.len() as i32) };
        head.into_iter().chain(tori).chain(offsets).collect()
    }

    pub(super) fn from_words(words: &[i32]) -> Self {
        let Some((head, words)) = words.split_first() else { return Self::default() };
        let (tori, offsets) = words.split_at(MOST_DIMENSIONS * *head as usize);
        let edge = |[to, pairing, copy]: &[i32; 3]| Edge {
            from: 0,
            to: *to,
            pairing: *pairing,
            copy: *copy,
        };
        Self {
            tori: tori.as_chunks().0.iter().copied().map(Torus).collect(),
            offsets: offsets.as_chunks().0.iter().map(edge).collect(),
        }
    }

    /// For each torus whether a process has its neighbors at the offsets of process 0, 1 or 0.
    pub(super) fn fits(&self, rank: i32, ends: [&[Edge]; 2]) -> Vec<i64> {
        let is_alike = ends.iter().all(|edges| edges.len() == self.offsets.len());
        let fits = |torus: &Torus| torus.offsets(rank, ends).iter().all(|own| *own == self.offsets);
        self.tori.iter().map(|torus| i64::from(is_alike && fits(torus))).collect()
    }

    /// The routes of the blocks of process `rank` on one of the tori.
    pub(super) fn accept(self, rank: i32, torus: usize) -> Dimensions {
        let torus = self.tori[torus];
        let moves = |dimension: &usize| {
            self.offsets.iter().any(|edge| torus.part(edge.to, *dimension) != 0)
        };
        let dimensions: Vec<usize> = (0..MOST_DIMENSIONS).filter(moves).collect();
        let orders = orders(&dimensions).into_iter();
        let least = orders.min_by_key(|order| count_forwards(torus, order, &self.offsets));
        Dimensions { rank, torus, order: least.unwrap_or_default(), offsets: self.offsets }
    }
}

/// The routes of the blocks of a process on a torus.
pub(super) struct Dimensions {
    rank: i32,
    torus: Torus,
    /// The order in which they go along the dimensions: the one in which `allgather` sends the fewest blocks.
    order: Vec<usize>,
    offsets: Vec<Edge>,
}

impl Dimensions {
    /// One stage for each dimension.
    pub(super) fn schedule(&self, payload: Payload, ends: [&[Edge]; 2]) -> Schedule {
        let Self { rank, torus, order, offsets } = self;
        let mut builder = ScheduleBuilder::new(*rank, payload, order.len());
        for offset in offsets {
            let edge = |from: i32| Edge { from, to: torus.moved(from, 1, offset.to), ..*offset };
            // How far blocks at this offset have come.
            let mut come = 0;
            for (stage, dimension) in order.iter().enumerate() {
                let step = torus.part(offset.to, *dimension);
                if step == 0 {
                    continue;
                }
                let sent = edge(torus.moved(*rank, -1, come));
                builder.send(stage, torus.moved(*rank, 1, step), &sent);
                come += step;
                let received = edge(torus.moved(*rank, -1, come));
                builder.receive(stage, torus.moved(*rank, -1, step), &received);
            }
        }
        builder.finish(ends)
    }
}

/// Tori of `size` processes on which blocks to processes at these offsets from process 0 take fewer messages than
/// one each: those with the fewest messages, and then dimensions, first.
///
/// The messages of a dimension depend only on its extent and the product of those after it. So tori are sequences of
/// divisors, and those with the fewest messages up to a divisor begin with some up to a smaller one.
fn tori(size: i32, offsets: &[i32]) -> Vec<Torus> {
    type Found = Vec<(usize, Torus)>;
    let divisors = divisors(size);
    // By divisor and number of dimensions.
    let mut found: Vec<[Found; MOST_DIMENSIONS + 1]> = vec![Default::default(); divisors.len()];
    found[0][0].push((0, Torus([1; MOST_DIMENSIONS])));
    let mut distances = Vec::new();
    for (i, product) in divisors.iter().enumerate().skip(1) {
        let (smaller, here) = found.split_at_mut(i);
        let here = &mut here[0];
        for (stride, found) in divisors.iter().zip(smaller) {
            if product % stride != 0 || found.iter().all(Vec::is_empty) {
                continue;
            }
            let extent = product / stride;
            distances.clear();
            distances.extend(offsets.iter().map(|offset| offset / stride % extent));
            distances.retain(|distance| *distance != 0);
            distances.sort_unstable();
            distances.dedup();
            for (dimensions, found) in found[..MOST_DIMENSIONS].iter().enumerate() {
                for (messages, torus) in found {
                    let messages = messages + distances.len();
                    if messages < offsets.len() {
                        let mut torus = *torus;
                        torus.0[MOST_DIMENSIONS - 1 - dimensions] = extent;
                        here[dimensions + 1].push((messages, torus));
                    }
                }
            }
        }
        for found in here {
            found.sort_unstable();
            found.truncate(MOST_TORI);
        }
    }
    let mut found = found.pop().unwrap_or_default().concat();
    found.sort_by_key(|(messages, torus)| (*messages, torus.dimensions()));
    found.into_iter().map(|(_, torus)| torus).collect()
}

/// In order.
fn divisors(number: i32) -> Vec<i32> {
    let up_to_root = (1..).take_while(|divisor| i64::from(*divisor).pow(2) <= i64::from(number));
    let small: Vec<i32> = up_to_root.filter(|divisor| number % divisor == 0).collect();
    let mut all: Vec<i32> =
        small.iter().copied().chain(small.iter().map(|divisor| number / divisor)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// All orders of some dimensions.
fn orders(dimensions: &[usize]) -> Vec<Vec<usize>> {
    if dimensions.is_empty() {
        return vec![Vec::new()];
    }
    let beginning_with = |first: &usize| {
        let rest: Vec<usize> = dimensions.iter().copied().filter(|other| other != first).collect();
        let first = *first;
        orders(&rest).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    dimensions.iter().flat_map(beginning_with).collect()
}

/// The number of times that a block for all neighbors is sent, if it goes along the dimensions in this order.
fn count_forwards(torus: Torus, order: &[usize], offsets: &[Edge]) -> usize {
    let mut reached = BTreeSet::new();
    for edge in offsets {
        let mut come = 0;
        for step in order.iter().map(|dimension| torus.part(edge.to, *dimension)) {
            come += step;
            if step != 0 {
                reached.insert(come);
            }
        }
    }
    reached.len()
}
