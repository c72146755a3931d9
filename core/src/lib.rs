//! The parts of Cartograph that need no MPI, each layer importing only those before it:
//!
//! - [`launcher`]: launchers, their options, and the variables that they set.
//! - [`topology`]: topologies and their queries.
//! - [`machine`]: where processes run.
//! - [`mapping`]: which process goes where.
//! - `learn`: chooses the placement of a program's next job.
//! - `replay`: predicts the time of recorded calls for other placements.
//! - [`engine`]: how a topology communicator comes to be, over any communicator.
//! - [`report`]: what was done and what it brought, for people and programs.
//! - [`settings`]: what users may set.
#![forbid(unsafe_code)]
#![deny(
    clippy::print_stderr,
    reason = "ranks write at once, so a line is one write: the host's layer does it"
)]

pub mod engine;
#[cfg(any(feature = "fuzz", all(feature = "cli", test)))]
pub mod fuzz;
pub mod launcher;
#[cfg(feature = "cli")]
pub mod learn;
pub mod machine;
pub mod mapping;
pub mod metis;
pub mod profile;
#[cfg(feature = "cli")]
pub mod replay;
pub mod report;
pub mod settings;
pub mod topology;
