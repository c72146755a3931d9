//! Cartograph: the process-topology chapter of MPI as a separate library.
//!
//! Layers, each importing only those before it:
//!
//! - [`launcher`]: launchers, their options, and the variables that they set.
//! - [`topology`]: topologies and their queries.
//! - [`machine`]: where processes run.
//! - [`mapping`]: which process goes where.
//! - [`engine`]: how a topology communicator comes to be, over any communicator.
//! - [`report`]: what was done and what it brought, for people and programs.
//! - [`settings`]: what users may set.
//! - `host`: the only caller of the host MPI.
//! - `abi`: the C names.
//! - `fortran`: the Fortran names.
//!
//! The first seven are pure Rust, the crate `cartograph-core`, and are all that is built with
//! `--no-default-features`.
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
