//! Neighborhood collectives over the host: MPI 4.1, 8.6 to 8.8.
//!
//! A collective is, on each side, a list of blocks of the program's buffer, one per neighbor. Blocks are only described
//! here, never read or written: buffers may be in memory that only the host can access.
//!
//! - [`blocks`]: the description of a collective.
//! - [`cache`]: the process among its neighbors, and the data cached with a communicator.
//! - [`collective`]: the route of a collective.
//! - [`self_copy`]: blocks of a process to itself, except in persistent collectives.
//! - [`blocking`]: messages on a private communicator.
//! - [`via_alltoallw`]: nonblocking and persistent, as one request of the host on the communicator itself: an
//!   all-to-all.
//! - [`via_neighbor`]: the same with the host's neighborhood collectives, if [`route`] chooses these.

mod alltoallw_args;
mod argument_lifetime;
mod blocking;
mod blocks;
mod cache;
#[macro_use]
mod call;
mod collective;
mod ends;
mod neighbor_args;
pub(super) mod pairing;
mod persistent;
pub(super) mod route;
mod self_comm;
mod self_copy;
mod types;
mod validate;
mod via_alltoallw;
pub(super) mod via_neighbor;
mod waitall;

pub(crate) use blocks::{Block, Operation, Regular, Run, Side, Start, bytes, regular};
pub(crate) use cache::Neighborhood;
pub(crate) use collective::{extent, extents, run};
pub(in crate::host) use self_comm::prepare;
