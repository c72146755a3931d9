//! Refinement of two parts by moving vertices, after Fiduccia and Mattheyses.

use super::queue::Queue;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;

/// The limits of refinement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The largest final deviation of the size of part 0 from its target.
    pub(super) tolerance: i64,
    /// The largest intermediate deviation.
    pub(super) slack: i64,
    /// The number of moves without success that ends a pass.
    pub(super) patience: usize,
    /// The most passes.
    pub(super) passes: usize,
}

/// The quality of two parts; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Quality {
    /// The deviation of the size beyond the tolerance.
    pub(super) excess: i64,
    /// The weight of the edges between the parts.
    pub(super) cut: i64,
    /// The deviation of the size.
    pub(super) off: i64,
}

/// Moves vertices between part 0 and part 1 so that part 0 has the size `target` and the cut is small. The result is
/// never worse than the input. With vertices of size 1 the tolerance is always kept.
pub(super) fn refine(
    graph: &Csr,
    side: &mut [u8],
    target: i64,
    limits: Limits,
    budget: &mut Budget,
) -> Quality {
    let mut search = Search::new(graph, side, target, limits);
    budget.spend(graph.sweep());
    let mut best = search.quality();
    for _ in 0..limits.passes {
        let quality = search.pass(budget);
        if quality >= best {
            break;
        }
        best = quality;
    }
    search.quality()
}

struct Search<'a> {
    graph: &'a Csr,
    side: &'a mut [u8],
    limits: Limits,
    /// The weight of a vertex's edges to its own part, and to the other.
    inner: Vec<i64>,
    outer: Vec<i64>,
    cut: i64,
    /// The deviation of part 0 from its target size.
    surplus: i64,
    queues: [Queue; 2],
    /// Vertices that moved in this pass, or cannot.
    done: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Csr, side: &'a mut [u8], target: i64, limits: Limits) -> Self {
        let (mut inner, mut outer) = (vec![0; graph.vertices()], vec![0; graph.vertices()]);
        let (mut cut, mut surplus) = (0, -target);
        for vertex in 0..graph.vertices() {
            for (to, weight) in graph.edges(vertex) {
                let same = side[to] == side[vertex];
                *(if same { &mut inner[vertex] } else { &mut outer[vertex] }) += weight;
            }
            cut += outer[vertex];
            if side[vertex] == 0 {
                surplus += graph.size(vertex);
            }
        }
        let queues = [Queue::new(graph.vertices()), Queue::new(graph.vertices())];
        let done = vec![false; graph.vertices()];
        Self { graph, side, limits, inner, outer, cut: cut / 2, surplus, queues, done }
    }

    fn quality(&self) -> Quality {
        let off = self.surplus.abs();
        Quality { excess: (off - self.limits.tolerance).max(0), cut: self.cut, off }
    }

    /// True if a vertex may be worth a move: it has neighbors on the other side, or none at all.
    fn at_border(&self, vertex: usize) -> bool {
        self.outer[vertex] != 0 || self.inner[vertex] == 0
    }

    fn gain(&self, vertex: usize) -> i64 {
        self.outer[vertex] - self.inner[vertex]
    }

    /// Moves every vertex at most once, the best first, and undoes the moves after the best state.
    fn pass(&mut self, budget: &mut Budget) -> Quality {
        self.done.fill(false);
        self.queues[0].clear();
        self.queues[1].clear();
        for vertex in 0..self.graph.vertices() {
            if self.at_border(vertex) {
                self.queues[self.side[vertex] as usize].set(vertex, self.gain(vertex));
            }
        }
        let mut moves: Vec<u32> = Vec::new();
        let (mut best, mut kept) = (self.quality(), 0);
        while moves.len() - kept <= self.limits.patience && !budget.is_spent() || best.excess > 0 {
            // Wrong sizes must be corrected before anything else.
            let slack = if best.excess > 0 { self.limits.tolerance } else { self.limits.slack };
            let Some(vertex) = self.choose(slack) else { break };
            self.shift(vertex);
            budget.spend(4 + 2 * self.graph.edges(vertex).len());
            moves.push(vertex as u32);
            let quality = self.quality();
            if quality < best {
                best = quality;
                kept = moves.len();
            }
        }
        // Only sides and sums must be right now: no queue is used before the next pass.
        for vertex in moves[kept..].iter().rev() {
            budget.spend(1 + self.graph.edges(*vertex as usize).len());
            self.flip(*vertex as usize, |_, _| ());
        }
        best
    }

    /// The vertex to move next: the best one whose move keeps sizes within the limit.
    fn choose(&mut self, slack: i64) -> Option<usize> {
        loop {
            let heavy = usize::from(self.surplus < 0);
            if self.surplus != 0 && self.queues[heavy].first().is_none() && !self.fill(heavy) {
                return None;
            }
            let mut best: Option<(i64, i64, usize)> = None;
            let mut hopeless = [None; 2];
            for from in [0, 1] {
                let Some((gain, vertex)) = self.queues[from].first() else { continue };
                let size = self.graph.size(vertex);
                let surplus = if from == 0 { self.surplus - size } else { self.surplus + size };
                let off = surplus.abs();
                if off > slack && off >= self.surplus.abs() {
                    hopeless[from] = Some(vertex);
                } else if best.is_none_or(|(than, than_off, _)| (gain, -off) > (than, -than_off)) {
                    best = Some((gain, off, vertex));
                }
            }
            if let Some((_, _, vertex)) = best {
                return Some(vertex);
            }
            if hopeless == [None; 2] {
                return None;
            }
            for (from, vertex) in hopeless.into_iter().enumerate() {
                if let Some(vertex) = vertex {
                    self.queues[from].remove(vertex);
                    self.done[vertex] = true;
                }
            }
        }
    }

    /// Queues all vertices of a part that is too large but has no border. True if there are any.
    fn fill(&mut self, part: usize) -> bool {
        if self.surplus.abs() <= self.limits.tolerance {
            return true;
        }
        for vertex in 0..self.graph.vertices() {
            if self.side[vertex] as usize == part && !self.done[vertex] {
                self.queues[part].set(vertex, self.gain(vertex));
            }
        }
        self.queues[part].first().is_some()
    }

    /// Moves a vertex for this pass.
    fn shift(&mut self, vertex: usize) {
        self.queues[self.side[vertex] as usize].remove(vertex);
        self.done[vertex] = true;
        self.flip(vertex, |search, to| {
            if search.done[to] {
                return;
            }
            let queue = search.side[to] as usize;
            if search.at_border(to) {
                search.queues[queue].set(to, search.gain(to));
            } else {
                search.queues[queue].remove(to);
            }
        });
    }

    /// Puts a vertex on the other side; `changed` is called for each neighbor.
    fn flip(&mut self, vertex: usize, changed: impl Fn(&mut Self, usize)) {
        let graph = self.graph;
        self.cut -= self.gain(vertex);
        std::mem::swap(&mut self.inner[vertex], &mut self.outer[vertex]);
        let size = graph.size(vertex);
        self.surplus += if self.side[vertex] == 0 { -size } else { size };
        self.side[vertex] ^= 1;
        for (to, weight) in graph.edges(vertex) {
            let by = if self.side[to] == self.side[vertex] { weight } else { -weight };
            self.inner[to] += by;
            self.outer[to] -= by;
            changed(self, to);
        }
    }
}
