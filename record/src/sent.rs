//! Determines the messages that a call sends, from its arguments.

use std::ffi::{c_int, c_void};

use crate::peers::Peers;
use crate::sys::{self, MPI_Comm, MPI_Datatype, MPI_Op, MPI_Win};
use crate::window;

/// All-to-alls on larger communicators are counted as calls only: no placement puts a thousand processes on one node,
/// and the counts would take memory for each of them.
const MOST_ALL_TO_ALL: c_int = 1024;

/// The messages of a call.
pub(crate) enum Sent {
    /// One block.
    One(Peers, Block),
    /// Several blocks.
    Many(Peers, Vec<Block>),
    /// A block to each neighbor.
    Neighbors(MPI_Comm, Vec<Block>),
    /// A block to each process that gets one; the call has the mean over all other processes.
    All(Calls, Vec<Block>),
    /// A collective whose messages are not counted.
    Calls(Calls),
}

/// A call of a collective whose messages are not counted.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    pub(crate) function: &'static str,
    pub(crate) comm: MPI_Comm,
    /// The root, in the communicator.
    pub(crate) root: Option<c_int>,
    /// The bytes that the process contributes, in all-to-alls to each other process.
    pub(crate) bytes: u64,
}

/// A collective of `count` items.
pub(crate) fn calls(
    function: &'static str,
    comm: MPI_Comm,
    root: Option<c_int>,
    count: impl Into<i64>,
    datatype: MPI_Datatype,
) -> Sent {
    // Only for the window: the datatype of a process other than the root may be invalid.
    let bytes = if window::is_open() { bytes(count, datatype) } else { 0 };
    Sent::Calls(Calls { function, comm, root, bytes })
}

/// The bytes of one message.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    /// The other's rank in the communicator or window; negative for `MPI_PROC_NULL`.
    pub(crate) rank: c_int,
    pub(crate) bytes: u64,
    /// True if this process fetches the bytes.
    pub(crate) fetched: bool,
}

impl Block {
    pub(crate) fn to(rank: c_int, bytes: u64) -> Self {
        Self { rank, bytes, fetched: false }
    }

    /// `count` items for a rank; nothing is sent to MPI_PROC_NULL, whatever the datatype.
    pub(crate) fn of(rank: c_int, count: impl Into<i64>, datatype: MPI_Datatype) -> Self {
        Self::to(rank, if rank < 0 { 0 } else { bytes(count, datatype) })
    }

    fn fetched(self) -> Self {
        Self { fetched: true, ..self }
    }
}

/// The size of `count` items, in bytes. With no items the datatype may be invalid.
pub(crate) fn bytes(count: impl Into<i64>, datatype: MPI_Datatype) -> u64 {
    let count: i64 = count.into();
    if count <= 0 {
        return 0;
    }
    // SAFETY: the host has just accepted the datatype.
    let size = unsafe { sys::cr_type_size(datatype) };
    (count as u64).saturating_mul(size.max(0) as u64)
}

/// A message.
pub(crate) fn to(
    comm: MPI_Comm,
    dest: c_int,
    count: impl Into<i64>,
    datatype: MPI_Datatype,
) -> Sent {
    Sent::One(Peers::Comm(comm), Block::of(dest, count, datatype))
}

/// An access to a window that puts data there.
pub(crate) fn put(
    win: MPI_Win,
    target: c_int,
    count: impl Into<i64>,
    datatype: MPI_Datatype,
) -> Sent {
    Sent::One(Peers::Win(win), Block::of(target, count, datatype))
}

/// An access to a window that fetches data from there.
pub(crate) fn get(
    win: MPI_Win,
    target: c_int,
    count: impl Into<i64>,
    datatype: MPI_Datatype,
) -> Sent {
    Sent::One(Peers::Win(win), Block::of(target, count, datatype).fetched())
}

/// An access to a window that sends data, unless `op` takes none, and fetches the same amount.
pub(crate) fn exchange(
    win: MPI_Win,
    target: c_int,
    count: impl Into<i64>,
    datatype: MPI_Datatype,
    op: Option<MPI_Op>,
) -> Sent {
    let taken = Block::of(target, count, datatype);
    // SAFETY: compares handles.
    if op.is_some_and(|op| unsafe { sys::cr_is_no_op(op) } != 0) {
        return Sent::One(Peers::Win(win), taken.fetched());
    }
    Sent::Many(Peers::Win(win), vec![taken, taken.fetched()])
}

/// The ranks to which an all-to-all sends; `None` if there are too many.
fn all(comm: MPI_Comm) -> Option<impl Iterator<Item = c_int>> {
    let mut own = 0;
    // SAFETY: the host has just accepted the communicator, and there is a place for a rank.
    let count = unsafe { sys::cr_all(comm, &raw mut own) };
    (count <= MOST_ALL_TO_ALL).then(|| (0..count).filter(move |rank| *rank != own))
}

/// True if a send buffer is `MPI_IN_PLACE`.
fn in_place(buffer: *const c_void) -> bool {
    // SAFETY: compares addresses.
    unsafe { sys::cr_is_in_place(buffer) != 0 }
}

/// One block for all other processes.
pub(crate) fn all_to_all<C: Into<i64>>(
    function: &'static str,
    comm: MPI_Comm,
    buffer: *const c_void,
    sent: (C, MPI_Datatype),
    received: (C, MPI_Datatype),
) -> Sent {
    let Some(ranks) = all(comm) else {
        return Sent::Calls(Calls { function, comm, root: None, bytes: 0 });
    };
    let (count, datatype) = if in_place(buffer) { received } else { sent };
    let bytes = bytes(count, datatype);
    let blocks = ranks.map(|rank| Block::to(rank, bytes)).collect();
    Sent::All(Calls { function, comm, root: None, bytes }, blocks)
}

/// A separate block to each other process; empty ones are not messages.
///
/// # Safety
///
/// The counts have an entry for each process; the datatypes have one for all if `stride` is 0, otherwise one for each;
/// except on the send side if `buffer` is `MPI_IN_PLACE`.
pub(crate) unsafe fn all_to_all_blocks<C: Copy + Into<i64>>(
    function: &'static str,
    comm: MPI_Comm,
    buffer: *const c_void,
    sent: (*const C, *const MPI_Datatype),
    received: (*const C, *const MPI_Datatype),
    stride: usize,
) -> Sent {
    let Some(ranks) = all(comm) else {
        return Sent::Calls(Calls { function, comm, root: None, bytes: 0 });
    };
    let (counts, datatypes) = if in_place(buffer) { received } else { sent };
    let mut others = 0;
    let block = |rank: c_int| {
        others += 1;
        let at = rank as usize;
        // SAFETY: as the caller promises.
        let count: i64 = unsafe { *counts.add(at) }.into();
        // SAFETY: as above.
        (count > 0).then(|| Block::to(rank, bytes(count, unsafe { *datatypes.add(at * stride) })))
    };
    let blocks: Vec<Block> = ranks.filter_map(block).collect();
    let all = blocks.iter().fold(0u64, |sum, block| sum.saturating_add(block.bytes));
    Sent::All(Calls { function, comm, root: None, bytes: all / others.max(1) }, blocks)
}
