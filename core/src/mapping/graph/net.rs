//! The undirected graph on which the search works.

use crate::mapping::{Adjacency, Csr};

/// An undirected graph: each edge is there at both of its ends, with the weights of both directions.
/// A vertex stands for `size` vertices of the graph that was given.
#[derive(Debug, Clone, Default)]
pub(in crate::mapping) struct Net {
    graph: Csr,
    sizes: Vec<u32>,
}

/// The factor by which reading an edge takes longer in a graph that fits no cache, since vertices come in random order.
fn misses(vertices: usize) -> usize {
    1 + (vertices >> 19).min(6)
}

impl Net {
    /// A graph that has every edge in both directions, its vertices of size 1.
    pub(super) fn new(graph: Csr) -> Self {
        Self { sizes: vec![1; graph.vertices()], graph }
    }

    /// The edges.
    pub(super) fn graph(&self) -> &Csr {
        &self.graph
    }

    /// The steps that [`Csr::symmetric`] takes.
    pub(super) fn steps(graph: &Csr) -> usize {
        2 * (graph.vertices() + graph.len()) * misses(graph.vertices())
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The steps of one sweep over the graph: ends of edges and vertices.
    pub(super) fn sweep(&self) -> usize {
        self.extent() * misses(self.len())
    }

    /// The number of vertices and ends of edges.
    pub(super) fn extent(&self) -> usize {
        self.graph.len() + self.len()
    }

    /// The neighbors of a vertex and the weights of the edges to them.
    pub(super) fn edges(
        &self,
        vertex: usize,
    ) -> impl ExactSizeIterator<Item = (usize, i64)> + Clone + '_ {
        self.graph.edges(vertex)
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

    /// The weight of all edges between vertices of different parts, at both of their ends.
    pub(super) fn cut(&self, part: &[u32]) -> i64 {
        self.cost(part).inter_node_edges
    }

    /// The graph of some of the vertices: see [`Csr::induced`].
    pub(super) fn induced(&self, vertices: &[u32], place: &mut [u32]) -> Self {
        let sizes = vertices.iter().map(|vertex| self.sizes[*vertex as usize]).collect();
        Self { graph: Csr::induced(&self.graph, vertices, place), sizes }
    }

    /// The graph in which vertices with the same number in `coarse_of` are one. Numbers are `0..count`.
    pub(super) fn contracted(&self, coarse_of: &[u32], count: usize) -> Self {
        let mut sizes = vec![0; count];
        coarse_of
            .iter()
            .zip(&self.sizes)
            .for_each(|(coarse, size)| sizes[*coarse as usize] += size);
        Self { graph: Csr::contracted(&self.graph, coarse_of, count), sizes }
    }
}

impl Adjacency for Net {
    fn vertices(&self) -> usize {
        self.len()
    }

    fn for_each_edge(&self, vertex: usize, visit: impl FnMut(usize, i64)) {
        self.graph.for_each_edge(vertex, visit);
    }
}
