//! Nonblocking and persistent neighborhood collectives. They must give back one genuine request of
//! the host and must not wait for anyone, so the host runs them, on the communicator itself.
//!
//! Hosts pair blocks wrongly where two neighbors are one process, so here each process occurs once:
//! blocks of the same one are merged into one datatype, in the order that both ends have.
//!
//! It is the host's `Ialltoallw` or `Alltoallw_init`, with nothing for strangers: O(P) in time and
//! memory, whatever the degree.

use std::ffi::c_int;

use super::keep::Kept;
use super::types::{Described, Temporary};
use super::{Block, Neighborhood, Side};
use crate::engine::Comm;
use crate::host::sys::{self, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use crate::host::{Error, HostComm, Result, errors::check};
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
    let mut temporary = Temporary::default();
    let mut list = |direction, distance, block: &dyn Fn(usize) -> Block| -> Result<Vec<_>> {
        let peers = of.attached.topology.peers(of.rank, direction).into_iter();
        let described = peers.map(|peer| {
            let all = describe(&mut temporary, &peer, block)?;
            Ok((peer.rank, if distance == 0 { all } else { temporary.shift(all, distance)? }))
        });
        described.collect()
    };
    // SMPI copies nothing from a process to itself where both addresses are the same.
    let ((send_base, send_distance), (receive_base, receive_distance)) =
        (send.base(1), receive.base(2));
    let sending = list(Direction::Send, send_distance, &send.block)?;
    let receiving = list(Direction::Receive, receive_distance, &receive.block)?;
    let buffers = Buffers { send: send_base, receive: receive_base };
    let size = HostComm(of.comm).size()? as usize;
    let tables = Tables {
        send: Table::new(size, sending, &mut temporary)?,
        receive: Table::new(size, receiving, &mut temporary)?,
    };
    match start {
        Start::Now => {
            let kept = Kept::new(tables, Tables::datatypes)?;
            let made = all_to_all(of.comm, buffers, kept.arguments(), start);
            kept.release();
            made
        }
        Start::Later(_) => {
            let tables = Box::new(tables);
            let made = all_to_all(of.comm, buffers, &tables, start)?;
            // Nothing tells when a persistent request is freed, and Open MPI 5 does not see to it
            // that its datatypes stay.
            if !temporary.is_empty() {
                of.attached.keep(Box::new((tables, temporary)));
            }
            Ok(made)
        }
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
struct Tables {
    send: Table,
    receive: Table,
}

impl Tables {
    fn datatypes(&mut self) -> [&mut [MPI_Datatype]; 2] {
        [&mut self.send.datatypes, &mut self.receive.datatypes]
    }
}

/// The arrays of one side, one entry a process: nothing for those that are no neighbors.
struct Table {
    counts: Vec<c_int>,
    displs: Vec<c_int>,
    datatypes: Vec<MPI_Datatype>,
}

impl Table {
    /// Displacements are ints here: what lies farther away gets a datatype that has the distance
    /// in it.
    fn new(size: usize, peers: Vec<(i32, Described)>, temporary: &mut Temporary) -> Result<Self> {
        // SAFETY: a constant of the host.
        let byte = unsafe { sys::cg_byte };
        let mut table =
            Self { counts: vec![0; size], displs: vec![0; size], datatypes: vec![byte; size] };
        for (rank, block) in peers {
            let (block, displ) = match c_int::try_from(block.offset) {
                Ok(displ) => (block, displ),
                Err(_) => (temporary.shift(block, 0)?, 0),
            };
            table.counts[rank as usize] = block.count;
            table.displs[rank as usize] = displ;
            table.datatypes[rank as usize] = block.datatype;
        }
        Ok(table)
    }
}

fn all_to_all(
    comm: MPI_Comm,
    buffers: Buffers,
    tables: &Tables,
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
