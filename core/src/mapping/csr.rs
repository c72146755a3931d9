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

    /// As [`induced`](Self::induced), for most of the vertices of a graph. O(vertices + edges of these).
    pub(super) fn of_most(graph: &impl Adjacency, vertices: &[u32]) -> Self {
        let mut place = vec![u32::MAX; graph.vertices()];
        (0..).zip(vertices).for_each(|(at, vertex)| place[*vertex as usize] = at);
        let mut rows = Self { offsets: vec![0], ..Self::default() };
        for vertex in vertices {
            graph.for_each_edge(*vertex as usize, |to, weight| {
                let at = place[to];
                if at != u32::MAX && to != *vertex as usize && weight != 0 {
                    rows.targets.push(at);
                    rows.weights.push(weight);
                }
            });
            rows.offsets.push(rows.targets.len());
        }
        rows
    }

    /// The graph of the `parts` parts of a graph, weighted by the edges between them: vertex `i` here is part `i`.
    /// Memory beside it: 8 bytes a vertex.
    pub(super) fn between(graph: &impl Adjacency, part_of: &[u32], parts: usize) -> Self {
        let mut starts = vec![0u32; parts + 1];
        part_of.iter().for_each(|part| starts[*part as usize + 1] += 1);
        for part in 0..parts {
            starts[part + 1] += starts[part];
        }
        let mut next = starts.clone();
        let mut members = vec![0u32; part_of.len()];
        for (vertex, part) in (0..).zip(part_of) {
            members[next[*part as usize] as usize] = vertex;
            next[*part as usize] += 1;
        }
        let mut sums = vec![0i64; parts];
        let mut touched: Vec<u32> = Vec::new();
        let mut rows = Self { offsets: vec![0], ..Self::default() };
        for part in 0..parts {
            for vertex in &members[starts[part] as usize..starts[part + 1] as usize] {
                graph.for_each_edge(*vertex as usize, |to, weight| {
                    let to = part_of[to];
                    if to as usize != part {
                        sums[to as usize] += weight;
                        touched.push(to);
                    }
                });
            }
            touched.sort_unstable();
            touched.dedup();
            for to in touched.drain(..) {
                let weight = std::mem::take(&mut sums[to as usize]);
                if weight != 0 {
                    rows.targets.push(to);
                    rows.weights.push(weight);
                }
            }
            rows.offsets.push(rows.targets.len());
        }
        rows
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

    /// The edges that leave a vertex: the neighbors in ascending order, with the weights.
    pub fn edges(&self, vertex: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        let row = self.offsets[vertex]..self.offsets[vertex + 1];
        let targets = self.targets[row.clone()].iter().map(|to| *to as usize);
        targets.zip(self.weights[row].iter().copied())
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns whether the graph has no edges.
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
    fn parts_send_what_their_vertices_send() {
        let edges = [(0, 1, 1), (0, 2, 2), (1, 3, 3), (3, 0, 4), (2, 0, -2), (1, 2, 0)];
        let parts = Csr::between(&Csr::from_edges(4, edges.into_iter()), &[1, 1, 0, 2], 4);
        let rows: Vec<Vec<(usize, i64)>> = (0..4).map(|part| parts.edges(part).collect()).collect();
        assert_eq!(rows, [vec![(1, -2)], vec![(0, 2), (2, 3)], vec![(1, 4)], vec![]]);
    }

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
