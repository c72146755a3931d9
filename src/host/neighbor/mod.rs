//! Neighborhood collectives over the host: MPI 4.1, 8.6 to 8.8.
//!
//! A collective is, on each side, a list of blocks of the program's buffer, one a neighbor. Blocks
//! are only described here, never read or written: buffers may lie where only the host can reach.
//!
//! - [`self_copy`]: blocks of a process to itself, except in persistent collectives.
//! - [`blocking`]: messages on a private communicator.
//! - [`combine`]: blocking ones whose small blocks travel together.
//! - [`via_alltoallw`]: nonblocking and persistent, by one request of the host on the communicator itself: an all-to-all.
//! - [`via_neighbor`]: these by the host's neighborhood collectives, where [`route`] chooses them.

mod alltoallw_args;
mod argument_lifetime;
mod blocking;
mod combine;
mod ends;
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

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, OnceLock};

use alltoallw_args::ArgsCache;
use combine::Combined;
use ends::Ends;
use pairing::HostPairing;
use self_comm::SelfComm;
use types::Described;

use super::attributes::{self, TopologyAttribute};
use super::sys::{self, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use super::{HostComm, Result, errors::check, report};
use crate::engine::combine::{Combine, Payload};
use crate::topology::{Direction, Error};

/// The block of one neighbor in a buffer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Block {
    /// Bytes from the start of the buffer.
    pub(crate) offset: isize,
    /// Elements; may be more than an int can count. The host refuses a negative number.
    pub(crate) count: i64,
    /// The type of an element.
    pub(crate) datatype: MPI_Datatype,
}

impl Block {
    /// A copy that lies `distance` bytes further on.
    fn moved(self, distance: isize) -> Self {
        Self { offset: self.offset + distance, ..self }
    }
}

/// Equally sized and spaced blocks: two of these are compared in O(1), whatever the degree.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Regular {
    /// The first neighbor's.
    pub(crate) first: Block,
    /// Bytes from one to the next.
    pub(crate) stride: isize,
}

impl Regular {
    fn block(self, number: usize) -> Block {
        self.first.moved(number as isize * self.stride)
    }

    /// A copy that lies `distance` bytes further on.
    fn moved(self, distance: isize) -> Self {
        Self { first: self.first.moved(distance), ..self }
    }
}

/// One side of a collective.
pub(crate) struct Side<F: Fn(usize) -> Block> {
    /// The start of the buffer, which may be `MPI_BOTTOM`.
    buffer: *mut c_void,
    /// The block of each neighbor.
    block: F,
    /// All blocks, where the collective says that they are so.
    regular: Option<Regular>,
}

/// Blocks of one size at equal distances.
pub(crate) fn regular(buffer: *mut c_void, regular: Regular) -> Side<impl Fn(usize) -> Block> {
    Side { buffer, block: move |number| regular.block(number), regular: Some(regular) }
}

/// The blocks of both sides, where both are regular, moved by a number of bytes each.
fn both_regular(
    (send, send_distance): (&Side<impl Fn(usize) -> Block>, isize),
    (receive, receive_distance): (&Side<impl Fn(usize) -> Block>, isize),
) -> Option<[Regular; 2]> {
    Some([send.regular?.moved(send_distance), receive.regular?.moved(receive_distance)])
}

impl<F: Fn(usize) -> Block> Side<F> {
    /// Blocks of which each may be another.
    pub(crate) fn new(buffer: *mut c_void, block: F) -> Self {
        Self { buffer, block, regular: None }
    }

    /// The base address for the MPI call, and the distance of the program's buffer from it in bytes. `MPI_BOTTOM` need
    /// not be address zero, and a null pointer is no buffer to some hosts: `mark` stands for it.
    fn base(&self, mark: usize) -> (*mut c_void, isize) {
        // SAFETY: a constant of the host.
        let bottom = unsafe { sys::cg_bottom() };
        if !bottom.is_null() && self.buffer.cast_const() == bottom {
            return (ptr::without_provenance_mut(mark), -(mark as isize));
        }
        (self.buffer, 0)
    }

    /// The address of a block, for a function that takes no displacements.
    #[inline]
    fn address(&self, block: &Described) -> *mut c_void {
        let (base, distance) = self.base(1);
        let address = base.wrapping_byte_offset(distance + block.offset);
        if block.is_nowhere(address) { ptr::null_mut() } else { address }
    }
}

/// The kind of a collective, as far as it matters where small blocks are combined or merged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Allgather,
    Allgatherv,
    Alltoall,
    /// For blocks of different sizes or types.
    AlltoallVaried,
}

impl Operation {
    /// Returns whether the standard requires all processes to send and receive blocks of one size.
    fn is_uniform(self) -> bool {
        matches!(self, Self::Allgather | Self::Alltoall)
    }

    /// The blocks of a process.
    fn payload(self) -> Payload {
        match self {
            Self::Allgather | Self::Allgatherv => Payload::Same,
            Self::Alltoall | Self::AlltoallVaried => Payload::Each,
        }
    }
}

/// The kind of a request: nonblocking or persistent.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// Nonblocking: it is pending when the call returns.
    Now,
    /// Persistent, with the info of the call: it waits for `MPI_Start`.
    Later(MPI_Info),
}

/// How a collective runs.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// To its end.
    Blocking,
    /// As a request, which is written here.
    Request(Start, *mut MPI_Request),
}

