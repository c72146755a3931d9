//! Blocking neighborhood collectives whose small blocks share messages: runs the schedules of
//! [`engine::combine`](crate::engine::combine) on the private communicator.
//!
//! All processes must combine the same collectives, and no process asks the others. So only those collectives are
//! combined in which the standard requires all processes to send as much as they receive (MPI 4.1, 8.6): each process
//! decides from its own arguments. A message with parts begins with their lengths: programs with receive buffers larger
//! than the message run on every MPI.

mod call;

use std::mem;
use std::sync::{Mutex, PoisonError};

use self::call::{Blocks, CombinedCall};
use super::blocks::Operation;
use super::cache::Neighborhood;
use super::combined::{BufferLayout, Combined, Part};
use super::ends::End as HostEnd;
use super::types::Sizes;
use crate::engine::Comm;
use crate::engine::combine::{Endpoint, Payload, Schedules, agree};
use crate::host::sys;
use crate::host::{Error, HostComm, Result, machine};
use crate::topology::Direction;

impl Combined {
    /// Agrees on the blocks that share messages, if anything is combined on a communicator. The first call is
    /// collective.
    pub(super) fn of<'a>(of: &Neighborhood<'a>, private: &HostComm) -> Result<Option<&'a Self>> {
        if let Some(known) = of.cache.combined.get() {
            return Ok(known.as_deref());
        }
        let [sends, receives] = [Direction::Send, Direction::Receive].map(|direction| {
            let end = |end: &HostEnd| Endpoint { rank: end.rank, pairing: end.pairing };
            of.ends.of(direction, true).iter().map(end).collect::<Vec<_>>()
        });
        let agreed = node(of, private)
            .and_then(|node| agree(private, node, of.attached.combine, &sends, &receives));
        let made = agreed.map_err(Error::quietly)?;
        let made = made.map(|Schedules { each, same }| {
            Box::new(Self {
                each: BufferLayout::new(each, Payload::Each),
                same: BufferLayout::new(same, Payload::Same),
                buffers: Mutex::default(),
            })
        });
        // Only one thread of a process may be in a collective call on a communicator.
        Ok(of.cache.combined.get_or_init(|| made).as_deref())
    }

    /// True if a collective is combined; the same on all processes.
    pub(super) fn takes(
        &self,
        of: &Neighborhood<'_>,
        operation: Operation,
        send: &Blocks<'_>,
        receive: &Blocks<'_>,
    ) -> bool {
        let most = operation.payload().most_bytes();
        let mut sizes = Sizes::default();
        let sends = of.ends.of(Direction::Send, true).iter().map(|end| (send.block)(end.number));
        let receives = of.ends.of(Direction::Receive, true).iter();
        let receives = receives.map(|end| (receive.block)(end.number));
        let mut first = sends.take(1).chain(receives.take(1));
        // If a block is invalid, the host finds that when blocks are sent as usual.
        operation.is_uniform()
            && first.all(|block| sizes.of(&block).is_some_and(|bytes| bytes <= most))
    }

    /// Runs a collective. Collective.
    pub(super) fn exchange(
        &self,
        of: &Neighborhood<'_>,
        private: &HostComm,
        operation: Operation,
        send: &Blocks<'_>,
        receive: &Blocks<'_>,
    ) -> Result {
        let layout = match operation.payload() {
            Payload::Each => &self.each,
            Payload::Same => &self.same,
        };
        let kept = || self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffers = mem::take(&mut *kept());
        if buffers.bytes.len() < layout.bytes {
            buffers.bytes = vec![0; layout.bytes];
        }
        buffers.parts.clear();
        buffers.parts.resize(layout.schedule.slots, Part::default());
        // Not through the vector during the call: the host also writes to it.
        let base = buffers.bytes.as_mut_ptr();
        let mut call = CombinedCall { of, private, layout, send, receive, base, buffers };
        let done = call.run();
        if done.is_err() && call.buffers.requests.give_up() {
            of.attached.spoil();
            // The host may still read it.
            mem::forget(call.buffers);
        } else {
            call.buffers.requests.clear();
            *kept() = call.buffers;
        }
        done
    }
}

/// A number shared by exactly the processes of this one's node; `None`, on all processes, if nodes are unknown.
/// Collective.
fn node(of: &Neighborhood<'_>, private: &HostComm) -> Result<Option<i64>> {
    // If the host fails here, it fails on this process only, and others wait.
    let known = machine::known(&HostComm(of.comm)).unwrap_or(None);
    let mut all_know = [i64::from(known.is_some())];
    private.min(&mut all_know)?;
    // SAFETY: MPI is active.
    let can_pack = unsafe { sys::cg_can_pack() } != 0;
    let node = match known.filter(|_| all_know[0] != 0) {
        Some(runs) => {
            runs.machine().nodes().get(of.ends.rank as usize).map(|node| i64::from(*node))
        }
        None => {
            let mut node = 0;
            // SAFETY: a communicator that only we know, and a place for the number.
            let code = unsafe { sys::cg_node_id(private.0, of.ends.rank, &raw mut node) };
            (code == sys::CG_SUCCESS).then_some(node)
        }
    };
    Ok(node.filter(|_| can_pack))
}
