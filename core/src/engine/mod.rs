//! Creates topology communicators over any communicator that implements [`Comm`], with facts from an [`Advisor`]. Pure:
//! no MPI, no I/O, no unsafe.

mod advisor;
pub mod agree;
pub mod arguments;
pub mod assign_ranks;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod calls;
pub mod check;
mod comm;
pub mod create;
pub mod decision;
mod digest;
pub mod dist_graph;
mod edge_match;
mod error;
pub mod exchange;
pub mod history;
mod node_traffic;
pub mod policy;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod sim;
mod survey;
#[cfg(test)]
mod tests;
mod watcher;

pub use advisor::{Advisor, MachineKnowledge};
pub use comm::{Comm, keep};
pub use error::Error;
pub use node_traffic::NodeTraffic;
