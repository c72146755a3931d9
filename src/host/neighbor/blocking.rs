//! Blocking neighborhood collectives: a receive and a send a block, on a private communicator, so
//! that no message of ours meets one of the program's.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use super::combine::Combined;
use super::ends::End;
use super::pending::wait_all;
use super::types::{Described, Temporary};
use super::{Block, Neighborhood, Operation, Side, own};
use crate::engine::combine::Combine;
use crate::host::errors::quiet;
use crate::host::sys::{self, MPI_Request, MPI_Status};
use crate::host::{HostComm, Result};
use crate::topology::Direction;

/// So many messages need no memory from the heap.
const FEW: usize = 64;

/// Carries out a blocking neighborhood collective (MPI 4.1, 8.6): receives and sends all blocks. Collective.
pub(super) fn exchange(
    of: &Neighborhood<'_>,
    operation: Operation,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
) -> Result {
    let private = of.attached.private(of.comm)?;
    if of.attached.combine != Combine::Off
        && let Some(combined) = Combined::of(of, &private)?
    {
        let send = Side::new(send.buffer, &send.block as &dyn Fn(usize) -> Block);
        let receive = Side::new(receive.buffer, &receive.block as &dyn Fn(usize) -> Block);
        if combined.takes(of, operation, &send, &receive) {
            return combined.exchange(of, &private, operation, &send, &receive);
        }
    }
    let alone = of.alone()?;
    let receives = of.ends.of(Direction::Receive, alone.is_none());
    let sends = of.ends.of(Direction::Send, alone.is_none());
    let own = || alone.as_ref().map_or(Ok(()), |alone| own::copy(of, alone, send, receive));
    match (receives, sends) {
        ([], []) => own(),
        ([from], [to]) => {
            send_receive(&private, (to, send), (from, receive))?;
            own()
        }
        _ => {
            let room = receives.len() + sends.len();
            let request = MaybeUninit::<MPI_Request>::uninit();
            let status = MaybeUninit::<MPI_Status>::uninit();
            if room <= FEW {
                let (mut requests, mut statuses) = ([request; FEW], [status; FEW]);
                let mut pending = Pending::new(&mut requests);
                pending.start(&private, (sends, send), (receives, receive))?;
                pending.wait(&mut statuses, own)
            } else {
                let (mut requests, mut statuses) = (vec![request; room], vec![status; room]);
                let mut pending = Pending::new(&mut requests);
                pending.start(&private, (sends, send), (receives, receive))?;
                pending.wait(&mut statuses, own)
            }
        }
    }
}

/// One message each way.
fn send_receive(
    private: &HostComm,
    (to, send): (&End, &Side<impl Fn(usize) -> Block>),
    (from, receive): (&End, &Side<impl Fn(usize) -> Block>),
) -> Result {
    let mut temporary = Temporary::default();
    let sent = temporary.describe((send.block)(to.number))?;
    let received = temporary.describe((receive.block)(from.number))?;
    // SAFETY: the program vouches for its buffers, as far as counts and datatypes say.
    quiet(unsafe {
        sys::PMPI_Sendrecv(
            send.address(&sent),
            sent.count,
            sent.datatype,
            to.rank,
            to.pairing,
            receive.address(&received),
            received.count,
            received.datatype,
            from.rank,
            from.pairing,
            private.0,
            sys::cg_status_ignore().cast(),
        )
    })
}

/// Requests under way, and the datatypes that were made for them.
struct Pending<'a> {
    requests: &'a mut [MaybeUninit<MPI_Request>],
    posted: usize,
    temporary: Temporary,
}

impl<'a> Pending<'a> {
    fn new(requests: &'a mut [MaybeUninit<MPI_Request>]) -> Self {
        Self { requests, posted: 0, temporary: Temporary::default() }
    }

    /// Starts all messages, receives first: then none comes unexpected that need not.
    #[inline]
    fn start(
        &mut self,
        private: &HostComm,
        (sends, send): (&[End], &Side<impl Fn(usize) -> Block>),
        (receives, receive): (&[End], &Side<impl Fn(usize) -> Block>),
    ) -> Result {
        let started = self
            .post(receives, receive, |address, Described { count, datatype, .. }, end, request| {
                // SAFETY: the program vouches for its buffer, as far as count and datatype say.
                unsafe {
                    let (peer, tag) = (end.rank, end.pairing);
                    sys::PMPI_Irecv(address, count, datatype, peer, tag, private.0, request)
                }
            })
            .and_then(|()| {
                self.post(
                    sends,
                    send,
                    |address, Described { count, datatype, .. }, end, request| {
                        // SAFETY: as above.
                        unsafe {
                            let (peer, tag) = (end.rank, end.pairing);
                            sys::PMPI_Isend(address, count, datatype, peer, tag, private.0, request)
                        }
                    },
                )
            });
        if started.is_err() {
            self.give_up();
        }
        started
    }

    /// Starts a message for each block of one side.
    #[inline]
    fn post(
        &mut self,
        ends: &[End],
        side: &Side<impl Fn(usize) -> Block>,
        call: impl Fn(*mut c_void, Described, &End, *mut MPI_Request) -> c_int,
    ) -> Result {
        for end in ends {
            let block = self.temporary.describe((side.block)(end.number))?;
            let request = self.requests[self.posted].as_mut_ptr();
            quiet(call(side.address(&block), block, end, request))?;
            self.posted += 1;
        }
        Ok(())
    }

    /// Waits for all messages, after what can be done meanwhile.
    fn wait(
        &mut self,
        statuses: &mut [MaybeUninit<MPI_Status>],
        meanwhile: impl FnOnce() -> Result,
    ) -> Result {
        let done = meanwhile();
        let waited = wait_all(&mut self.requests[..self.posted], statuses);
        done.and(waited)
    }

    /// After the host refused a message: what is under way is not waited for, since what it waits
    /// for may never come.
    fn give_up(&mut self) {
        for request in &mut self.requests[..self.posted] {
            // SAFETY: a request that was started here.
            unsafe { sys::cg_give_up(request.as_mut_ptr()) };
        }
    }
}
