//! The mapping of processes to vertices. Pure: no MPI, no I/O, no unsafe.
//!
//! A topology belongs to ranks: vertex i of a grid or graph is always new rank i. A mapping decides which process of
//! the old communicator gets that rank: a [`Plan`].

mod cart;
pub mod cost;
pub mod csr;
mod distance_model;
mod distances;
mod follow;
mod graph;
pub mod grid;
mod hierarchical;
mod last_plan;
mod lattice;
mod levels;
mod order;
mod participants;
pub mod plan;
mod rank_assignment;
mod refine;
mod rng;
mod scramble;
mod search;
mod subject;
#[cfg(test)]
mod tests;
mod torus;
mod torus_placement;
mod unknown_weights;
pub mod weights;

pub use cost::{Adjacency, Cost, Objective};
pub use csr::Csr;
pub use distances::{Distances, MOST_DISTANCE};
pub use follow::follow_cart;
pub use grid::{Grid, Offset};
pub use last_plan::LastPlan;
pub use plan::{LevelCost, Options, Plan, Scramble};
pub use refine::Stop;
pub use search::{plan_cart, plan_graph};
pub use weights::Weights;
