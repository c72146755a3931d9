//! What a process sends to itself, moved at once by the host: a scatter among the process alone takes
//! fewer instructions than a message, and copies what a message, or an all-to-all, would pack.

use super::types::{Described, Temporary};
use super::{Block, Neighborhood, Side};
use crate::host::errors::quiet;
use crate::host::sys;
use crate::host::{HostComm, Result};

/// Moves them, by a communicator of the process alone. Local.
pub(super) fn copy(
    of: &Neighborhood<'_>,
    alone: &HostComm,
    all_send: &Side<impl Fn(usize) -> Block>,
    all_receive: &Side<impl Fn(usize) -> Block>,
) -> Result {
    let mut temporary = Temporary::default();
    let mut measured = None;
    let mut run: Option<Pair> = None;
    let scatter = |Pair { mut send, receive }: Pair, temporary: &mut Temporary| {
        // SMPI divides by the size of what it copies.
        if send.count == 0 && receive.count == 0 {
            return Ok(());
        }
        let (mut from, to) = (all_send.address(&send), all_receive.address(&receive));
        // Of datatypes that have the addresses in them. SMPI copies nothing then, and other hosts
        // may take it for an error.
        if from == to {
            from = from.wrapping_byte_add(1);
            send = temporary.displaced(Described { offset: -1, ..send })?;
        }
        // SAFETY: the program vouches for its buffers, as far as counts and datatypes say.
        quiet(unsafe {
            sys::PMPI_Scatter(
                from,
                send.count,
                send.datatype,
                to,
                receive.count,
                receive.datatype,
                0,
                alone.0,
            )
        })
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
            scatter(done, &mut temporary)?;
        }
    }
    run.map_or(Ok(()), |last| scatter(last, &mut temporary))
}

/// Both ends of a block.
struct Pair {
    send: Described,
    receive: Described,
}

impl Pair {
    /// Whether another block is more of the same at both ends. Blocks whose ends differ stay as they
    /// are.
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
