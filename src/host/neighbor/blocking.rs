//! Blocking neighborhood collectives: a receive and a send a block, on a private communicator, so
//! that no message of ours meets one of the program's.

use std::ffi::c_int;

use super::types::Temporary;
use super::{Block, Neighborhood, Side};
use crate::host::sys::{self, MPI_Request, MPI_Status};
use crate::host::{Error, HostComm, Result};
use crate::topology::Direction;

/// Receives and sends all blocks. Collective.
pub(super) fn exchange(
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
) -> Result {
    let private = of.attached.private(of.comm)?;
    let room = of.ends.of(Direction::Receive).len() + of.ends.of(Direction::Send).len();
    let mut pending =
        Pending { requests: Vec::with_capacity(room), temporary: Temporary::default() };
    let posted = pending
        .post(&private, of, Direction::Receive, receive)
        .and_then(|()| pending.post(&private, of, Direction::Send, send));
    match posted {
        Ok(()) => pending.wait(),
        Err(error) => {
            pending.give_up();
            Err(error)
        }
    }
}

/// Requests under way, and the datatypes that were made for them.
struct Pending {
    requests: Vec<MPI_Request>,
    temporary: Temporary,
}

impl Pending {
    /// Starts a message for each block of one side.
    fn post(
        &mut self,
        private: &HostComm,
        of: &Neighborhood<'_>,
        direction: Direction,
        side: &Side<impl Fn(usize) -> Block>,
    ) -> Result {
        let (base, distance) = side.base(1);
        for end in of.ends.of(direction) {
            let block = self.temporary.describe((side.block)(end.number))?;
            let address = base.wrapping_byte_offset(distance + block.offset);
            // SAFETY: a constant of the host.
            let mut request = unsafe { sys::cg_request_null };
            // SAFETY: the program vouches for its buffer, as far as count and datatype say.
            let code = unsafe {
                let (count, datatype) = (block.count, block.datatype);
                let (peer, tag) = (end.rank, end.pairing);
                let request = &raw mut request;
                match direction {
                    Direction::Receive => {
                        sys::PMPI_Irecv(address, count, datatype, peer, tag, private.0, request)
                    }
                    Direction::Send => {
                        sys::PMPI_Isend(address, count, datatype, peer, tag, private.0, request)
                    }
                }
            };
            if code != sys::CG_SUCCESS {
                return Err(Error::Quiet(code));
            }
            self.requests.push(request);
        }
        Ok(())
    }

    fn wait(&mut self) -> Result {
        let count = self.requests.len() as c_int;
        // SAFETY: a status is plain numbers, for which zero is valid.
        let empty: MPI_Status = unsafe { std::mem::zeroed() };
        let mut statuses = vec![empty; self.requests.len()];
        // SAFETY: as many requests and statuses as said.
        let code =
            unsafe { sys::PMPI_Waitall(count, self.requests.as_mut_ptr(), statuses.as_mut_ptr()) };
        match code {
            sys::CG_SUCCESS => Ok(()),
            // The statuses say what is wrong.
            code => {
                let of_status = statuses.iter().map(|status| status.MPI_ERROR);
                let first = of_status
                    .into_iter()
                    .find(|c| ![sys::CG_SUCCESS, sys::CG_ERR_PENDING].contains(c));
                let in_status = code == sys::CG_ERR_IN_STATUS;
                Err(Error::Quiet(first.filter(|_| in_status).unwrap_or(code)))
            }
        }
    }

    /// After the host refused a message: what is under way is not waited for, since what it waits
    /// for may never come.
    fn give_up(&mut self) {
        for request in &mut self.requests {
            // SAFETY: a request that was started here.
            unsafe { sys::cg_give_up(request) };
        }
    }
}
