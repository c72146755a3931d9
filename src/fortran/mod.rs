//! The Fortran names. They convert handles, truth values and sentinels, and call the bodies of `abi`.
//!
//! Fortran's INTEGER is C's int, so arrays need no conversion: programs with an INTEGER of another size are not
//! supported. An incoming LOGICAL is true unless it is 0, as in the bodies themselves; arrays of them are only read,
//! since they may be in read-only memory. Handles are numbers.
//!
//! `include 'mpif.h'`, `use mpi` and `use mpi_f08` all call these names or the C names: no host reaches its own
//! topology functions in any other way.

#![allow(clippy::too_many_arguments, reason = "the standard's signatures")]

#[macro_use]
mod export;

mod cart;
mod dist_graph;
mod general;
mod graph;
mod neighbor;
mod pointers;
