//! Nonblocking and persistent neighborhood collectives. They must return one genuine request of the host and must not
//! wait for any process, so the host runs them, on the communicator itself.
//!
//! A nonblocking collective copies the process's blocks to itself during the call: from then on, its buffers belong to
//! the request. In a persistent one, they are part of the all-to-all.
//!
//! Hosts pair blocks wrongly if two neighbors are the same process, so here each process occurs once: its blocks are
//! merged into one datatype, in the order of both ends.
//!
//! The host runs `Ialltoallw` or `Alltoallw_init`, with empty blocks for other processes: O(P) in time and memory,
//! whatever the degree. [`route`] decides where this is used.

use std::ptr;
use std::sync::Arc;

use super::alltoallw_args::{AlltoallwArgs, BlockList};
use super::argument_lifetime::ArgumentGuard;
use super::blocks::{Block, Side, Start, both_regular};
use super::cache::Neighborhood;
use super::call::Call;
use super::{persistent, self_copy, waitall};
use crate::host::constants;
use crate::host::errors::{check, quiet};
use crate::host::family::is_smpi;
use crate::host::sys::{self, MPI_Datatype, MPI_Request};
use crate::host::{Error, HostComm, Result};

/// Creates the request of a collective. Collective; waits for no other process.
pub(super) fn start(
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
    start: Start,
) -> Result<MPI_Request> {
    let private = || of.attached.private(of.comm);
    let self_comm = match start {
        Start::Now
            if of.attached.size() == 1
                && let Some(private) = private() =>
        {
            self_copy::copy(of, &private.comm(), send, receive)?;
            return complete(&private.comm());
        }
        Start::Now => of.self_comm(),
        Start::Later(_) => None,
    };
    let with_own = self_comm.is_none();
    let mut request = all_to_all(of, send, receive, start, with_own)?;
    // A local error must not make others wait.
    if let Some(self_comm) = self_comm
        && let Err(error) = self_copy::copy(of, &self_comm, send, receive)
    {
        // The program gets no request, and its buffers must not be written to after the error.
        waitall::wait(&mut request)?;
        return Err(error);
    }
    Ok(request)
}

/// Creates the request of an all-to-all, with or without the process's blocks to itself.
fn all_to_all(
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
    start: Start,
    with_own: bool,
) -> Result<MPI_Request> {
    // SAFETY: asks the host which it is.
    let host_keeps = unsafe { sys::cg_requests_keep_datatypes() } != 0;
    let lasting = !host_keeps && matches!(start, Start::Later(_));
    // SMPI copies nothing from a process to itself if both addresses are the same.
    let ((send_base, send_distance), (receive_base, receive_distance)) =
        (send.base(1), receive.base(2));
    let plans = &of.cache.args;
    let regular = both_regular((send, send_distance), (receive, receive_distance));
    let known = regular.and_then(|regular| plans.known(of.ends.count(with_own), regular, lasting));
    let plan = match known {
        Some(plan) => plan,
        None => {
            let sent = |number| (send.block)(number).moved(send_distance);
            let received = |number| (receive.block)(number).moved(receive_distance);
            let (attached, ends) = (of.attached, of.ends);
            let (send, receive) = (&sent, &received);
            let layout = BlockList { attached, ends, send, receive, regular, with_own };
            plans.get(&layout, lasting)?
        }
    };
    let call = Call { comm: of.comm, send: send_base, receive: receive_base, start };
    let datatypes = [&plan.send.datatypes[..], &plan.receive.datatypes];
    if lasting {
        let request = make(&call, &plan, datatypes)?;
        persistent::keep(request, plan);
        return Ok(request);
    }
    // SMPI sends its messages at once, and they hold their datatypes. Copies of datatypes exchange wrong blocks there:
    // MPI_Type_dup of vectors, and MPI_Type_contiguous of all types with gaps.
    if !plan.derived || host_keeps || is_smpi() {
        return make(&call, &plan, datatypes);
    }
    // Entries past the last process are never derived types.
    let last = of.attached.size() as usize - 1;
    let datatypes = datatypes.map(<[MPI_Datatype]>::to_vec);
    let kept = ArgumentGuard::new(of.comm, datatypes, last, Arc::clone(&plan) as _)?;
    let made = make(&call, &plan, kept.datatypes());
    kept.release();
    made
}

/// A completed request: an empty message on a communicator of only this process. An all-to-all would take longer, and
/// Open MPI 5 never releases the datatypes of one that is complete when it returns.
fn complete(self_comm: &HostComm) -> Result<MPI_Request> {
    let nothing = ptr::null_mut();
    // SAFETY: constants of the host.
    let (mut requests, byte) = unsafe { ([sys::cg_request_null; 2], sys::cg_byte) };
    let [receiving, sending] = &mut requests;
    // SAFETY: messages without data.
    quiet(unsafe { sys::PMPI_Irecv(nothing, 0, byte, 0, 0, self_comm.0, receiving) })?;
    // SAFETY: a message without data, for which a receive is waiting.
    let sent = unsafe {
        match sys::PMPI_Isend(nothing, 0, byte, 0, 0, self_comm.0, sending) {
            sys::CG_SUCCESS => sys::PMPI_Waitall(1, sending, sys::cg_statuses_ignore().cast()),
            code => code,
        }
    };
    if let Err(error) = quiet(sent) {
        // SAFETY: a request that was started here.
        unsafe { sys::cg_give_up_receive(receiving) };
        return Err(error);
    }
    Ok(*receiving)
}

fn make(call: &Call, plan: &AlltoallwArgs, types: [&[MPI_Datatype]; 2]) -> Result<MPI_Request> {
    let mut request = constants::request_null();
    let (code, needed) = match call.start {
        Start::Now => {
            let code = call!(sys::cg_ialltoallw, [], call, plan, types, [], request);
            (code, "MPI_Ialltoallw")
        }
        Start::Later(info) => {
            let code = call!(sys::cg_alltoallw_init, [], call, plan, types, [info], request);
            (code, "MPI_Alltoallw_init")
        }
    };
    if code == sys::CG_ABSENT {
        return Err(Error::Absent(needed));
    }
    check(code)?;
    Ok(request)
}
