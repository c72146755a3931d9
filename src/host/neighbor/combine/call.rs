//! One collective with combined blocks, from the first receive to the last wait.

use std::ops::Range;
use std::ptr;

use crate::engine::combine::{Message, OwnPart, Stage};
use crate::host::errors::quiet;
use crate::host::neighbor::blocks::{Block, Side};
use crate::host::neighbor::cache::Neighborhood;
use crate::host::neighbor::combined::{BufferLayout, Buffers, LENGTH, Part};
use crate::host::neighbor::self_copy;
use crate::host::neighbor::types::{Sizes, Temporary};
use crate::host::sys;
use crate::host::{Error, HostComm, Result};
use crate::topology::Direction;

/// The tag of messages with parts. Messages with blocks have lower tags: two for each dimension of a grid.
const TAG: i32 = 32767;

/// The tag of a part that a process moves into a block of another size, as a message to itself.
const OWN_TAG: i32 = TAG - 1;

/// Blocks of one side. One type for all operations, so that the code here is compiled once.
pub(super) type Blocks<'a> = Side<&'a dyn Fn(usize) -> Block>;

/// A collective in progress.
pub(super) struct CombinedCall<'a> {
    pub(super) of: &'a Neighborhood<'a>,
    pub(super) private: &'a HostComm,
    pub(super) layout: &'a BufferLayout,
    pub(super) send: &'a Blocks<'a>,
    pub(super) receive: &'a Blocks<'a>,
    /// The bytes of the buffers.
    pub(super) base: *mut u8,
    pub(super) buffers: Buffers,
}

