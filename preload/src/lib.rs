//! The one library to preload for every MPI.
//!
//! It needs no MPI itself and exports all names of the chapter, which do nothing but go on to where they
//! lead. That is found out when the first is called:
//!
//! - [`stubs`]: the names.
//! - [`resolve`]: where a name leads, for a caller.
//! - [`objects`]: what the process has loaded.
//! - [`mpi`]: which MPI of these a caller uses.
//! - [`library`]: the library that was built for that MPI, in `cartograph/HOST` beside this one; by
//!   [`cartograph_shim::elf`] the command knows it too.
//! - [`unloading`]: how long a cached result is valid.
//! - [`loaded`], [`file`]: what is asked of the loader and of the system.
//!
//! With the feature `record` the names are those of functions that send, and the library is the recorder; with `world`
//! those that take a communicator, and the library is that of the world in another order.
//!
//! If there is no library for the MPI, names lead to the MPI's functions. A process that calls none of
//! them pays for the mapping of a small file; therefore no standard library, which would bring another one
//! along.

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
#[cfg(feature = "wraps")]
mod wraps;
