//! Chooses the route of a collective, and runs it.

use super::blocks::{self, Block, Operation, Run, Side, Start};
use super::cache::Neighborhood;
use super::{blocking, validate, via_alltoallw, via_neighbor, waitall};
use crate::host::sys::{MPI_Datatype, MPI_Request};
use crate::host::{Result, constants};
use crate::topology::{Direction, Error};

/// True if nonblocking and persistent collectives are native.
#[inline]
fn is_by_host(of: &Neighborhood<'_>) -> bool {
    // A duplicate has the properties of the host's duplicates.
    let by_host = || *of.cache.by_host.get_or_init(|| via_neighbor::is_known(of.comm));
    of.attached.host_graph && by_host()
}

/// Runs a collective, or creates a request for it. Collective.
pub(crate) fn run(
    of: &Neighborhood<'_>,
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
    validate::blocks(of, Direction::Send, &send)?;
    validate::blocks(of, Direction::Receive, &receive)?;
    match of.cache.pairing.get().and_then(|pairing| pairing.as_ref()?.places(operation, run)) {
        None => run_as_standard(of, &send, &receive, run),
        Some(places) => {
            let block: &dyn Fn(usize) -> Block = &|number| (receive.block)(places[number]);
            let send = Side::new(send.buffer, &send.block as &dyn Fn(usize) -> Block);
            run_as_standard(of, &send, &Side::new(receive.buffer, block), run)
        }
    }
}

/// Creates the request of a collective by the route of the communicator. Collective; waits for no other process.
fn start(
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
    kind: Start,
) -> Result<MPI_Request> {
    match is_by_host(of) {
        true => via_neighbor::start(of, send, receive, kind),
        false => via_alltoallw::start(of, send, receive, kind),
    }
}

/// Runs a collective with the standard's pairing of blocks.
fn run_as_standard(
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
    run: Run,
) -> Result {
    match run {
        Run::Blocking => match of.attached.private(of.comm) {
            Some(private) => blocking::exchange(of, private, send, receive),
            None => waitall::wait(&mut start(of, send, receive, Start::Now)?),
        },
        Run::Request(_, place) if place.is_null() => {
            Err(Error::NullPointer { argument: "request" }.into())
        }
        Run::Request(kind, place) => {
            let request = start(of, send, receive, kind)?;
            // SAFETY: the program's place for the handle.
            unsafe { place.write(request) };
            Ok(())
        }
    }
}

/// The extent in bytes of a datatype of the program.
pub(crate) fn extent(of: &Neighborhood<'_>, datatype: MPI_Datatype) -> Result<isize> {
    validate::datatype(of, datatype)?;
    blocks::extent(datatype)
}

/// The extents of two types, which are usually the same type.
pub(crate) fn extents(
    of: &Neighborhood<'_>,
    one: MPI_Datatype,
    other: MPI_Datatype,
) -> Result<[isize; 2]> {
    let known = extent(of, one)?;
    Ok([known, if other == one { known } else { extent(of, other)? }])
}
