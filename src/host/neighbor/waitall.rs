//! Messages in flight.

use std::ffi::c_int;

use crate::host::errors::{check, quiet};
use crate::host::sys::{self, MPI_Request};
use crate::host::{HostComm, Result};

/// Waits for requests on a private communicator: for all of them, even if one fails. The others could write to the
/// program's buffers later.
pub(super) fn wait_all(private: &HostComm, requests: &mut [MPI_Request]) -> Result {
    // SAFETY: a communicator of ours; requests that were started here, or null requests.
    let code = unsafe {
        sys::cg_begin_waits(private.0);
        let code = sys::cg_wait_all(requests.len() as c_int, requests.as_mut_ptr());
        sys::cg_end_waits();
        code
    };
    quiet(code)
}

/// Waits for a request on the program's communicator.
pub(super) fn wait(request: &mut MPI_Request) -> Result {
    // SAFETY: a request that was started here, and a constant of the host.
    let (code, is_quiet) = unsafe {
        sys::cg_begin_waits(sys::cg_comm_null);
        (sys::cg_wait(request), sys::cg_end_waits() != 0)
    };
    if is_quiet { quiet(code) } else { check(code) }
}

/// Cancels a request that was started and is not complete. From then on, nothing is written to the buffer of a receive.
pub(super) fn give_up(request: &mut MPI_Request, is_receive: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        match is_receive {
            true => sys::cg_give_up_receive(request),
            false => sys::cg_give_up_send(request),
        }
    }
}
