//! The C names: the standard's signatures, the conversion of raw pointers to slices, and the bodies that the Fortran
//! names call as well.
//!
//! One private body per function. `MPI_X`, `PMPI_X` and the Fortran names all call that body and never each other: a
//! call to an exported name can be interposed, and a tool would see it twice.

#![allow(clippy::too_many_arguments, reason = "the standard's signatures")]

#[macro_use]
mod export;

pub(crate) mod cart;
pub(crate) mod dist_graph;
pub(crate) mod general;
pub(crate) mod graph;
pub(crate) mod neighbor;
mod plan;
pub(crate) mod pointers;
#[cfg(mpi_sessions)]
mod sessions;
