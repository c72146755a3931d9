//! Graphs in compressed rows, for mapping.

use super::cost::Adjacency;
use crate::topology::Graph;

/// A directed graph with weights, without loops. If it is built [from its edges](Csr::from_edges), edges between the
/// same two vertices are merged, with the sum of their weights, and edges of weight 0 are omitted, since they cost
/// nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Csr {
    /// The edges of vertex `v` are `offsets[v]..offsets[v + 1]`.
    offsets: Vec<usize>,
    /// The neighbors, and the weights of the edges to them.
    edges: Vec<(u32, i64)>,
    /// The number of original vertices that each represents: 1, unless the graph is coarsened.
    sizes: Vec<u32>,
}

impl Csr {
    /// A graph by its edges `(from, to, weight)`, in any order. O((vertices + edges) log degree).
    ///
    /// # Panics
    ///
    /// If an edge leads from or to a vertex that does not exist.
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
        let mut graph = Self::with_room(vertices);
        for vertex in 0..vertices {
            let row = &mut rows[starts[vertex]..starts[vertex + 1]];
            row.sort_unstable();
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                graph.edges.push((same[0].0, same.iter().map(|(_, weight)| weight).sum()));
            }
            graph.close(1);
        }
        graph
    }

    /// An empty graph with space for this number of vertices, most of which have few edges.
    fn with_room(vertices: usize) -> Self {
        let mut offsets = Vec::with_capacity(vertices + 1);
        offsets.push(0);
        let (edges, sizes) = (Vec::with_capacity(8 * vertices), Vec::with_capacity(vertices));
        Self { offsets, edges, sizes }
    }

    /// Ends the row of a vertex of this size.
    fn close(&mut self, size: i64) {
        self.offsets.push(self.edges.len());
        self.sizes.push(size as u32);
    }

    /// Every edge in both directions, each with the sum of both weights. O(vertices + edges log degree).
    pub(in crate::mapping) fn symmetric(&self) -> Self {
        let row = |from: u32| self.edges(from as usize).map(move |(to, w)| (from, to as u32, w));
        let edges = (0..self.vertices() as u32).flat_map(row);
        Self::from_edges(self.vertices(), edges.flat_map(|(a, b, w)| [(a, b, w), (b, a, w)]))
    }

    /// A copy of the edges, for fast access. Several edges to one vertex are not merged.
    pub(in crate::mapping) fn copy(graph: &impl Adjacency) -> Self {
        let all: Vec<u32> = (0..graph.vertices() as u32).collect();
        Self::induced(graph, &all, &mut vec![u32::MAX; all.len()])
    }

    /// The edges between some of the vertices: vertex `i` here is `vertices[i]` there. `place` has an entry per vertex,
    /// all `u32::MAX` before and after. O(vertices + edges of these).
    pub(in crate::mapping) fn induced(
        graph: &impl Adjacency,
        vertices: &[u32],
        place: &mut [u32],
    ) -> Self {
        (0..).zip(vertices).for_each(|(at, vertex)| place[*vertex as usize] = at);
        let mut rows = Self::with_room(vertices.len());
        for vertex in vertices {
            graph.for_each_edge(*vertex as usize, |to, weight| {
                if place[to] != u32::MAX && to != *vertex as usize && weight != 0 {
                    rows.edges.push((place[to], weight));
                }
            });
            rows.close(graph.size(*vertex as usize));
        }
        vertices.iter().for_each(|vertex| place[*vertex as usize] = u32::MAX);
        rows
    }

    /// The graph of the `parts` parts of a graph, weighted by the edges between them: vertex `i` here is part `i`.
    /// Additional memory: 8 bytes per vertex.
    pub(in crate::mapping) fn contracted(
        graph: &impl Adjacency,
        part_of: &[u32],
        parts: usize,
    ) -> Self {
        let (members, starts) = grouped(part_of, parts);
        let mut rows = Self::with_room(parts);
        // One more than the position of the edge to each part in the current row.
        let mut behind = vec![0; parts];
        for part in 0..parts {
            let (begin, mut size) = (rows.len(), 0);
            for vertex in &members[starts[part] as usize..starts[part + 1] as usize] {
                size += graph.size(*vertex as usize);
                graph.for_each_edge(*vertex as usize, |to, weight| {
                    let to = part_of[to];
                    if to as usize == part {
                    } else if behind[to as usize] > begin {
                        rows.edges[behind[to as usize] - 1].1 += weight;
                    } else {
                        rows.edges.push((to, weight));
                        behind[to as usize] = rows.len();
                    }
                });
            }
            rows.close(size);
        }
        rows
    }

    /// The neighbors of a vertex, and the weights of the edges to them.
    pub(in crate::mapping) fn row(&self, vertex: usize) -> &[(u32, i64)] {
        &self.edges[self.offsets[vertex]..self.offsets[vertex + 1]]
    }

    /// The edges that leave a vertex: the neighbors in ascending order, with the weights.
    pub fn edges(&self, vertex: usize) -> impl ExactSizeIterator<Item = (usize, i64)> + Clone + '_ {
        self.row(vertex).iter().map(|(to, weight)| (*to as usize, *weight))
    }

    /// The weight of all edges between vertices of different parts.
    pub(in crate::mapping) fn cut(&self, part: &[u32]) -> i64 {
        self.cost(part).inter_node_edges
    }

    /// The sum of the sizes of all vertices.
    pub(in crate::mapping) fn total_size(&self) -> i64 {
        self.sizes.iter().map(|size| i64::from(*size)).sum()
    }

    /// The largest size of a vertex.
    pub(in crate::mapping) fn largest_size(&self) -> i64 {
        self.sizes.iter().copied().max().map_or(0, i64::from)
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// True if the graph has no edges.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }
}

