//! The knowledge of a process about a communicator, its program and the user's wishes.

use std::sync::Arc;

use super::comm::Comm;
use super::history::{History, Identities};
use super::incompatible_program::IncompatibleProgram;
use crate::machine::Machine;
use crate::mapping::Csr;

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

/// What a constructor asks about the old communicator, on which no process waits for others except in
/// [`machine`](Self::machine).
pub trait Advisor<C: Comm> {
    /// The knowledge of this process about where the processes run. Only asked for on rank 0.
    fn knowledge(&self) -> MachineKnowledge;
    /// The machine, on rank 0; `None` elsewhere, and if the host does not know it. Collective
    /// only if it is not `known` to rank 0.
    ///
    /// # Errors
    ///
    /// What the host's own calls return.
    fn machine(&self, known: bool) -> Result<Option<Arc<Machine>>, C::Error>;
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
    /// A number of this process that no other has that shares its [history](Self::history).
    fn process(&self) -> u64;
    /// The topologies that the process remembers.
    fn history(&self) -> &History;
    /// The weights of edges along each dimension of a grid of these sides, if they are known. Only asked for on
    /// rank 0.
    fn weights(&self, dims: &[i32]) -> Option<Vec<i64>>;
    /// A graph with weights that say what a recorded run sent along its edges, if there was one. Only asked for
    /// on rank 0.
    fn weighed(&self, graph: Csr) -> Csr;
    /// Returns whether this process wants native neighborhood collectives, on a distributed graph of
    /// the host, on a new communicator of `processes`, on which some process is a neighbor of a process more than once
    /// or not.
    fn host_graph(&self, processes: i32, repeated: &dyn Fn() -> bool) -> bool;
}
