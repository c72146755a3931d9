//! `libcartograph_world.so`: reorders a program's MPI_COMM_WORLD as in a profile. `cartograph exec
//! --profile` preloads it if the profile has an order; `docs/world.md` lists the limits.
//!
//! After `MPI_Init`, one split of the true MPI_COMM_WORLD creates a communicator W of all its processes in the other
//! order. Every function that takes a communicator replaces MPI_COMM_WORLD by W, under its `MPI_` and its `PMPI_` name,
//! and calls the next function of the same name: a tool's, Cartograph's, or the host's.
//!
//! - [`forward`]: the functions that only need the handle replaced. `build.rs` makes their table from mpi.h.
//! - [`by_hand`]: the others, each with its reason. [`callbacks`]: functions that the host calls get MPI_COMM_WORLD.
//! - [`world`], [`handle`]: which communicator MPI_COMM_WORLD is. [`agree`]: how it is created. [`order`]: the profile.
//! - [`watch`]: a message if the other processes do not arrive. [`variables`]: the ranks in the environment.

#![deny(clippy::print_stderr, reason = "ranks write at once, so a line is one write: say!")]
#![allow(clippy::too_many_arguments, reason = "MPI's functions have as many")]

/// Links the host's libraries.
use mpi_sys as _;

/// `if_declared!`: which functions mpi.h declares.
#[macro_use]
mod declared {
    include!(concat!(env!("OUT_DIR"), "/declared.rs"));
}

mod agree;
mod by_hand;
mod callbacks;
mod forward;
mod handle;
mod host;
mod variables;
mod watch;
mod world;

/// For the comparison of types in `names!`. Never called.
use sys as prototypes;

/// The host: what mpi.h and `shim.h` declare.
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_imports,
    clippy::all,
    reason = "generated from shim.h"
)]
mod sys {
    include!(concat!(env!("OUT_DIR"), "/sys.rs"));
}

cartograph_shim::finds_next!();

#[cfg(not(panic = "abort"))]
compile_error!("build with panic = \"abort\": a panic must not unwind into C");
