//! Makes topology communicators, over any communicator that can do what [`Comm`] asks.
//! Pure: no MPI, no I/O, no unsafe.

pub mod agree;
pub mod arguments;
pub mod assign_ranks;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod calls;
pub mod check;
pub mod combine;
pub mod create;
pub mod decision;
mod digest;
pub mod dist_graph;
mod edge_match;
pub mod exchange;
pub mod history;
pub mod incompatible_program;
mod node_traffic;
pub mod policy;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod sim;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use node_traffic::NodeTraffic;

use self::history::{History, Identities};
use self::incompatible_program::IncompatibleProgram;
use crate::machine::Machine;
use crate::mapping::{Csr, Grid, Options, Plan, plan_cart, plan_graph};
use crate::topology::{self, Class};

/// The knowledge of a process, without asking others, of where the processes of a communicator run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MachineKnowledge {
    /// No knowledge.
    #[default]
    Unknown,
    /// On which node each is.
    Known,
    /// They all share one node, and whatever lies below it.
    OneNode,
}

/// The operations that the engine needs of a communicator. Every method but `rank`, `size`, `knowledge`,
/// `incompatible_program`, `weights`, `weighed`, `host_graph`, `has_topology`, `identity`, `identities`, `process` and
/// `history` is collective.
pub trait Comm: Sized {
    /// A failure of the host, or a fault that the engine found.
    type Error: From<Error>;

    /// The rank of the calling process.
    fn rank(&self) -> Result<i32, Self::Error>;
    /// The number of processes.
    fn size(&self) -> Result<i32, Self::Error>;
    /// `MPI_Comm_split`; no color is `MPI_UNDEFINED`, and gives no communicator.
    fn split(&self, color: Option<i32>, key: i32) -> Result<Option<Self>, Self::Error>;
    /// Gives back a communicator that [`Comm::split`] made.
    fn free(self) -> Result<(), Self::Error>;
    /// Replaces each word by its minimum over all processes.
    fn min(&self, words: &mut [i64]) -> Result<(), Self::Error>;
    /// Replaces each word by its sum over all processes, which must fit.
    fn sum(&self, words: &mut [i64]) -> Result<(), Self::Error>;
    /// Gives every process the bytes of `root`; every process knows the length.
    fn broadcast(&self, root: i32, bytes: &mut [u8]) -> Result<(), Self::Error>;
    /// Scatters: gives every process its part of what rank 0 passes.
    fn scatter(&self, rows: &[[i32; 6]]) -> Result<[i32; 6], Self::Error>;
    /// The words of all processes, one after the other, on rank 0; nothing elsewhere. All of it is at
    /// most `i32::MAX` words.
    fn gather(&self, words: &[i32]) -> Result<Vec<i32>, Self::Error>;
    /// The knowledge of this process about where the processes run. Only asked for on rank 0.
    fn knowledge(&self) -> MachineKnowledge;
    /// The program that calls the constructor, if it cannot be moved. Only asked for on rank 0, when processes are
    /// about to be moved.
    fn incompatible_program(&self) -> Option<&'static IncompatibleProgram>;
    /// True if the communicator has a topology; the same on all processes.
    fn has_topology(&self) -> bool;
    /// A number of this process that no other process of the communicator has; the same on all communicators of the
    /// same processes.
    fn identity(&self) -> u64;
    /// The identities of all processes in the order of ranks, if they are known without a message. Only asked for on
    /// rank 0.
    fn identities(&self) -> Option<Identities>;
    /// A number of this process that no other has that shares its [history](Comm::history).
    fn process(&self) -> u64 {
        0
    }
    /// The topologies that the process remembers.
    fn history(&self) -> &History;
    /// The weights of edges along each dimension of a grid of these sides, if they are known. Only asked for on
    /// rank 0.
    fn weights(&self, dims: &[i32]) -> Option<Vec<i64>>;
    /// A graph with weights that say what a recorded run sent along its edges, if there was one. Only asked for
    /// on rank 0.
    fn weighed(&self, graph: Csr) -> Csr {
        graph
    }
    /// The plan for a grid. Local. An implementation that is asked again and again may keep the last one.
    fn plan_cart(&self, grid: &Grid, machine: &Machine, options: &Options) -> Plan {
        plan_cart(grid, machine, options)
    }
    /// The plan for a graph, likewise.
    fn plan_graph(&self, graph: &Csr, machine: &Machine, options: &Options) -> Plan {
        plan_graph(graph, machine, options)
    }
    /// Returns whether this process wants native neighborhood collectives, on a distributed graph of
    /// the host, on a new communicator of `processes`, on which some process is a neighbor of a process more than once
    /// or not.
    fn host_graph(&self, _processes: i32, _repeated: &dyn Fn() -> bool) -> bool {
        false
    }
    /// The machine, on rank 0; `None` elsewhere, and if the host does not know it. Collective
    /// only if it is not `known` to rank 0.
    fn machine(&self, known: bool) -> Result<Option<Arc<Machine>>, Self::Error>;
    /// Sends `words` to one process and receives what another sends here. Only used on
    /// communicators that the engine made itself: no message of ours meets one of the program's.
    fn send_receive(&self, to: i32, words: &[i32], from: i32) -> Result<Vec<i32>, Self::Error>;
}

/// A fault that the engine found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// In this process' own arguments, found without communication.
    #[error(transparent)]
    Here(#[from] topology::Error),
    /// In the arguments of one rank, agreed on by all.
    #[error("on rank {rank}: {text}")]
    OnRank {
        /// The lowest rank that has the fault.
        rank: i32,
        /// The class of the fault.
        class: Class,
        /// The text of the fault.
        text: String,
    },
}

impl Error {
    /// The MPI error class of this fault.
    pub fn class(&self) -> Class {
        match self {
            Self::Here(error) => error.class(),
            Self::OnRank { class, .. } => *class,
        }
    }
}

/// A communicator together with a result on it. If that is an error, the communicator is freed.
pub fn keep<C: Comm, T>(comm: C, result: Result<T, C::Error>) -> Result<(C, T), C::Error> {
    match result {
        Ok(value) => Ok((comm, value)),
        Err(error) => comm.free().and(Err(error)),
    }
}
