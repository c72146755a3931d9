//! Topologies and their queries. Pure: no MPI, no I/O, no unsafe.
//!
//! Ranks, coordinates and weights are `i32`, MPI's `int`. Every topology is immutable.

pub mod cart;
pub mod dims;
pub mod dist_graph;
pub mod error;
pub mod graph;
mod kind;
pub mod neighbors;
mod summary;

pub use cart::Cart;
pub use dims::{BoxShape, NoBox, dims_create};
pub use dist_graph::{DistGraph, Edges};
pub use error::{Class, Error};
pub use graph::Graph;
pub use kind::{Topology, as_cart, as_dist_graph, as_graph};
pub use neighbors::Direction;
pub use summary::TopologySummary;
