//! The grids and graphs to map, and the weights of their edges between nodes.

pub(super) mod cost;
pub(super) mod csr;
pub(super) mod edges;
pub(super) mod grid;
pub(super) mod lattice;
pub(super) mod objective;
pub(super) mod order;
pub mod weights;
