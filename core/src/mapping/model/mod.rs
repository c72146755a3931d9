//! The grids and graphs that are mapped, and the weights of edges that they have between nodes.

pub(super) mod cost;
pub(super) mod csr;
pub(super) mod edges;
pub(super) mod grid;
pub(super) mod lattice;
pub(super) mod order;
pub mod weights;
