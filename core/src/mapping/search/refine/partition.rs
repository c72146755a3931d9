//! A mapping that is changed by exchanges.

use crate::mapping::model::cost::{Adjacency, Cost};
use crate::mapping::model::csr::grouped;

/// The node of each vertex, and the vertices of each node. Memory: 12 bytes per vertex.
#[derive(Debug, Clone)]
pub(in crate::mapping) struct Partition<'a, A> {
    pub(super) graph: &'a A,
    /// The node of each vertex.
    node_of: Vec<u32>,
    /// All vertices, grouped by node.
    members: Vec<u32>,
    /// The vertices of node `k` are `members[starts[k]..starts[k + 1]]`.
    starts: Vec<u32>,
    /// The position of each vertex in `members`.
    places: Vec<u32>,
    /// The edges that leave each node.
    leaving: Vec<i64>,
    /// Vertices are only exchanged if their numbers have the same remainder by this one.
    pub(super) classes: u32,
}

impl<'a, A: Adjacency> Partition<'a, A> {
    /// Every vertex on the node given, of `nodes` nodes. O(vertices + edges).
    pub(in crate::mapping) fn new(graph: &'a A, node_of: Vec<u32>, nodes: usize) -> Self {
        let (members, starts) = grouped(&node_of, nodes);
        let mut places = vec![0; node_of.len()];
        (0..).zip(&members).for_each(|(place, vertex)| places[*vertex as usize] = place);
        let mut leaving = vec![0; nodes];
        graph.for_each_cut_edge(&node_of, |from, _, weight| leaving[from as usize] += weight);
        Self { graph, node_of, members, starts, places, leaving, classes: 1 }
    }

    /// The same, but exchanges are limited to vertices whose numbers have the same remainder by `classes`.
    pub(in crate::mapping) fn within_classes(self, classes: u32) -> Self {
        Self { classes, ..self }
    }

    /// The number of nodes.
    pub(in crate::mapping) fn nodes(&self) -> usize {
        self.leaving.len()
    }

    /// The node of each vertex.
    pub(in crate::mapping) fn node_of(&self) -> &[u32] {
        &self.node_of
    }

    /// The final node of each vertex.
    pub(in crate::mapping) fn into_node_of(self) -> Vec<u32> {
        self.node_of
    }

    /// The cost of the mapping.
    pub(in crate::mapping) fn cost(&self) -> Cost {
        Cost::of_loads(&self.leaving)
    }

    pub(super) fn members(&self, node: u32) -> &[u32] {
        let (first, last) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.members[first as usize..last as usize]
    }

    /// The position of a vertex among those of its node.
    pub(super) fn place(&self, vertex: usize) -> usize {
        (self.places[vertex] - self.starts[self.node_of[vertex] as usize]) as usize
    }

    pub(super) fn node(&self, vertex: usize) -> u32 {
        self.node_of[vertex]
    }

    pub(super) fn leaving(&self, node: u32) -> i64 {
        self.leaving[node as usize]
    }

    /// Exchanges two vertices of different nodes. The changes are those of the edges that leave the nodes of `u` and of
    /// `v`; no other node's edges change.
    pub(super) fn swap(&mut self, u: usize, v: usize, changes: (i64, i64)) {
        let (a, b) = (self.node_of[u], self.node_of[v]);
        self.leaving[a as usize] += changes.0;
        self.leaving[b as usize] += changes.1;
        self.node_of.swap(u, v);
        self.places.swap(u, v);
        self.members.swap(self.places[u] as usize, self.places[v] as usize);
    }
}

/// The connections of one vertex to the two nodes of an exchange.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ties {
    /// The weight of edges to vertices of the same node.
    pub(super) own: i64,
    /// The weight of edges to vertices of the other node.
    pub(super) other: i64,
    /// The weight of all edges.
    pub(super) all: i64,
}

impl Ties {
    /// The decrease of the sum over both nodes if only this vertex moves, halved.
    pub(super) fn gain(self) -> i64 {
        self.other - self.own
    }
}

/// The changes in the edges that leave the node of the first vertex and that of the second, if two vertices with an
/// edge of weight `between` are exchanged.
pub(super) fn changes(u: Ties, v: Ties, between: i64) -> (i64, i64) {
    let degrees = v.all - u.all;
    (2 * (u.own - v.other + between) + degrees, 2 * (v.own - u.other + between) - degrees)
}
