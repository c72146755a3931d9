//! The arguments of the host's neighborhood collectives, cached with the communicator for the next call.

use std::ffi::c_int;
use std::iter;
use std::sync::Mutex;

use super::blocks::{Block, Regular};
use super::ends::{End, Ends};
use super::types::{Described, Temporary};
use crate::host::Result;
use crate::host::constants;
use crate::host::sys::{self, MPI_Aint, MPI_Datatype, cg_graph_count};
use crate::topology::Direction;

/// The number of edges to `MPI_PROC_NULL` that precede the `degree` edges of a process.
/// [`ArgumentGuard`](super::argument_lifetime::ArgumentGuard) needs one edge.
pub(super) fn proc_null_edges(degree: usize) -> usize {
    (sys::CG_PROC_NULL_EDGES as usize).max(usize::from(sys::CG_KEEPS_ARRAYS != 0 && degree == 0))
}

/// True if a block may not have more elements than an int can count.
const COUNTS_ARE_INTS: bool = size_of::<cg_graph_count>() == size_of::<c_int>();

/// The arguments of one side, one entry per edge of the host's graph.
#[derive(Default)]
pub(super) struct Arrays {
    pub(super) counts: Vec<cg_graph_count>,
    pub(super) displs: Vec<MPI_Aint>,
    pub(super) datatypes: Vec<MPI_Datatype>,
}

impl Arrays {
    /// Room for some entries.
    fn clear(&mut self, room: usize) {
        self.counts.clear();
        self.displs.clear();
        self.datatypes.clear();
        self.counts.reserve(room);
        self.displs.reserve(room);
        self.datatypes.reserve(room);
    }

    /// The entries for the edges to `MPI_PROC_NULL`, and for those of the process.
    fn fill(
        &mut self,
        (null_edges, ends): (usize, &[End]),
        block: impl Fn(usize) -> Block,
        temporary: &mut Temporary,
    ) -> Result {
        let byte = constants::byte();
        self.clear(null_edges + ends.len());
        for byte in iter::repeat_n(byte, null_edges) {
            self.push(0, 0, byte);
        }
        for end in ends {
            let mut block = block(end.number);
            // A null buffer with MPI_DATATYPE_NULL is allowed for zero blocks.
            if block.count == 0 {
                block = Block { offset: 0, datatype: byte, ..block };
            }
            if COUNTS_ARE_INTS {
                let Described { offset, count, datatype } = temporary.describe(block)?;
                self.push(cg_graph_count::from(count), offset, datatype);
            } else {
                self.push(block.count as cg_graph_count, block.offset, block.datatype);
            }
        }
        Ok(())
    }

    fn push(&mut self, count: cg_graph_count, offset: isize, datatype: MPI_Datatype) {
        self.counts.push(count);
        self.displs.push(offset as MPI_Aint);
        self.datatypes.push(datatype);
    }

    /// True if some datatype is derived.
    fn any_derived(&self) -> bool {
        let mut runs = self.datatypes.chunk_by(|one, other| one == other);
        // SAFETY: asks the host about datatypes of the program, or of ours.
        runs.any(|run| unsafe { sys::cg_type_is_derived(run[0]) } != 0)
    }

    /// Copies the derived datatypes.
    fn hold(&mut self, temporary: &mut Temporary) -> Result {
        for (datatype, count) in self.datatypes.iter_mut().zip(&self.counts) {
            // SAFETY: asks the host about a datatype of the program, or of ours.
            if *count != 0 && unsafe { sys::cg_type_is_derived(*datatype) } != 0 {
                *datatype = temporary.copy(*datatype)?;
            }
        }
        Ok(())
    }
}

/// The arguments of a communicator's last call: reused if the next call has the same blocks, otherwise refilled.
#[derive(Default)]
pub(super) struct ArgumentPool(Mutex<Option<Box<Arguments>>>);

impl ArgumentPool {
    pub(super) fn take(&self) -> Box<Arguments> {
        self.0.try_lock().ok().and_then(|mut arguments| arguments.take()).unwrap_or_default()
    }

    /// Called when the host no longer uses them.
    pub(super) fn put(&self, arguments: Box<Arguments>) {
        // Datatypes that were created for one call end with it.
        if arguments.temporary.is_empty()
            && let Ok(mut spare) = self.0.try_lock()
        {
            *spare = Some(arguments);
        }
    }
}

/// The arguments of both sides.
#[derive(Default)]
pub(super) struct Arguments {
    pub(super) send: Arrays,
    pub(super) receive: Arrays,
    /// The blocks, if both sides are regular.
    pub(super) regular: Option<[Regular; 2]>,
    /// The datatypes that were created for them.
    temporary: Temporary,
}

// SAFETY: the host's handles, which any thread of the process may use under MPI's rules.
unsafe impl Send for Arguments {}
// SAFETY: the host's handles, which any thread of the process may use under MPI's rules; nothing in it changes.
unsafe impl Sync for Arguments {}

impl Arguments {
    /// Fills them for the blocks of a call.
    pub(super) fn fill(
        &mut self,
        ends: &Ends,
        send: impl Fn(usize) -> Block,
        receive: impl Fn(usize) -> Block,
    ) -> Result {
        let edges = |direction| {
            let ends = ends.of(direction, true);
            (proc_null_edges(ends.len()), ends)
        };
        let temporary = &mut self.temporary;
        self.send.fill(edges(Direction::Send), send, temporary)?;
        self.receive.fill(edges(Direction::Receive), receive, temporary)
    }

    /// Copies the derived datatypes.
    pub(super) fn hold(&mut self) -> Result {
        self.send.hold(&mut self.temporary)?;
        self.receive.hold(&mut self.temporary)
    }

    /// True if some datatype is derived.
    pub(super) fn any_derived(&self) -> bool {
        self.send.any_derived() || self.receive.any_derived()
    }

    /// The datatypes of the sends and of the receives.
    pub(super) fn datatypes(&self) -> [&[MPI_Datatype]; 2] {
        [&self.send.datatypes, &self.receive.datatypes]
    }
}
