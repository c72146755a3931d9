//! The parts of Cartograph that need no MPI. To place the processes of a grid or graph, call
//! [`mapping::plan_grid`] or [`mapping::plan_graph`], which have examples; other parts may change with each version.
//! [`metis::read`] reads graphs, and [`machine::Machine`] describes nodes and switches.
//!
//! Each layer imports only those before it:
//!
//! - [`launcher`]: launchers, their options, and the variables that they set.
//! - [`topology`]: topologies and their queries.
//! - [`machine`]: where processes run.
//! - [`mapping`]: the mapping of processes to ranks.
//! - [`engine`]: the creation of topology communicators, over any communicator.
//! - [`report`]: reports for people and programs.
//! - [`settings`]: the settings of users.
#![forbid(unsafe_code)]
#![deny(
    clippy::print_stderr,
    reason = "ranks write at once, so a line is one write: the host's layer does it"
)]

pub mod engine;
pub mod launcher;
pub mod machine;
pub mod mapping;
pub mod metis;
pub mod report;
pub mod settings;
pub mod topology;
