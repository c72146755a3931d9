//! The undirected graph on which the search works.

use crate::mapping::{Adjacency, Csr};

/// One end of an undirected edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arc {
    pub(super) to: u32,
    pub(super) weight: i64,
}

/// An undirected graph: each edge is an arc at both of its ends, with the weights of both directions.
/// A vertex stands for `size` vertices of the graph that was given.
#[derive(Debug, Clone, Default)]
pub(in crate::mapping) struct Net {
    starts: Vec<usize>,
    arcs: Vec<Arc>,
    sizes: Vec<u32>,
}

/// The factor by which reading an edge takes longer in a graph that fits no cache, since vertices come in random order.
fn misses(vertices: usize) -> usize {
    1 + (vertices >> 19).min(6)
}

impl Net {
    /// A directed graph, symmetrised. O(vertices + edges).
    pub(in crate::mapping) fn new(graph: &Csr) -> Self {
        let vertices = graph.vertices();
        // Edges by where they lead to: rows are in ascending order, as those of the graph are.
        let mut next = vec![0usize; vertices + 1];
        for vertex in 0..vertices {
            graph.for_each_edge(vertex, |to, _| next[to + 1] += 1);
        }
        for vertex in 0..vertices {
            next[vertex + 1] += next[vertex];
        }
        let ends = next[1..].to_vec();
        let mut back = vec![Arc { to: 0, weight: 0 }; graph.len()];
        for vertex in 0..vertices {
            graph.for_each_edge(vertex, |to, weight| {
                back[next[to]] = Arc { to: vertex as u32, weight };
                next[to] += 1;
            });
        }
        let mut net = Self::with_capacity(vertices, 2 * graph.len());
        let mut begin = 0;
        for vertex in 0..vertices {
            let mut there = back[begin..ends[vertex]].iter().copied().peekable();
            begin = ends[vertex];
            for (to, mut weight) in graph.edges(vertex) {
                while let Some(arc) = there.next_if(|arc| (arc.to as usize) < to) {
                    net.arcs.push(arc);
                }
                if let Some(arc) = there.next_if(|arc| arc.to as usize == to) {
                    weight += arc.weight;
                }
                net.arcs.push(Arc { to: to as u32, weight });
            }
            net.arcs.extend(there);
            net.close(1);
        }
        net
    }

    /// A graph that has every edge in both directions, each with what the two weigh together.
    pub(super) fn symmetric(graph: &impl Adjacency) -> Self {
        let mut net = Self::with_capacity(graph.vertices(), 0);
        for vertex in 0..graph.vertices() {
            let begin = net.arcs.len();
            graph.for_each_edge(vertex, |to, weight| {
                // Of a ring of two cells both edges lead to the other one.
                let known = net.arcs[begin..].iter_mut().find(|arc| arc.to as usize == to);
                match known {
                    Some(arc) => arc.weight += weight,
                    None if to == vertex => {}
                    None => net.arcs.push(Arc { to: to as u32, weight }),
                }
            });
            net.close(1);
        }
        net
    }

    /// The steps that [`Net::new`] takes.
    pub(in crate::mapping) fn steps(graph: &Csr) -> usize {
        2 * (graph.vertices() + graph.len()) * misses(graph.vertices())
    }

    fn with_capacity(vertices: usize, arcs: usize) -> Self {
        let mut starts = Vec::with_capacity(vertices + 1);
        starts.push(0);
        Self { starts, arcs: Vec::with_capacity(arcs), sizes: Vec::with_capacity(vertices) }
    }

    /// Ends the row of a vertex.
    fn close(&mut self, size: u32) {
        self.starts.push(self.arcs.len());
        self.sizes.push(size);
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The steps of one sweep over the graph: arcs and vertices.
    pub(super) fn sweep(&self) -> usize {
        self.extent() * misses(self.len())
    }

    /// The number of vertices and ends of edges.
    pub(super) fn extent(&self) -> usize {
        self.arcs.len() + self.sizes.len()
    }

    pub(super) fn arcs(&self, vertex: usize) -> &[Arc] {
        &self.arcs[self.starts[vertex]..self.starts[vertex + 1]]
    }

    pub(super) fn size(&self, vertex: usize) -> i64 {
        i64::from(self.sizes[vertex])
    }

    /// All vertices of the graph that was given.
    pub(super) fn total_size(&self) -> i64 {
        self.sizes.iter().map(|size| i64::from(*size)).sum()
    }

    pub(super) fn largest_size(&self) -> i64 {
        self.sizes.iter().copied().max().map_or(0, i64::from)
    }

    /// The weight of all edges between vertices of different parts.
    pub(super) fn cut<T: PartialEq>(&self, part: &[T]) -> i64 {
        let outside = |vertex: usize| {
            let arcs = self.arcs(vertex).iter();
            arcs.filter(move |arc| part[arc.to as usize] != part[vertex]).map(|arc| arc.weight)
        };
        (0..self.len()).flat_map(outside).sum::<i64>() / 2
    }

    /// The graph of some of the vertices: vertex `i` of it is `vertices[i]` here. `local` has an entry
    /// a vertex, all of them `u32::MAX` before and after.
    pub(super) fn induced(&self, vertices: &[u32], local: &mut [u32]) -> Self {
        for (i, vertex) in vertices.iter().enumerate() {
            local[*vertex as usize] = i as u32;
        }
        let arcs = vertices.iter().map(|vertex| self.arcs(*vertex as usize).len()).sum();
        let mut net = Self::with_capacity(vertices.len(), arcs);
        for vertex in vertices {
            let vertex = *vertex as usize;
            let arcs = self.arcs(vertex).iter();
            net.arcs.extend(arcs.filter_map(|arc| {
                let to = local[arc.to as usize];
                (to != u32::MAX).then_some(Arc { to, weight: arc.weight })
            }));
            net.close(self.sizes[vertex]);
        }
        for vertex in vertices {
            local[*vertex as usize] = u32::MAX;
        }
        net
    }

    /// The graph in which vertices with the same number in `coarse_of` are one. Numbers are
    /// `0..count`, each of which one or two vertices have.
    pub(super) fn contracted(&self, coarse_of: &[u32], count: usize) -> Self {
        const NONE: u32 = u32::MAX;
        let mut members = vec![[NONE; 2]; count];
        for (vertex, coarse) in coarse_of.iter().enumerate() {
            let pair = &mut members[*coarse as usize];
            pair[usize::from(pair[0] != NONE)] = vertex as u32;
        }
        let mut net = Self::with_capacity(count, self.arcs.len());
        // Where the arc to a coarse vertex is in the row that is being written.
        let mut place = vec![usize::MAX; count];
        for (coarse, pair) in members.iter().enumerate() {
            let begin = net.arcs.len();
            let mut size = 0;
            for vertex in pair.iter().filter(|vertex| **vertex != NONE) {
                size += self.sizes[*vertex as usize];
                for arc in self.arcs(*vertex as usize) {
                    let to = coarse_of[arc.to as usize];
                    let at = place[to as usize];
                    if to as usize == coarse {
                    } else if at != usize::MAX && at >= begin {
                        net.arcs[at].weight += arc.weight;
                    } else {
                        place[to as usize] = net.arcs.len();
                        net.arcs.push(Arc { to, weight: arc.weight });
                    }
                }
            }
            net.close(size);
        }
        net
    }
}

impl Adjacency for Net {
    fn vertices(&self) -> usize {
        self.len()
    }

    fn for_each_edge(&self, vertex: usize, mut visit: impl FnMut(usize, i64)) {
        self.arcs(vertex).iter().for_each(|arc| visit(arc.to as usize, arc.weight));
    }
}