/// The indices of equal ids below `groups`, grouped and in ascending order, and the start of each id.
pub(in crate::mapping) fn grouped(ids: &[u32], groups: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; groups + 1];
    // Neighbors usually have the same id.
    let runs = || ids.chunk_by(|a, b| a == b);
    for run in runs() {
        starts[run[0] as usize + 1] += run.len() as u32;
    }
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    let mut next = starts.clone();
    let mut indices = vec![0; ids.len()];
    let mut first = 0;
    for run in runs() {
        let place = &mut next[run[0] as usize];
        indices[*place as usize..][..run.len()]
            .iter_mut()
            .zip(first..)
            .for_each(|(at, index)| *at = index);
        *place += run.len() as u32;
        first += run.len() as u32;
    }
    (indices, starts)
}

impl Adjacency for Csr {
    fn vertices(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn size(&self, vertex: usize) -> i64 {
        self.sizes[vertex].into()
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
    fn a_part_sends_the_sum_of_its_vertices_edges() {
        let edges = [(0, 1, 1), (0, 2, 2), (1, 3, 3), (3, 0, 4), (2, 0, -2), (1, 2, 0)];
        let parts = Csr::contracted(&Csr::from_edges(4, edges.into_iter()), &[1, 1, 0, 2], 4);
        let rows: Vec<Vec<(usize, i64)>> = (0..4).map(|part| parts.edges(part).collect()).collect();
        assert_eq!(rows, [vec![(1, -2)], vec![(0, 2), (2, 3)], vec![(1, 4)], vec![]]);
    }

    #[test]
    fn multiple_edges_are_summed_and_loops_are_omitted() {
        let edges = [(1, 0, 5), (0, 1, 2), (0, 0, 9), (0, 2, 0), (0, 1, 3), (2, 1, 1)];
        let graph = Csr::from_edges(3, edges.into_iter());
        assert!(!graph.is_empty() && Csr::from_edges(3, [(0, 0, 9)].into_iter()).is_empty());
        assert_eq!(graph.edges(0).collect::<Vec<_>>(), [(1, 5)]);
        assert_eq!(graph.edges(1).collect::<Vec<_>>(), [(0, 5)]);
        assert_eq!(graph.edges(2).collect::<Vec<_>>(), [(1, 1)]);
        let cost = graph.cost(&[0, 1, 1]);
        assert_eq!((cost.inter_node_edges, cost.max_node_edges), (10, 5));
    }
}
