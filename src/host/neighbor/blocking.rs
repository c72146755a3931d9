//! Blocking neighborhood collectives: a receive and a send per block, on a private communicator, so that no message of
//! ours matches one of the program's.

use std::ffi::{c_int, c_void};

use super::blocks::{Block, Side};
use super::cache::Neighborhood;
use super::ends::End;
use super::self_copy;
use super::types::{Described, Temporary};
use super::waitall::{give_up, wait_all};
use crate::host::attributes::private::Private;
use crate::host::constants;
use crate::host::errors::quiet;
use crate::host::sys::{self, MPI_Request};
use crate::host::{Error, Result};
use crate::topology::Direction;

/// The most messages that need no heap memory.
const FEW: usize = 64;

/// Carries out a blocking neighborhood collective (MPI 4.1, 8.6): receives and sends all blocks. Collective.
pub(super) fn exchange(
    of: &Neighborhood<'_>,
    private: &Private,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
) -> Result {
    if of.attached.is_spoilt() {
        return Err(Error::Spoilt);
    }
    let self_comm = of.self_comm();
    let receives = of.ends.of(Direction::Receive, self_comm.is_none());
    let sends = of.ends.of(Direction::Send, self_comm.is_none());
    let own = || {
        self_comm.as_ref().map_or(Ok(()), |self_comm| self_copy::copy(of, self_comm, send, receive))
    };
    match (receives, sends) {
        ([], []) => own(),
        ([from], [to]) => {
            send_receive(private, (to, send), (from, receive))?;
            own()
        }
        _ => {
            let room = receives.len() + sends.len();
            let null = constants::request_null();
            let (mut few, mut many);
            let requests = if room <= FEW {
                few = [null; FEW];
                &mut few[..room]
            } else {
                many = vec![null; room];
                &mut many[..]
            };
            let mut pending = Pending { of, private, requests, temporary: Temporary::default() };
            // SAFETY: asks the host which it is.
            let by_calls = unsafe { sys::cg_receives_are_calls() } != 0;
            let posted = if by_calls { &[][..] } else { receives };
            pending.start((sends, send), (posted, receive))?;
            // A local error must not make others wait.
            let done = own();
            let received = if by_calls { pending.receive(receives, receive) } else { Ok(()) };
            let waited = wait_all(&private.comm(), pending.requests);
            done.and(received).and(waited)
        }
    }
}

/// One message in each direction.
fn send_receive(
    private: &Private,
    (to, send): (&End, &Side<impl Fn(usize) -> Block>),
    (from, receive): (&End, &Side<impl Fn(usize) -> Block>),
) -> Result {
    let mut temporary = Temporary::default();
    let sent = temporary.describe((send.block)(to.number))?;
    let received = temporary.describe((receive.block)(from.number))?;
    // SAFETY: the program vouches for its buffers, as described by counts and datatypes.
    quiet(unsafe {
        sys::PMPI_Sendrecv(
            send.address(&sent),
            sent.count,
            sent.datatype,
            to.rank,
            private.tag(to.pairing),
            receive.address(&received),
            received.count,
            received.datatype,
            from.rank,
            private.tag(from.pairing),
            private.comm().0,
            sys::cg_status_ignore().cast(),
        )
    })
}

/// Pending requests, and the datatypes that were created for them.
struct Pending<'a> {
    of: &'a Neighborhood<'a>,
    private: &'a Private,
    requests: &'a mut [MPI_Request],
    temporary: Temporary,
}

impl Pending<'_> {
    /// Starts all messages, receives first, so that as few as possible are unexpected.
    #[inline]
    fn start(
        &mut self,
        (sends, send): (&[End], &Side<impl Fn(usize) -> Block>),
        (receives, receive): (&[End], &Side<impl Fn(usize) -> Block>),
    ) -> Result {
        let private = self.private;
        let started = self
            .post((receives, 0), receive, |address, block, end, request| {
                let Described { count, datatype, .. } = block;
                // SAFETY: the program vouches for its buffer, as described by count and datatype.
                unsafe {
                    let (peer, tag, comm) = (end.rank, private.tag(end.pairing), private.comm().0);
                    sys::PMPI_Irecv(address, count, datatype, peer, tag, comm, request)
                }
            })
            .and_then(|()| {
                self.post((sends, receives.len()), send, |address, block, end, request| {
                    let Described { count, datatype, .. } = block;
                    // SAFETY: the program vouches for its buffer, as described by count and datatype.
                    unsafe {
                        let (peer, tag, comm) =
                            (end.rank, private.tag(end.pairing), private.comm().0);
                        sys::PMPI_Isend(address, count, datatype, peer, tag, comm, request)
                    }
                })
            });
        if started.is_err() {
            self.give_up(receives.len());
        }
        started
    }

    /// Receives all messages one after another, even if one fails.
    #[cold]
    fn receive(&mut self, receives: &[End], receive: &Side<impl Fn(usize) -> Block>) -> Result {
        let (mut first, mut was_received) = (Ok(()), 0);
        for end in receives {
            let block = match self.temporary.describe((receive.block)(end.number)) {
                Ok(block) => block,
                Err(error) => {
                    self.give_up(0);
                    return Err(error);
                }
            };
            let (address, tag) = (receive.address(&block), self.private.tag(end.pairing));
            let (count, datatype, comm) = (block.count, block.datatype, self.private.comm().0);
            // SAFETY: the program vouches for its buffer, as described by count and datatype.
            let code = unsafe {
                sys::cg_recv(address, count, datatype, end.rank, tag, comm, &raw mut was_received)
            };
            // A later collective would receive it.
            if was_received == 0 {
                self.of.attached.spoil();
            }
            first = first.and(quiet(code));
        }
        first
    }

    /// Starts a message for each block of one side; the requests from `first` on are for it.
    #[inline]
    fn post(
        &mut self,
        (ends, first): (&[End], usize),
        side: &Side<impl Fn(usize) -> Block>,
        call: impl Fn(*mut c_void, Described, &End, *mut MPI_Request) -> c_int,
    ) -> Result {
        for (end, request) in ends.iter().zip(&mut self.requests[first..]) {
            let block = self.temporary.describe((side.block)(end.number))?;
            quiet(call(side.address(&block), block, end, request))?;
        }
        Ok(())
    }

    /// After the host rejected a message: messages already sent may or may not be matched, so no later collective uses
    /// this communicator.
    #[cold]
    fn give_up(&mut self, receives: usize) {
        self.of.attached.spoil();
        let null = constants::request_null();
        for (number, request) in self.requests.iter_mut().enumerate() {
            if *request != null {
                give_up(request, number < receives);
            }
        }
    }
}
