//! Messages under way.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::Block;
use super::types::{Described, Temporary};
use crate::host::errors::quiet;
use crate::host::sys::{self, MPI_Request, MPI_Status};
use crate::host::{Error, Result};

/// Waits for requests; as many statuses. Open MPI returns at the first that fails and leaves the others under way:
/// these would be written to when the program has its buffers back, so they are waited for as on other hosts.
pub(super) fn wait_all(
    requests: &mut [MaybeUninit<MPI_Request>],
    statuses: &mut [MaybeUninit<MPI_Status>],
) -> Result {
    let statuses = &mut statuses[..requests.len()];
    let count = requests.len() as c_int;
    let mut found = Ok(());
    // Each turn ends one of them at least.
    for _ in 0..requests.len() {
        // SAFETY: as many requests and statuses as said.
        let code = unsafe {
            sys::PMPI_Waitall(count, requests.as_mut_ptr().cast(), statuses.as_mut_ptr().cast())
        };
        match code {
            sys::CG_SUCCESS => return found,
            sys::CG_ERR_IN_STATUS => {}
            code => return found.and(Err(Error::Quiet(code))),
        }
        // SAFETY: with this code the host has set the error of every status.
        let of_status = || statuses.iter().map(|s| unsafe { s.assume_init_ref() }.MPI_ERROR);
        let wrong = |code: &c_int| ![sys::CG_SUCCESS, sys::CG_ERR_PENDING].contains(code);
        found = found.and(Err(Error::Quiet(of_status().find(wrong).unwrap_or(code))));
        if !of_status().any(|code| code == sys::CG_ERR_PENDING) {
            break;
        }
    }
    found
}

/// Requests of which some are waited for before others are made, and the datatypes that were made for them.
#[derive(Default)]
pub(super) struct Requests {
    requests: Vec<MaybeUninit<MPI_Request>>,
    statuses: Vec<MaybeUninit<MPI_Status>>,
    temporary: Temporary,
}

impl Requests {
    /// How many were made.
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// As [`Temporary::describe`]; the datatype stays until [`Requests::clear`].
    pub(super) fn describe(&mut self, block: Block) -> Result<Described> {
        self.temporary.describe(block)
    }

    /// Starts a message.
    pub(super) fn post(&mut self, start: impl FnOnce(*mut MPI_Request) -> c_int) -> Result {
        // SAFETY: a constant of the host.
        let mut request = unsafe { sys::cg_request_null };
        quiet(start(&raw mut request))?;
        self.requests.push(MaybeUninit::new(request));
        Ok(())
    }

    /// Waits for some of them.
    pub(super) fn wait(&mut self, some: Range<usize>) -> Result {
        if some.is_empty() {
            return Ok(());
        }
        self.statuses.resize(self.requests.len(), MaybeUninit::uninit());
        wait_all(&mut self.requests[some], &mut self.statuses)
    }

    /// Forgets them when all are done.
    pub(super) fn clear(&mut self) {
        self.requests.clear();
        self.temporary = Temporary::default();
    }

    /// After the host refused a message: what is under way is not waited for, since what it waits for may never
    /// come. Whether there was any.
    pub(super) fn give_up(&mut self) -> bool {
        // SAFETY: a constant of the host.
        let null = unsafe { sys::cg_request_null };
        let mut any = false;
        for request in &mut self.requests {
            // SAFETY: only requests are put in.
            let request = unsafe { request.assume_init_mut() };
            if *request != null {
                // SAFETY: a request that was started here and is not done.
                unsafe { sys::cg_give_up(request) };
                any = true;
            }
        }
        self.clear();
        any
    }
}
