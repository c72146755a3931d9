//! Cartograph: the process-topology chapter of MPI as a separate library.
//!
//! Layers, each importing only those before it:
//!
//! - [`launcher`]: launchers, their options, and the variables that they set.
//! - [`topology`]: topologies and their queries.
//! - [`machine`]: where processes run.
//! - [`mapping`]: the mapping of processes to ranks.
//! - [`engine`]: the creation of topology communicators, over any communicator.
//! - [`report`]: reports for people and programs.
//! - [`settings`]: the settings of users.
//! - `host`: the only caller of the host MPI.
//! - `abi`: the C names.
//! - `fortran`: the Fortran names.
//!
//! The first seven are pure Rust, in the crate `cartograph-core`. Only these are built with `--no-default-features`.
#![deny(
    clippy::print_stderr,
    reason = "ranks write at once, so a line is one write: host::process"
)]

pub use cartograph_core::{engine, launcher, machine, mapping, report, settings, topology};

#[cfg(feature = "host")]
mod abi;
#[cfg(feature = "host")]
mod fortran;
#[cfg(feature = "host")]
mod host;

#[cfg(all(feature = "host", not(panic = "abort"), not(test)))]
compile_error!("build with panic = \"abort\": a panic must not unwind into C");

#[cfg(test)]
mod tests {
    #[test]
    fn the_header_has_the_version_of_the_package() {
        let header = include_str!("../include/cartograph.h");
        assert!(header.contains(concat!("\"", env!("CARGO_PKG_VERSION"), "\"")));
    }
}
