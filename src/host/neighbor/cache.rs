//! The calling process among its neighbors, and the data that collectives cache with a communicator.

use std::sync::{Arc, OnceLock};

use super::alltoallw_args::ArgsCache;
use super::ends::Ends;
use super::neighbor_args::ArgumentPool;
use super::pairing::HostPairing;
use super::self_comm::SelfComm;
use crate::host::attributes::{self, TopologyAttribute};
use crate::host::constants;
use crate::host::sys::MPI_Comm;
use crate::host::{HostComm, Result, report};
use crate::topology::{Direction, Error};

/// The data of collectives on a communicator, cached with its topology.
#[derive(Default)]
pub(super) struct NeighborCache {
    pub(super) ends: OnceLock<Ends>,
    /// The pairing of blocks, if it is not the standard's.
    pub(super) pairing: OnceLock<Option<HostPairing>>,
    /// The communicator of this process alone, once it was needed; `None` inside if it cannot be created. It belongs to
    /// the process, and is cached here for fast access.
    pub(super) self_comm: OnceLock<Option<Arc<SelfComm>>>,
    /// True if the host knows the neighbors.
    pub(super) by_host: OnceLock<bool>,
    /// The arguments of the host's neighborhood collectives, for reuse.
    pub(super) pool: ArgumentPool,
    pub(super) args: ArgsCache,
}

/// A process among its neighbors.
pub(crate) struct Neighborhood<'a> {
    pub(super) comm: MPI_Comm,
    pub(super) attached: &'a TopologyAttribute,
    pub(super) cache: &'a NeighborCache,
    pub(super) ends: &'a Ends,
}

impl Neighborhood<'_> {
    /// The neighborhood of the calling process on a communicator.
    ///
    /// # Errors
    ///
    /// [`Error::NoNeighbors`] if the communicator has no topology.
    ///
    /// # Safety
    ///
    /// As for [`attributes::attached`]: the communicator exists as long as the call lasts.
    pub(crate) unsafe fn of(comm: MPI_Comm) -> Result<Self> {
        if comm == constants::comm_null() {
            return Err(Error::NullComm.into());
        }
        // SAFETY: as the caller promises.
        let attached = unsafe { attributes::attached(comm)? }.ok_or(Error::NoNeighbors)?;
        let cache: &NeighborCache = attached.kept();
        let ends = match cache.ends.get() {
            Some(ends) => ends,
            None => {
                let (topology, rank) = (&*attached.topology, attached.rank());
                let (pairing, why) = HostPairing::of(topology, rank, attached.pairing).unzip();
                report::note_neighbors(topology, why);
                cache.pairing.get_or_init(|| pairing);
                cache.ends.get_or_init(|| Ends::new(topology, rank))
            }
        };
        Ok(Self { comm, attached, cache, ends })
    }

    /// The number of blocks on one side.
    pub(crate) fn degree(&self, direction: Direction) -> usize {
        self.ends.degree(direction)
    }

    /// The communicator on which the process moves its blocks to itself; `None` if there are no such blocks, or if they
    /// are sent like all others.
    #[inline]
    pub(super) fn self_comm(&self) -> Option<HostComm> {
        if self.ends.own().is_empty() { None } else { self.self_comm_with_blocks() }
    }

    fn self_comm_with_blocks(&self) -> Option<HostComm> {
        if self.attached.size() == 1
            && let Some(private) = self.attached.private(self.comm)
        {
            return Some(private.comm());
        }
        let self_comm = match self.cache.self_comm.get() {
            Some(self_comm) => self_comm,
            None => {
                let found = || SelfComm::of_process(attributes::makes_late());
                self.cache.self_comm.get_or_init(found)
            }
        };
        self_comm.as_ref().and_then(|self_comm| self_comm.comm())
    }
}
