//! Nonblocking and persistent neighborhood collectives. They must give back one genuine request of
//! the host and must not wait for anyone, so the host runs them, on the communicator itself.
//!
//! Hosts pair blocks wrongly where two neighbors are one process, so here each process occurs once:
//! blocks of the same one are merged into one datatype, in the order that both ends have.
//!
//! Where the constructor could make the host know the neighbors, the host's own
//! `Ineighbor_alltoallw` does it in O(degree). Elsewhere its `Ialltoallw` does, with nothing for
//! strangers, in O(P).

use std::ffi::c_int;

use super::keep::Kept;
use super::types::{Described, Temporary};
use super::{Block, Neighborhood, Side};
use crate::engine::Comm;
use crate::host::sys::{self, MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use crate::host::{Error, HostComm, Result, errors::check, neighborhood};
use crate::topology::{Direction, neighbors::Peer};

/// What becomes of a collective.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// It is under way when the call returns.
    Now,
    /// It waits for `MPI_Start`.
    #[cfg_attr(not(mpi_neighbor_init), allow(dead_code, reason = "a host without such functions"))]
    Later(MPI_Info),
}

/// Makes the request of a collective. Collective; waits for nobody.
pub(super) fn start(
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
    start: Start,
) -> Result<MPI_Request> {
    let comm = of.comm;
    let mut temporary = Temporary::default();
    let mut list = |direction, block: &dyn Fn(usize) -> Block| -> Result<Vec<(i32, Described)>> {
        let peers = of.attached.topology.peers(of.rank, direction).into_iter();
        peers.map(|peer| Ok((peer.rank, describe(&mut temporary, &peer, block)?))).collect()
    };
    let sending = list(Direction::Send, &send.block)?;
    let receiving = list(Direction::Receive, &receive.block)?;
    let buffers = Buffers { send: send.buffer, receive: receive.buffer };
    if of.attached.neighborhood {
        let tables = Tables { send: Table::of_peers(sending), receive: Table::of_peers(receiving) };
        let kept = Kept::new(tables, Tables::datatypes)?;
        let made = by_neighborhood(comm, buffers, kept.arguments(), start);
        kept.release();
        made
    } else {
        let size = HostComm(comm).size()? as usize;
        let tables = Tables {
            send: Table::of_all(size, sending, &mut temporary)?,
            receive: Table::of_all(size, receiving, &mut temporary)?,
        };
        let kept = Kept::new(tables, Tables::datatypes)?;
        let made = by_all_to_all(comm, buffers, kept.arguments(), start);
        kept.release();
        made
    }
}

#[derive(Clone, Copy)]
struct Buffers {
    send: *mut std::ffi::c_void,
    receive: *mut std::ffi::c_void,
}

/// All blocks of a peer as one.
fn describe(
    temporary: &mut Temporary,
    peer: &Peer,
    block: &dyn Fn(usize) -> Block,
) -> Result<Described> {
    match peer.blocks[..] {
        [only] => temporary.describe(block(only)),
        _ => temporary.merge(peer.blocks.iter().map(|number| block(*number))),
    }
}

/// The arrays that the host's functions take, for both sides.
struct Tables<D> {
    send: Table<D>,
    receive: Table<D>,
}

impl<D> Tables<D> {
    fn datatypes(&mut self) -> [&mut [MPI_Datatype]; 2] {
        [&mut self.send.datatypes, &mut self.receive.datatypes]
    }
}

/// The arrays of one side, one entry a process.
struct Table<D> {
    counts: Vec<c_int>,
    displs: Vec<D>,
    datatypes: Vec<MPI_Datatype>,
}

impl Table<MPI_Aint> {
    /// For the peers alone.
    fn of_peers(peers: Vec<(i32, Described)>) -> Self {
        Self {
            counts: peers.iter().map(|(_, block)| block.count).collect(),
            displs: peers.iter().map(|(_, block)| block.offset as MPI_Aint).collect(),
            datatypes: peers.iter().map(|(_, block)| block.datatype).collect(),
        }
    }
}

impl Table<c_int> {
    /// For all `size` processes, with nothing for strangers. Displacements are ints here: what lies
    /// farther away gets a datatype that has the distance in it.
    fn of_all(
        size: usize,
        peers: Vec<(i32, Described)>,
        temporary: &mut Temporary,
    ) -> Result<Self> {
        // SAFETY: a constant of the host.
        let byte = unsafe { sys::cg_byte };
        let mut table =
            Self { counts: vec![0; size], displs: vec![0; size], datatypes: vec![byte; size] };
        for (rank, block) in peers {
            let (block, displ) = match c_int::try_from(block.offset) {
                Ok(displ) => (block, displ),
                Err(_) => {
                    let Described { offset, count, datatype } = block;
                    let block = Block { offset, count: count.into(), datatype };
                    (temporary.merge([block].into_iter())?, 0)
                }
            };
            table.counts[rank as usize] = block.count;
            table.displs[rank as usize] = displ;
            table.datatypes[rank as usize] = block.datatype;
        }
        Ok(table)
    }
}

fn by_neighborhood(
    comm: MPI_Comm,
    buffers: Buffers,
    tables: &Tables<MPI_Aint>,
    start: Start,
) -> Result<MPI_Request> {
    // SAFETY: a constant of the host.
    let mut request = unsafe { sys::cg_request_null };
    macro_rules! call {
        ($function:expr $(, $info:expr)?) => {
            // SAFETY: arrays as long as the host knows this process to have neighbors; the program
            // vouches for its buffers.
            unsafe {
                $function(
                    buffers.send,
                    tables.send.counts.as_ptr(),
                    tables.send.displs.as_ptr(),
                    tables.send.datatypes.as_ptr(),
                    buffers.receive,
                    tables.receive.counts.as_ptr(),
                    tables.receive.displs.as_ptr(),
                    tables.receive.datatypes.as_ptr(),
                    comm,
                    $($info,)?
                    &raw mut request,
                )
            }
        };
    }
    let functions = neighborhood::functions().expect("a communicator was made with them");
    check(match start {
        Start::Now => call!(functions.ineighbor_alltoallw),
        Start::Later(info) => {
            let absent = Error::Absent("MPI_Neighbor_alltoallw_init");
            call!(functions.neighbor_alltoallw_init.ok_or(absent)?, info)
        }
    })?;
    Ok(request)
}

fn by_all_to_all(
    comm: MPI_Comm,
    buffers: Buffers,
    tables: &Tables<c_int>,
    start: Start,
) -> Result<MPI_Request> {
    // SAFETY: a constant of the host.
    let mut request = unsafe { sys::cg_request_null };
    macro_rules! call {
        ($function:path $(, $info:expr)?) => {
            // SAFETY: arrays with an entry for each process; the program vouches for its buffers.
            unsafe {
                $function(
                    buffers.send,
                    tables.send.counts.as_ptr(),
                    tables.send.displs.as_ptr(),
                    tables.send.datatypes.as_ptr(),
                    buffers.receive,
                    tables.receive.counts.as_ptr(),
                    tables.receive.displs.as_ptr(),
                    tables.receive.datatypes.as_ptr(),
                    comm,
                    $($info,)?
                    &raw mut request,
                )
            }
        };
    }
    let (code, needed) = match start {
        Start::Now => (call!(sys::cg_ialltoallw), "MPI_Ialltoallw"),
        Start::Later(info) => (call!(sys::cg_alltoallw_init, info), "MPI_Alltoallw_init"),
    };
    if code == sys::CG_ABSENT {
        return Err(Error::Absent(needed));
    }
    check(code)?;
    Ok(request)
}
