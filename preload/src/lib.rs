//! The one library to preload for every MPI.
//!
//! It needs no MPI itself and exports all names of the chapter, which only jump to their targets. The targets are found
//! when the first one is called:
//!
//! - [`stubs`]: the names.
//! - [`resolve`]: the target of a name, for a caller.
//! - [`objects`]: the objects that the process has loaded.
//! - [`mpi`]: which MPI of these a caller uses.
//! - [`library`]: the library that was built for that MPI, in `cartograph/HOST` next to this one; the command finds it
//!   with [`cartograph_shim::elf`].
//! - [`unloading`]: how long a cached result is valid.
//! - [`loaded`], [`file`]: calls of the loader and of the system.
//!
//! With the feature `record`, the names are those of functions that send, and the library is the recorder; with
//! `world`, those that take a communicator, and the library is the one that reorders MPI_COMM_WORLD.
//!
//! If there is no library for the MPI, names lead to the MPI's functions. A process that calls none of them pays only
//! for the mapping of a small file; therefore no standard library is used, which would bring another one along.

#![cfg_attr(not(test), no_std)]

#[cfg(not(target_os = "linux"))]
compile_error!("this library is for Linux: on other systems preload the library of the MPI itself");

extern crate alloc;

mod file;
mod fit;
mod library;
mod loaded;
mod message;
mod mpi;
mod objects;
mod resolve;
#[cfg(not(test))]
mod runtime;
mod stubs;
mod unloading;
#[cfg(feature = "record")]
mod wraps;