impl CombinedCall<'_> {
    /// Runs the collective.
    pub(super) fn run(&mut self) -> Result {
        let layout = self.layout;
        let schedule = &layout.schedule;
        let self_comm = self.of.self_comm();
        // All receives first: then as few messages as possible are unexpected.
        for (stage, [_, starts]) in schedule.stages.iter().zip(&layout.stages) {
            for (message, start) in stage.receives.iter().zip(starts) {
                self.receive_parts(message, *start)?;
            }
        }
        let with_own = self_comm.is_none();
        let [sends, receives] = [Direction::Send, Direction::Receive]
            .map(|direction| self.of.ends.of(direction, with_own).len());
        // Blocks to the process itself come last, and need no message if they can be copied.
        for place in schedule.direct_receives.iter().filter(|place| **place < receives) {
            self.receive_block(*place)?;
        }
        for (own, start) in schedule.filled.iter().zip(&layout.filled) {
            self.fill(own, *start)?;
        }
        self.send_parts(0)?;
        // An error in a block of this process to itself must not make others wait.
        let mut wrong = Ok(());
        if let Some(self_comm) = &self_comm {
            wrong = self_copy::copy(self.of, self_comm, self.send, self.receive);
        }
        let mut waited = 0;
        for (stage, Stage { receives, .. }) in schedule.stages.iter().enumerate() {
            let arriving = waited..waited + receives.len();
            waited = arriving.end;
            self.wait_parts(stage, arriving)?;
            self.send_parts(stage + 1)?;
            // Other processes forward parts of this process, which takes longer than sending a block.
            if stage == 0 {
                for place in schedule.direct_sends.iter().filter(|place| **place < sends) {
                    self.send_block(*place)?;
                }
            }
        }
        for own in &schedule.emptied {
            wrong = wrong.and(self.empty(own));
        }
        let all = 0..self.buffers.requests.len();
        let waited = self.buffers.requests.wait(self.private, all);
        wrong.and(waited)
    }

    /// Packs a block of this process.
    fn fill(&mut self, own: &OwnPart, start: usize) -> Result {
        let ends = self.of.ends.of(Direction::Send, true);
        let block = (self.send.block)(ends[own.ends[0]].number);
        let length = Sizes::default().of(&block).filter(|bytes| *bytes <= self.layout.most);
        let length = length.expect("blocks of one size, which was looked at");
        self.buffers.parts[own.slot] = Part { start, length };
        if length == 0 {
            return Ok(());
        }
        let mut temporary = Temporary::default();
        let described = temporary.describe(block)?;
        let address = self.send.address(&described);
        // MPICH 5 ends the program if it packs from a null pointer, but it rejects sending from one.
        if address.is_null() {
            let rank = self.of.ends.rank;
            // SAFETY: the host checks the address; there is room for the largest part.
            return quiet(unsafe {
                sys::PMPI_Sendrecv(
                    address,
                    described.count,
                    described.datatype,
                    rank,
                    OWN_TAG,
                    self.base.add(start).cast(),
                    length as i32,
                    sys::cg_packed,
                    rank,
                    OWN_TAG,
                    self.private.0,
                    sys::cg_status_ignore().cast(),
                )
            });
        }
        // SAFETY: the program vouches for its buffer, as described by count and datatype; there is room for the largest
        // part.
        quiet(unsafe {
            sys::cg_pack(
                address,
                described.count,
                described.datatype,
                self.base.add(start).cast(),
                length as i32,
                self.private.0,
            )
        })
    }

    /// Unpacks a part into the blocks of this process to which it belongs.
    fn empty(&mut self, own: &OwnPart) -> Result {
        let Part { start, length } = self.buffers.parts[own.slot];
        let ends = self.of.ends.of(Direction::Receive, true);
        for place in &own.ends {
            let block = (self.receive.block)(ends[*place].number);
            let room = Sizes::default().of(&block);
            let fits = room == Some(length);
            if fits && length == 0 {
                continue;
            }
            // Open MPI does not report this for messages to the process itself.
            if room.is_some_and(|room| room < length) {
                return Err(Error::Quiet(sys::CG_ERR_TRUNCATE));
            }
            let mut temporary = Temporary::default();
            let described = temporary.describe(block)?;
            let address = self.receive.address(&described);
            // SAFETY: the part is in the buffer.
            let part = unsafe { self.base.add(start) };
            let (length, count, datatype) = (length as i32, described.count, described.datatype);
            let comm = self.private.0;
            // SAFETY: the program vouches for its buffer, as described by count and datatype.
            quiet(unsafe {
                if fits && !address.is_null() {
                    sys::cg_unpack(part.cast(), length, address, count, datatype, comm)
                } else {
                    // The host reports this like any message of another size.
                    let (rank, status) = (self.of.ends.rank, sys::cg_status_ignore());
                    sys::PMPI_Sendrecv(
                        part.cast(),
                        length,
                        sys::cg_packed,
                        rank,
                        OWN_TAG,
                        address,
                        count,
                        datatype,
                        rank,
                        OWN_TAG,
                        comm,
                        status.cast(),
                    )
                }
            })?;
        }
        Ok(())
    }

    fn receive_parts(&mut self, message: &Message, start: usize) -> Result {
        let room = message.slots.len() * (LENGTH + self.layout.most);
        // SAFETY: the buffer has this much room there, and lives until the message has arrived.
        let place = unsafe { self.base.add(start) };
        let (comm, peer) = (self.private.0, message.peer);
        self.buffers.requests.receive(|request| {
            // SAFETY: as above.
            unsafe {
                sys::PMPI_Irecv(place.cast(), room as i32, sys::cg_byte, peer, TAG, comm, request)
            }
        })
    }

    /// Sends the messages of a stage, if there is one more; all their parts have arrived.
    fn send_parts(&mut self, stage: usize) -> Result {
        let layout = self.layout;
        let stages = layout.schedule.stages.iter().zip(&layout.stages).nth(stage);
        let Some((Stage { sends, .. }, [starts, _])) = stages else { return Ok(()) };
        for (Message { peer, slots }, start) in sends.iter().zip(starts) {
            let Buffers { parts, requests, .. } = &mut self.buffers;
            // SAFETY: the message has its place in the buffer, with room for parts of any length.
            let place = unsafe { self.base.add(*start) };
            let mut length = LENGTH * slots.len();
            for (i, slot) in slots.iter().enumerate() {
                let part = parts[*slot];
                let head = (part.length as u32).to_le_bytes();
                // SAFETY: parts are no longer than their slots, and no message is being sent from there.
                unsafe {
                    ptr::copy_nonoverlapping(head.as_ptr(), place.add(LENGTH * i), LENGTH);
                    let from = self.base.add(part.start);
                    ptr::copy_nonoverlapping(from, place.add(length), part.length);
                }
                length += part.length;
            }
            let (comm, peer, length) = (self.private.0, *peer, length as i32);
            requests.send(|request| {
                // SAFETY: as above.
                unsafe {
                    sys::PMPI_Isend(place.cast(), length, sys::cg_byte, peer, TAG, comm, request)
                }
            })?;
        }
        Ok(())
    }

    /// Waits for the messages of a stage, and finds their parts.
    fn wait_parts(&mut self, stage: usize, arriving: Range<usize>) -> Result {
        let layout = self.layout;
        self.buffers.requests.wait(self.private, arriving)?;
        let messages = &layout.schedule.stages[stage].receives;
        for (message, start) in messages.iter().zip(&layout.stages[stage][1]) {
            let mut at = start + LENGTH * message.slots.len();
            for (i, slot) in message.slots.iter().enumerate() {
                let mut length = [0; LENGTH];
                // SAFETY: the message has arrived, and begins with a length for each part.
                unsafe {
                    let head = self.base.add(start + LENGTH * i);
                    ptr::copy_nonoverlapping(head, length.as_mut_ptr(), LENGTH);
                }
                let part = Part { start: at, length: u32::from_le_bytes(length) as usize };
                at += part.length;
                self.buffers.parts[*slot] = part;
            }
        }
        Ok(())
    }

    fn send_block(&mut self, place: usize) -> Result {
        let end = &self.of.ends.of(Direction::Send, true)[place];
        let block = self.buffers.requests.describe((self.send.block)(end.number))?;
        let (address, comm) = (self.send.address(&block), self.private.0);
        self.buffers.requests.send(|request| {
            let (count, datatype) = (block.count, block.datatype);
            // SAFETY: the program vouches for its buffer, as described by count and datatype.
            unsafe {
                sys::PMPI_Isend(address, count, datatype, end.rank, end.pairing, comm, request)
            }
        })
    }

    fn receive_block(&mut self, place: usize) -> Result {
        let end = &self.of.ends.of(Direction::Receive, true)[place];
        let block = self.buffers.requests.describe((self.receive.block)(end.number))?;
        let (address, comm) = (self.receive.address(&block), self.private.0);
        self.buffers.requests.receive(|request| {
            let (count, datatype) = (block.count, block.datatype);
            // SAFETY: the program vouches for its buffer, as described by count and datatype.
            unsafe {
                sys::PMPI_Irecv(address, count, datatype, end.rank, end.pairing, comm, request)
            }
        })
    }
}
