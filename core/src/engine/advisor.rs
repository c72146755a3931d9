//! What a process knows about a communicator and the user's wishes.

use std::sync::Arc;

use super::comm::Comm;
use super::history::{History, Identities};
use crate::machine::Machine;

/// What a process knows, without asking others, about the nodes of a communicator's processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MachineKnowledge {
    /// Nothing.
    #[default]
    Unknown,
    /// The node of each process.
    Known,
    /// All processes share one node; levels below it do not matter.
    OneNode,
}

/// A constructor's questions about the old communicator. No process waits for others here except in
/// [`machine`](Self::machine).
pub trait Advisor<C: Comm> {
    /// What this process knows about the nodes of the processes. Called only on rank 0.
    fn knowledge(&self) -> MachineKnowledge;
    /// The machine, on rank 0; `None` elsewhere, and if the host does not know it. Collective, unless it is `known` to
    /// rank 0.
    ///
    /// # Errors
    ///
    /// The errors of the host's own calls.
    fn machine(&self, known: bool) -> Result<Option<Arc<Machine>>, C::Error>;
    /// True if the communicator has a topology; the same on all processes.
    fn has_topology(&self) -> bool;
    /// A number of this process that no other process of the communicator has; the same on all communicators of the
    /// same processes.
    fn identity(&self) -> u64;
    /// The identities of all processes in rank order, if they are known without a message. Called only on rank 0.
    fn identities(&self) -> Option<Identities>;
    /// A number of this process that is unique among those that share its [history](Self::history).
    fn process(&self) -> u64;
    /// The topologies that the process remembers.
    fn history(&self) -> &History;
    /// The weights of edges along each dimension of a grid of these sides, if they are known. Called only on rank 0.
    fn weights(&self, dims: &[i32]) -> Option<Vec<i64>>;
    /// True if this process wants native neighborhood collectives, on a distributed graph of the host, for a new
    /// communicator of `processes`, in which some process is or is not a neighbor of a process more than once.
    fn host_graph(&self, processes: i32, repeated: &dyn Fn() -> bool) -> bool;
    /// The pairing of blocks that this process wants on a new communicator if a process is a neighbor of a process more than
    /// once: 0 is the standard's, greater numbers are pairings of the host. Negative if this process does not know it.
    fn pairing(&self, repeated: &dyn Fn() -> bool) -> i32;
}
