//! Neighborhood collectives over the host: MPI 4.1, 8.6 to 8.8.
//!
//! A collective is, on each side, a list of blocks of the program's buffer, one per neighbor. Blocks are only described
//! here, never read or written: buffers may be in memory that only the host can access.
//!
//! - [`blocks`]: the description of a collective.
//! - [`cache`]: the process among its neighbors, and the data cached with a communicator.
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

use blocks::extent;
use ends::Ends;
use self_comm::SelfComm;

use super::Result;
use super::attributes::TopologyAttribute;
use super::sys::{MPI_Datatype, MPI_Request};
use crate::host::constants;
use crate::topology::{Direction, Error};

/// Creates the communicator for blocks of this process to itself, which collectives on a new topology need.
pub(super) fn prepare(attached: &TopologyAttribute) {
    let ends = Ends::new(&attached.topology, attached.rank());
    if !ends.own().is_empty() && attached.size() > 1 {
        SelfComm::of_process(true);
    }
}

impl Neighborhood<'_> {
    /// True if nonblocking and persistent collectives are native.
    #[inline]
    fn is_by_host(&self) -> bool {
        // A duplicate has the properties of the host's duplicates.
        let by_host = || *self.cache.by_host.get_or_init(|| via_neighbor::is_known(self.comm));
        self.attached.host_graph && by_host()
    }

    /// Runs a collective, or makes a request for it. Collective.
    pub(crate) fn run(
        &self,
        operation: Operation,
        send: Side<impl Fn(usize) -> Block>,
        receive: Side<impl Fn(usize) -> Block>,
        run: Run,
    ) -> Result {
        for (argument, buffer) in [("sendbuf", send.buffer), ("recvbuf", receive.buffer)] {
            if buffer.cast_const() == constants::in_place() {
                return Err(Error::InPlace { argument }.into());
            }
        }
        validate::blocks(self, Direction::Send, &send)?;
        validate::blocks(self, Direction::Receive, &receive)?;
        match self.cache.pairing.get().and_then(|pairing| pairing.as_ref()?.places(operation, run))
        {
            None => self.run_as_standard(&send, &receive, run),
            Some(places) => {
                let block: &dyn Fn(usize) -> Block = &|number| (receive.block)(places[number]);
                let send = Side::new(send.buffer, &send.block as &dyn Fn(usize) -> Block);
                self.run_as_standard(&send, &Side::new(receive.buffer, block), run)
            }
        }
    }

    /// Makes the request of a collective by the route of the communicator. Collective; waits for no other process.
    fn start(
        &self,
        send: &Side<impl Fn(usize) -> Block>,
        receive: &Side<impl Fn(usize) -> Block>,
        start: Start,
    ) -> Result<MPI_Request> {
        match self.is_by_host() {
            true => via_neighbor::start(self, send, receive, start),
            false => via_alltoallw::start(self, send, receive, start),
        }
    }

    /// Runs a collective with the standard's pairing of blocks.
    fn run_as_standard(
        &self,
        send: &Side<impl Fn(usize) -> Block>,
        receive: &Side<impl Fn(usize) -> Block>,
        run: Run,
    ) -> Result {
        match run {
            Run::Blocking => match self.attached.private(self.comm) {
                Some(private) => blocking::exchange(self, private, send, receive),
                None => waitall::wait(&mut self.start(send, receive, Start::Now)?),
            },
            Run::Request(_, place) if place.is_null() => {
                Err(Error::NullPointer { argument: "request" }.into())
            }
            Run::Request(start, place) => {
                let request = self.start(send, receive, start)?;
                // SAFETY: the program's place for the handle.
                unsafe { place.write(request) };
                Ok(())
            }
        }
    }

    /// The extent in bytes of a datatype of the program.
    pub(crate) fn extent(&self, datatype: MPI_Datatype) -> Result<isize> {
        validate::datatype(self, datatype)?;
        extent(datatype)
    }

    /// The extents of two types, which are usually the same type.
    pub(crate) fn extents(&self, one: MPI_Datatype, other: MPI_Datatype) -> Result<[isize; 2]> {
        let known = self.extent(one)?;
        Ok([known, if other == one { known } else { self.extent(other)? }])
    }
}
