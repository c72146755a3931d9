//! Graphs that every process knows completely: MPI 4.1, 8.5.3 and 8.5.5.

use std::mem;

use super::Error;

/// A directed graph as passed to `MPI_Graph_create` (MPI 4.1, 8.5.3). Every process has the whole graph, as that
/// interface requires: O(nodes + edges) of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// `index[i]` is the number of edges that leave nodes 0 to i.
    index: Box<[i32]>,
    /// The ends of the edges, node after node. Loops and multiple edges count.
    edges: Box<[i32]>,
}

impl Graph {
    /// The number of entries that `edges` must have for this `index`: its last entry, 0 without nodes.
    ///
    /// # Errors
    ///
    /// [`Error::IndexDecreases`], or [`Error::NegativeEntry`] for a negative first entry.
    pub fn nedges(index: &[i32]) -> Result<usize, Error> {
        let mut previous = 0;
        for (position, &value) in index.iter().enumerate() {
            if value < 0 {
                return Err(Error::NegativeEntry { argument: "index", position, value });
            }
            if value < previous {
                return Err(Error::IndexDecreases { position, value, previous });
            }
            previous = value;
        }
        Ok(previous as usize)
    }

    /// A graph of `index.len()` nodes: node `i` has the edges from `index[i - 1]` (0 for the first node) up to
    /// `index[i]`.
    ///
    /// # Errors
    ///
    /// The errors of [`Graph::nedges`], and [`Error::NodeOutOfRange`] for an edge to a node that does not exist.
    pub fn new(index: &[i32], edges: &[i32]) -> Result<Self, Error> {
        assert_eq!(Self::nedges(index)?, edges.len());
        super::dist_graph::check_nodes("edges", edges, index.len() as i32)?;
        Ok(Self { index: index.into(), edges: edges.into() })
    }

    /// The number of nodes.
    pub fn nnodes(&self) -> i32 {
        self.index.len() as i32
    }

    /// `index` as the program passed it.
    pub fn index(&self) -> &[i32] {
        &self.index
    }

    /// `edges` as the program passed it.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// True if a node is a neighbor of another node more than once.
    pub fn repeats_neighbors(&self) -> bool {
        // For each node, the last node whose neighbor it was found to be.
        let mut seen = vec![-1; self.index.len()];
        (0..self.nnodes()).any(|node| {
            let neighbors = self.neighbors(node).unwrap_or(&[]);
            neighbors.iter().any(|to| mem::replace(&mut seen[*to as usize], node) == node)
        })
    }

    /// `MPI_Graph_neighbors` (MPI 4.1, 8.5.5): all neighbors of `rank`, in the order of `edges`.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] for a node that does not exist.
    #[inline]
    pub fn neighbors(&self, rank: i32) -> Result<&[i32], Error> {
        let node = usize::try_from(rank)
            .ok()
            .filter(|node| *node < self.index.len())
            .ok_or(Error::Rank { rank, size: self.nnodes() })?;
        let first = if node == 0 { 0 } else { self.index[node - 1] };
        Ok(&self.edges[first as usize..self.index[node] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbor_may_occur_twice() {
        let repeats =
            |index: &[i32], edges: &[i32]| Graph::new(index, edges).unwrap().repeats_neighbors();
        assert!(!repeats(&[], &[]));
        assert!(!repeats(&[1, 3, 4], &[1, 0, 2, 1]));
        assert!(!repeats(&[1, 2, 2], &[0, 0]));
        assert!(repeats(&[0, 2, 2], &[0, 0]));
        assert!(repeats(&[0, 0, 3], &[2, 1, 2]));
    }

    #[test]
    fn neighbors_come_in_input_order_with_loops_and_multiples() {
        let graph = Graph::new(&[3, 5, 6, 9], &[1, 1, 3, 0, 0, 3, 0, 2, 2]).unwrap();
        assert_eq!(graph.index(), [3, 5, 6, 9]);
        assert_eq!(graph.edges(), [1, 1, 3, 0, 0, 3, 0, 2, 2]);
        assert_eq!(graph.neighbors(0), Ok(&[1, 1, 3][..]));
        assert_eq!(graph.neighbors(1), Ok(&[0, 0][..]));
        assert_eq!(graph.neighbors(2), Ok(&[3][..]));
        assert_eq!(graph.neighbors(3), Ok(&[0, 2, 2][..]));
        for rank in [-1, 4, i32::MIN, i32::MAX] {
            assert_eq!(graph.neighbors(rank), Err(Error::Rank { rank, size: 4 }));
        }
        let looped = Graph::new(&[0, 2], &[1, 1]).unwrap();
        assert_eq!(looped.neighbors(0), Ok(&[][..]));
        assert_eq!(looped.neighbors(1), Ok(&[1, 1][..]));
    }

    #[test]
    fn invalid_input_is_named() {
        assert_eq!(
            Graph::nedges(&[2, 1]),
            Err(Error::IndexDecreases { position: 1, value: 1, previous: 2 })
        );
        assert_eq!(
            Graph::nedges(&[-1, 1]),
            Err(Error::NegativeEntry { argument: "index", position: 0, value: -1 })
        );
        for value in [-1, 2] {
            assert_eq!(
                Graph::new(&[1, 2], &[1, value]),
                Err(Error::NodeOutOfRange { argument: "edges", position: 1, value, nodes: 2 })
            );
        }
        assert_eq!(Graph::nedges(&[]), Ok(0));
    }
}
