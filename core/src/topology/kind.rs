//! The topology of a communicator: one of three kinds.

use super::cart::Cart;
use super::dist_graph::DistGraph;
use super::error::Error;
use super::graph::Graph;

/// The topology of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
// The kind costs one load: every query begins with it.
#[repr(u8)]
pub enum Topology {
    /// A grid (`MPI_CART`).
    Cart(Cart),
    /// A graph that every process knows as a whole (`MPI_GRAPH`).
    Graph(Graph),
    /// A distributed graph: each process knows only its own edges (`MPI_DIST_GRAPH`).
    DistGraph(DistGraph),
}

impl Topology {
    const CART: &'static str = "a Cartesian topology";
    const GRAPH: &'static str = "a graph topology";
    const DIST_GRAPH: &'static str = "a distributed graph topology";

    /// The kind of topology, for an error message.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Cart(_) => Self::CART,
            Self::Graph(_) => Self::GRAPH,
            Self::DistGraph(_) => Self::DIST_GRAPH,
        }
    }
}

/// The error for a topology that is missing or of another kind.
#[cold]
fn not_carried(wanted: &'static str, there: Option<&Topology>) -> Error {
    match there {
        Some(other) => Error::OtherTopology { wanted, found: other.kind() },
        None => Error::NoTopology { wanted },
    }
}

/// The topology of one kind of a communicator (`None`: it has no topology), or an error with the kind that it has
/// instead.
macro_rules! picker {
    ($(#[$doc:meta])* $name:ident, $variant:ident, $kind:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(topology: Option<&Topology>) -> Result<&$variant, Error> {
            match topology {
                Some(Topology::$variant(found)) => Ok(found),
                other => Err(not_carried(Topology::$kind, other)),
            }
        }
    };
}

picker! {
    /// The grid that a communicator has.
    ///
    /// # Errors
    ///
    /// [`Error::NoTopology`] if it has no topology, [`Error::OtherTopology`] if it has one of another kind.
    as_cart, Cart, CART
}
picker! {
    /// The graph that a communicator has.
    ///
    /// # Errors
    ///
    /// [`Error::NoTopology`] if it has no topology, [`Error::OtherTopology`] if it has one of another kind.
    as_graph, Graph, GRAPH
}
picker! {
    /// The distributed graph that a communicator has.
    ///
    /// # Errors
    ///
    /// [`Error::NoTopology`] if it has no topology, [`Error::OtherTopology`] if it has one of another kind.
    as_dist_graph, DistGraph, DIST_GRAPH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_topology_is_named() {
        let graph = Topology::Graph(Graph::new(&[0], &[]).expect("a graph"));
        let dist_graph = Topology::DistGraph(DistGraph::default());
        let cart = Topology::Cart(Cart::new(&[], &[], 1).expect("a grid"));
        assert!(as_graph(Some(&graph)).is_ok() && as_cart(Some(&cart)).is_ok());
        assert!(as_dist_graph(Some(&dist_graph)).is_ok());
        for (error, words) in [
            (as_cart(None).err(), "no topology; a Cartesian topology is needed"),
            (as_cart(Some(&graph)).err(), "a graph topology; a Cartesian topology is needed"),
            (
                as_graph(Some(&dist_graph)).err(),
                "a distributed graph topology; a graph topology is needed",
            ),
            (
                as_dist_graph(Some(&cart)).err(),
                "a Cartesian topology; a distributed graph topology is needed",
            ),
        ] {
            assert_eq!(error.expect("another").to_string(), format!("comm has {words}"));
        }
    }
}
