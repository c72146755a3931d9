//! Which process goes where. Pure: no MPI, no I/O, no unsafe.
//!
//! A topology belongs to ranks: vertex i of a grid or graph is always new rank i. What a mapping
//! decides is which process of the old communicator gets that rank: a [`Plan`].

mod assumed;
mod cart;
pub mod cost;
pub mod csr;
pub mod graph;
pub mod grid;
mod lattice;
pub mod levels;
pub mod memo;
mod order;
pub mod plan;
mod rank_assignment;
mod rank_zero;
mod refine;
mod rng;
mod scramble;
mod search;
pub mod weights;

pub use cost::{Adjacency, Cost, Objective};
pub use csr::Csr;
pub use grid::{Grid, Offset};
pub use levels::Distances;
pub use memo::{recall_cart, recall_graph};
pub use plan::{Options, Plan};
pub use refine::stop_searches;
pub use scramble::Scramble;
pub use search::{plan_cart, plan_graph};
pub use weights::Weights;
