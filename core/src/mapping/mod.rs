//! The mapping of processes to vertices. Pure: no MPI, no I/O, no unsafe.
//!
//! A topology belongs to ranks: vertex i of a grid or graph is always new rank i. A mapping decides which process of
//! the old communicator gets that rank: a [`Plan`].

mod budget;
mod distance;
pub mod last_plan;
mod model;
pub mod plan;
mod search;
#[cfg(test)]
mod tests;

pub use budget::Stop;
pub use distance::distances::{Distances, MOST_DISTANCE};
pub use model::cost::{Adjacency, Cost};
pub use model::csr::Csr;
pub use model::grid::{Grid, Offset};
pub use model::objective::Objective;
pub use model::weights::{self, Weights};
pub use plan::{LevelCost, Options, Plan, Scramble};
pub use search::{follow_cart, keep_devices, plan_graph, plan_grid};
