//! Graphs in compressed rows, for mapping.

use super::cost::Adjacency;
use crate::topology::Graph;

/// A directed graph with weights. Edges between the same two vertices are one, with the sum of their
/// weights; loops and edges of weight 0 are left out, since they never cost anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Csr {
    /// The edges of vertex `v` are `offsets[v]..offsets[v + 1]`.
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<i64>,
}

impl Csr {
    /// A graph by its edges `(from, to, weight)`, in any order. O((vertices + edges) log degree).
    ///
    /// # Panics
    ///
    /// If an edge leads from or to a vertex that is not there.
    pub fn from_edges(
        vertices: usize,
        edges: impl Iterator<Item = (u32, u32, i64)> + Clone,
    ) -> Self {
        let mut starts = vec![0usize; vertices + 1];
        let counted = edges.filter(|(from, to, weight)| from != to && *weight != 0);
        for (from, _, _) in counted.clone() {
            starts[from as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let mut rows = vec![(0u32, 0i64); starts[vertices]];
        let mut next = starts.clone();
        for (from, to, weight) in counted {
            assert!((to as usize) < vertices, "an edge to vertex {to} of {vertices}");
            rows[next[from as usize]] = (to, weight);
            next[from as usize] += 1;
        }
        let mut graph = Self { offsets: vec![0], ..Self::default() };
        for vertex in 0..vertices {
            let row = &mut rows[starts[vertex]..starts[vertex + 1]];
            row.sort_unstable();
            for (to, weight) in row {
                let first = graph.offsets[vertex];
                if graph.targets.len() > first && graph.targets.last() == Some(to) {
                    *graph.weights.last_mut().expect("as many as targets") += *weight;
                } else {
                    graph.targets.push(*to);
                    graph.weights.push(*weight);
                }
            }
            graph.offsets.push(graph.targets.len());
        }
        graph
    }

    /// The edges of a graph between some of its vertices, which are given in ascending order: vertex
    /// `i` here is `vertices[i]` there. O(edges of these vertices, times log(vertices)).
    pub(super) fn induced(graph: &impl Adjacency, vertices: &[u32]) -> Self {
        let mut edges = Vec::new();
        for (from, vertex) in vertices.iter().enumerate() {
            graph.for_each_edge(*vertex as usize, |to, weight| {
                if let Ok(to) = vertices.binary_search(&(to as u32)) {
                    edges.push((from as u32, to as u32, weight));
                }
            });
        }
        Self::from_edges(vertices.len(), edges.iter().copied())
    }

    /// The same edges, for fast access.
    pub(super) fn copy(graph: &impl Adjacency) -> Self {
        let mut rows = Self { offsets: vec![0], ..Self::default() };
        for vertex in 0..graph.vertices() {
            graph.for_each_edge(vertex, |to, weight| {
                if to != vertex && weight != 0 {
                    rows.targets.push(to as u32);
                    rows.weights.push(weight);
                }
            });
            rows.offsets.push(rows.targets.len());
        }
        rows
    }

    /// The neighbors of a vertex, and the weights of the edges to them.
    pub(super) fn row(&self, vertex: usize) -> (&[u32], &[i64]) {
        let row = self.offsets[vertex]..self.offsets[vertex + 1];
        (&self.targets[row.clone()], &self.weights[row])
    }

    /// The neighbors of a vertex, in ascending order, with weights.
    pub fn edges(&self, vertex: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        let row = self.offsets[vertex]..self.offsets[vertex + 1];
        let targets = self.targets[row.clone()].iter().map(|to| *to as usize);
        targets.zip(self.weights[row].iter().copied())
    }

    /// How many edges there are.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are no edges.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}

impl Adjacency for Csr {
    fn vertices(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn for_each_edge(&self, vertex: usize, mut visit: impl FnMut(usize, i64)) {
        self.edges(vertex).for_each(|(to, weight)| visit(to, weight));
    }
}

impl From<&Graph> for Csr {
    fn from(graph: &Graph) -> Self {
        let nodes = 0..graph.nnodes();
        let edges = nodes.flat_map(|node| {
            let neighbors = graph.neighbors(node).expect("one of the graph's own nodes");
            neighbors.iter().map(move |to| (node as u32, *to as u32, 1))
        });
        Self::from_edges(graph.nnodes() as usize, edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiple_edges_are_summed_and_loops_left_out() {
        let edges = [(1, 0, 5), (0, 1, 2), (0, 0, 9), (0, 2, 0), (0, 1, 3), (2, 1, 1)];
        let graph = Csr::from_edges(3, edges.into_iter());
        assert_eq!(graph.edges(0).collect::<Vec<_>>(), [(1, 5)]);
        assert_eq!(graph.edges(1).collect::<Vec<_>>(), [(0, 5)]);
        assert_eq!(graph.edges(2).collect::<Vec<_>>(), [(1, 1)]);
        let cost = graph.cost(&[0, 1, 1]);
        assert_eq!((cost.inter_node_edges, cost.max_node_edges), (10, 5));
    }
}
