//! Messages in flight.

use std::ffi::c_int;
use std::ops::Range;

use super::blocks::Block;
use super::types::{Described, Temporary};
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

/// Requests, some of which are waited for before others are made, and the datatypes that were created for them.
#[derive(Default)]
pub(super) struct Requests {
    requests: Vec<MPI_Request>,
    /// The requests that are receives.
    receives: Vec<bool>,
    temporary: Temporary,
}

impl Requests {
    /// The number of requests.
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Like [`Temporary::describe`]; the datatype stays until [`Requests::clear`].
    pub(super) fn describe(&mut self, block: Block) -> Result<Described> {
        self.temporary.describe(block)
    }

    /// Starts a receive.
    pub(super) fn receive(&mut self, start: impl FnOnce(*mut MPI_Request) -> c_int) -> Result {
        self.post(true, start)
    }

    /// Starts a send.
    pub(super) fn send(&mut self, start: impl FnOnce(*mut MPI_Request) -> c_int) -> Result {
        self.post(false, start)
    }

    fn post(&mut self, is_receive: bool, start: impl FnOnce(*mut MPI_Request) -> c_int) -> Result {
        // SAFETY: a constant of the host.
        let mut request = unsafe { sys::cg_request_null };
        quiet(start(&raw mut request))?;
        self.requests.push(request);
        self.receives.push(is_receive);
        Ok(())
    }

    /// Waits for some of them.
    pub(super) fn wait(&mut self, private: &HostComm, some: Range<usize>) -> Result {
        if some.is_empty() {
            return Ok(());
        }
        wait_all(private, &mut self.requests[some])
    }

    /// Forgets the requests once all are complete.
    pub(super) fn clear(&mut self) {
        self.requests.clear();
        self.receives.clear();
        self.temporary = Temporary::default();
    }

    /// After the host rejected a message: sends are not waited for, since their receives may never come. Returns
    /// whether any message was in flight.
    pub(super) fn give_up(&mut self) -> bool {
        // SAFETY: a constant of the host.
        let null = unsafe { sys::cg_request_null };
        let mut any = false;
        for (request, is_receive) in self.requests.iter_mut().zip(&self.receives) {
            if *request != null {
                any = true;
                give_up(request, *is_receive);
            }
        }
        self.clear();
        any
    }
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
