//! Creates topology communicators over any communicator that implements [`Comm`], with facts from an [`Advisor`]. Pure:
//! no MPI, no I/O, no unsafe.

mod advisor;
pub mod agree;
pub mod arguments;
pub mod assign_ranks;
#[cfg(any(test, feature = "fuzz"))]
#[path = "tests/calls.rs"]
pub(crate) mod calls;
pub mod check;
mod comm;
mod contribution;
pub mod create;
pub mod decision;
mod digest;
pub mod dist_graph;
mod edge_match;
mod error;
pub mod exchange;
mod faults;
#[cfg(feature = "fuzz")]
#[path = "tests/fuzz.rs"]
pub mod fuzz;
pub mod history;
mod planned;
pub mod policy;
mod reason;
#[cfg(any(test, feature = "fuzz"))]
#[path = "tests/sim.rs"]
pub(crate) mod sim;
mod survey;
#[cfg(test)]
mod tests;
mod watcher;

pub use advisor::{Advisor, MachineKnowledge};
pub use comm::{Comm, keep};
pub use error::Error;
pub use reason::Reason;