/// The data of collectives on a communicator, kept with its topology.
#[derive(Default)]
struct NeighborCache {
    ends: OnceLock<Ends>,
    /// The pairing of blocks if it is not the standard's.
    pairing: OnceLock<Option<HostPairing>>,
    /// The communicator of this process alone, once it was needed; `None` inside if it cannot be made. It belongs to
    /// the process, and is kept here to be found fast.
    self_comm: OnceLock<Option<Arc<SelfComm>>>,
    /// True if the host knows the neighbors.
    by_host: OnceLock<bool>,
    /// Memory for the arguments of the host's neighborhood collectives.
    pool: via_neighbor::ArgumentPool,
    args: ArgsCache,
    /// The small blocks that travel together; `None` inside if nothing is combined.
    combined: OnceLock<Option<Box<Combined>>>,
}

/// A process among its neighbors.
pub(crate) struct Neighborhood<'a> {
    comm: MPI_Comm,
    attached: &'a TopologyAttribute,
    cache: &'a NeighborCache,
    ends: &'a Ends,
}

/// Makes the further communicators that collectives on a new topology need. Collective.
pub(super) fn prepare(comm: &HostComm, attached: &TopologyAttribute) -> Result {
    let ends = Ends::new(&attached.topology, attached.rank());
    if attached.combine != Combine::Off
        && let Some(private) = attached.private(comm.0)
    {
        let of = Neighborhood { comm: comm.0, attached, cache: attached.kept(), ends: &ends };
        Combined::of(&of, &private.comm())?;
    }
    if !ends.own().is_empty() && attached.size() > 1 {
        SelfComm::of_process(true);
    }
    Ok(())
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
    /// As [`attributes::attached`]: the communicator stays for as long as the call lasts.
    pub(crate) unsafe fn of(comm: MPI_Comm) -> Result<Self> {
        // SAFETY: a constant of the host.
        if comm == unsafe { sys::cg_comm_null } {
            return Err(Error::NullComm.into());
        }
        // SAFETY: as the caller promises.
        let attached = unsafe { attributes::attached(comm)? }.ok_or(Error::NoNeighbors)?;
        let cache: &NeighborCache = attached.kept();
        let ends = match cache.ends.get() {
            Some(ends) => ends,
            None => {
                let (topology, rank) = (&*attached.topology, attached.rank());
                let (pairing, why) = HostPairing::of(topology, rank).unzip();
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

    /// The communicator that moves the blocks that the process sends to itself; `None` if there are no such blocks, or if
    /// they are sent like all others.
    #[inline]
    fn self_comm(&self) -> Option<HostComm> {
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

    /// Returns whether nonblocking and persistent collectives are native.
    #[inline]
    fn is_by_host(&self) -> bool {
        // A duplicate has what the host's duplicates have.
        let by_host = || *self.cache.by_host.get_or_init(|| via_neighbor::is_known(self.comm));
        self.attached.host_graph && by_host()
    }

    /// Runs a collective, or makes a request of it. Collective.
    pub(crate) fn run(
        &self,
        operation: Operation,
        send: Side<impl Fn(usize) -> Block>,
        receive: Side<impl Fn(usize) -> Block>,
        run: Run,
    ) -> Result {
        for (argument, buffer) in [("sendbuf", send.buffer), ("recvbuf", receive.buffer)] {
            // SAFETY: a constant of the host.
            if buffer.cast_const() == unsafe { sys::cg_in_place() } {
                return Err(Error::InPlace { argument }.into());
            }
        }
        validate::blocks(self, Direction::Send, &send)?;
        validate::blocks(self, Direction::Receive, &receive)?;
        match self.cache.pairing.get().and_then(|pairing| pairing.as_ref()?.places(operation, run))
        {
            None => self.run_as_standard(operation, &send, &receive, run),
            Some(places) => {
                let block: &dyn Fn(usize) -> Block = &|number| (receive.block)(places[number]);
                let send = Side::new(send.buffer, &send.block as &dyn Fn(usize) -> Block);
                self.run_as_standard(operation, &send, &Side::new(receive.buffer, block), run)
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

    /// Runs a collective whose blocks are paired as the standard has it.
    fn run_as_standard(
        &self,
        operation: Operation,
        send: &Side<impl Fn(usize) -> Block>,
        receive: &Side<impl Fn(usize) -> Block>,
        run: Run,
    ) -> Result {
        match run {
            Run::Blocking => blocking::exchange(self, operation, send, receive),
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
}

impl Neighborhood<'_> {
    /// The extent in bytes of a datatype of the program.
    pub(crate) fn extent(&self, datatype: MPI_Datatype) -> Result<isize> {
        validate::datatype(self, datatype)?;
        extent(datatype)
    }

    /// The extents of two types, which are one type as a rule.
    pub(crate) fn extents(&self, one: MPI_Datatype, other: MPI_Datatype) -> Result<[isize; 2]> {
        let known = self.extent(one)?;
        Ok([known, if other == one { known } else { self.extent(other)? }])
    }
}

/// The extent in bytes of a datatype that the host takes.
fn extent(datatype: MPI_Datatype) -> Result<isize> {
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: the program's datatype, which the host checks, and two places for the result.
    check(unsafe { sys::PMPI_Type_get_extent(datatype, &raw mut lower, &raw mut extent) })?;
    Ok(bytes(extent))
}

/// A distance in bytes.
#[allow(clippy::unnecessary_cast, reason = "MPI_Aint is isize on some hosts and long on others")]
pub(crate) fn bytes(distance: sys::MPI_Aint) -> isize {
    distance as isize
}
