//! Blocking neighborhood collectives: a receive and a send a block, on a private communicator, so
//! that no message of ours meets one of the program's.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use super::types::Temporary;
use super::{Block, Neighborhood, Side};
use crate::host::sys::{self, MPI_Request, MPI_Status};
use crate::host::{Error, HostComm, Result};
use crate::topology::Direction;

/// So many messages need no memory from the heap.
const FEW: usize = 64;

/// Receives and sends all blocks. Collective.
pub(super) fn exchange(
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
) -> Result {
    let private = of.attached.private(of.comm)?;
    let room = of.ends.of(Direction::Receive).len() + of.ends.of(Direction::Send).len();
    // SAFETY: a constant of the host.
    let null = unsafe { sys::cg_request_null };
    let empty = MaybeUninit::<MPI_Status>::uninit();
    if room <= FEW {
        exchange_with(&private, of, send, receive, &mut [null; FEW], &mut [empty; FEW])
    } else {
        exchange_with(&private, of, send, receive, &mut vec![null; room], &mut vec![empty; room])
    }
}

/// The same with room for the requests and their statuses.
fn exchange_with(
    private: &HostComm,
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
    requests: &mut [MPI_Request],
    statuses: &mut [MaybeUninit<MPI_Status>],
) -> Result {
    let mut pending = Pending { requests, posted: 0, temporary: Temporary::default() };
    let posted = pending
        .post(private, of, Direction::Receive, receive)
        .and_then(|()| pending.post(private, of, Direction::Send, send));
    match posted {
        Ok(()) => pending.wait(statuses),
        Err(error) => {
            pending.give_up();
            Err(error)
        }
    }
}

/// Requests under way, and the datatypes that were made for them.
struct Pending<'a> {
    requests: &'a mut [MPI_Request],
    posted: usize,
    temporary: Temporary,
}

impl Pending<'_> {
    /// Starts a message for each block of one side.
    #[inline]
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
            let request = &raw mut self.requests[self.posted];
            // SAFETY: the program vouches for its buffer, as far as count and datatype say.
            let code = unsafe {
                let (count, datatype) = (block.count, block.datatype);
                let (peer, tag) = (end.rank, end.pairing);
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
            self.posted += 1;
        }
        Ok(())
    }

    fn wait(&mut self, statuses: &mut [MaybeUninit<MPI_Status>]) -> Result {
        let requests = &mut self.requests[..self.posted];
        let statuses = &mut statuses[..requests.len()];
        let count = requests.len() as c_int;
        // SAFETY: as many requests and statuses as said.
        let code = unsafe {
            sys::PMPI_Waitall(count, requests.as_mut_ptr(), statuses.as_mut_ptr().cast())
        };
        match code {
            sys::CG_SUCCESS => Ok(()),
            sys::CG_ERR_IN_STATUS => {
                // SAFETY: with this code the host has set the error of every status.
                let of_status = statuses.iter().map(|s| unsafe { s.assume_init_ref() }.MPI_ERROR);
                let wrong = |code: &c_int| ![sys::CG_SUCCESS, sys::CG_ERR_PENDING].contains(code);
                Err(Error::Quiet(of_status.into_iter().find(wrong).unwrap_or(code)))
            }
            code => Err(Error::Quiet(code)),
        }
    }

    /// After the host refused a message: what is under way is not waited for, since what it waits
    /// for may never come.
    fn give_up(&mut self) {
        for request in &mut self.requests[..self.posted] {
            // SAFETY: a request that was started here.
            unsafe { sys::cg_give_up(request) };
        }
    }
}
