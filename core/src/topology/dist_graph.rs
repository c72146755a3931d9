//! Distributed graphs, in which a process knows only its own edges: MPI 4.1, 8.5.4 and 8.5.5.

use super::Error;

/// The edges of one process in one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edges {
    /// The rank at the other end of each edge. A process may be its own neighbor, and several edges may have the same
    /// end.
    pub ranks: Box<[i32]>,
    /// The weight of each edge; empty if the graph is not weighted.
    pub weights: Box<[i32]>,
}

impl Edges {
    /// The number of edges.
    pub fn degree(&self) -> i32 {
        self.ranks.len() as i32
    }
}

/// A distributed graph as one process knows it (MPI 4.1, 8.5.4): its own edges. Memory is O(degree).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DistGraph {
    /// Edges into this process.
    pub sources: Edges,
    /// Edges out of this process.
    pub destinations: Edges,
    /// True if the graph is weighted; a process without edges knows this as well.
    pub weighted: bool,
}

/// Checks that every entry of an array is a node, `0..nodes`.
///
/// # Errors
///
/// [`Error::NodeOutOfRange`], naming `argument` and the first entry that is not.
pub fn check_nodes(argument: &'static str, entries: &[i32], nodes: i32) -> Result<(), Error> {
    match entries.iter().position(|node| !(0..nodes).contains(node)) {
        None => Ok(()),
        Some(position) => {
            Err(Error::NodeOutOfRange { argument, position, value: entries[position], nodes })
        }
    }
}

/// Checks that no entry of an array is negative.
///
/// # Errors
///
/// [`Error::NegativeEntry`], naming `argument` and the first entry that is.
pub fn check_not_negative(argument: &'static str, entries: &[i32]) -> Result<(), Error> {
    match entries.iter().position(|entry| *entry < 0) {
        None => Ok(()),
        Some(position) => {
            Err(Error::NegativeEntry { argument, position, value: entries[position] })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_must_be_nodes_or_not_negative() {
        let edges = Edges { ranks: [2, 0, 2].into(), weights: [].into() };
        assert_eq!(edges.degree(), 3);
        assert_eq!(check_not_negative("weights", &[0, 1, 0]), Ok(()));
        let negative = Error::NegativeEntry { argument: "weights", position: 1, value: -1 };
        assert_eq!(check_not_negative("weights", &[0, -1, -2]), Err(negative));
        assert_eq!(check_nodes("sources", &edges.ranks, 3), Ok(()));
        let outside =
            Error::NodeOutOfRange { argument: "sources", position: 0, value: 2, nodes: 2 };
        assert_eq!(check_nodes("sources", &edges.ranks, 2), Err(outside));
    }
}
