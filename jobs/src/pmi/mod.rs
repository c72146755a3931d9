//! PMI, by which an MPI learns from the launcher which rank a process has and which ranks share its node: the two wire
//! formats, and the changes to their lines by which ranks get other places.
//!
//! A relay between a program and its launcher gives each process another rank: no process moves. Nothing here reads or
//! writes, except [`process`]: the relay of a process, which `cartograph exec` starts.

pub mod agreement;
mod bridge;
#[cfg(test)]
#[path = "tests/fake.rs"]
mod fake;
pub mod line;
pub mod mapping;
pub mod order;
mod parts;
pub mod process;
pub mod relay;

pub use agreement::{Agreement, Process, Server, Version, agree};
pub use mapping::Mapping;
pub use order::Order;
pub use parts::Parts;
pub use relay::{End, Relay};
