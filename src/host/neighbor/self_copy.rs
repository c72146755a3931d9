//! Blocks that a process sends to itself, moved at once by the host on a communicator of the process alone: there,
//! hosts copy data that they would pack into messages on other communicators. Blocks that are contiguous at both ends
//! are moved as one; no other process must agree to that.

use std::ffi::c_void;

use super::blocks::{Block, Side};
use super::cache::Neighborhood;
use super::types::{Described, Temporary};
use crate::host::errors::quiet;
use crate::host::sys;
use crate::host::{HostComm, Result};

/// True if a gather is faster than a message: it takes a fifth of the instructions on Open MPI. On MPICH it takes
/// equally many, and accepts some wrong arguments.
fn gathers() -> bool {
    // SAFETY: a constant of the C part.
    unsafe { sys::cg_family_built == sys::CG_FAMILY_OPEN_MPI }
}

/// Copies the blocks that a process sends to itself, on a communicator of this process alone. Local.
pub(super) fn copy(
    of: &Neighborhood<'_>,
    self_comm: &HostComm,
    all_send: &Side<impl Fn(usize) -> Block>,
    all_receive: &Side<impl Fn(usize) -> Block>,
) -> Result {
    let mut temporary = Temporary::default();
    let mut measured = None;
    let mut run: Option<Pair> = None;
    let exchange = |Pair { mut send, receive }: Pair, temporary: &mut Temporary| {
        let (mut from, to) = (all_send.address(&send), all_receive.address(&receive));
        // Datatypes with absolute addresses. SMPI copies nothing for these.
        if from == to && !send.is_nowhere(from) {
            from = from.wrapping_byte_add(1);
            send = temporary.displaced(Described { offset: -1, ..send })?;
        }
        copy_block(self_comm, (from, &send), (to, &receive))
    };
    for own in of.ends.own() {
        let next = Pair {
            send: temporary.describe((all_send.block)(own.send))?,
            receive: temporary.describe((all_receive.block)(own.receive))?,
        };
        if let Some(run) = &mut run
            && run.continued_by(&next, &mut measured)?
        {
            run.send.count += next.send.count;
            run.receive.count += next.receive.count;
        } else if let Some(done) = run.replace(next) {
            exchange(done, &mut temporary)?;
        }
    }
    run.map_or(Ok(()), |last| exchange(last, &mut temporary))
}

/// Copies a block from one address to another.
fn copy_block(
    self_comm: &HostComm,
    (from, send): (*mut c_void, &Described),
    (to, receive): (*mut c_void, &Described),
) -> Result {
    // Open MPI does not check the addresses in copies.
    let gathers = gathers() && !from.is_null() && !to.is_null();
    let (count, datatype) = (receive.count, receive.datatype);
    // SAFETY: the program vouches for its buffers, as described by counts and datatypes.
    quiet(unsafe {
        if gathers {
            let comm = self_comm.0;
            sys::PMPI_Gather(from, send.count, send.datatype, to, count, datatype, 0, comm)
        } else {
            sys::PMPI_Sendrecv(
                from,
                send.count,
                send.datatype,
                0,
                0,
                to,
                count,
                datatype,
                0,
                0,
                self_comm.0,
                sys::cg_status_ignore().cast(),
            )
        }
    })
}

/// Both ends of a block.
struct Pair {
    send: Described,
    receive: Described,
}

impl Pair {
    /// True if another block continues this one at both ends. Blocks whose ends differ are not merged.
    fn continued_by(
        &self,
        next: &Self,
        measured: &mut Option<(sys::MPI_Datatype, isize)>,
    ) -> Result<bool> {
        let alike = |pair: &Self| {
            pair.send.datatype == pair.receive.datatype && pair.send.count == pair.receive.count
        };
        Ok(alike(self)
            && alike(next)
            && self.send.continued_by(&next.send, measured)?
            && self.receive.continued_by(&next.receive, measured)?)
    }
}
