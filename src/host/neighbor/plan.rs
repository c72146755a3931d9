//! The arguments of an all-to-all that stands for a neighborhood collective, kept with the
//! communicator: programs repeat their collectives, and building arrays with an entry for each
//! process, and datatypes, takes longer than comparing a layout.

use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

use super::types::{Described, Temporary};
use super::{Block, Neighborhood};
use crate::host::Result;
use crate::host::sys::{self, MPI_Datatype};
use crate::topology::{Direction, neighbors::Peer};

/// An all-to-all among all processes, for one layout of blocks.
pub(super) struct Plan {
    /// The blocks that are sent, and those that are received.
    layout: Vec<Block>,
    /// The arguments for each side.
    pub(super) send: Table,
    pub(super) receive: Table,
    /// Whether some datatype in the tables is not a named one.
    pub(super) derived: bool,
    /// Whether the tables have datatypes that the program may free.
    lent: bool,
    /// Whether the same layout may be looked up later.
    lasts: bool,
    /// The datatypes in the tables that were made for them.
    _temporary: Temporary,
}

// SAFETY: the host's handles, which any thread of the process may use under MPI's rules.
unsafe impl Send for Plan {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Plan {}

/// The arrays of one side of an all-to-all, one entry per process: counts of 0 for those that are not
/// neighbors.
pub(super) struct Table {
    pub(super) counts: Vec<c_int>,
    pub(super) displs: Vec<c_int>,
    pub(super) datatypes: Vec<MPI_Datatype>,
}

impl Plan {
    fn new(
        of: &Neighborhood<'_>,
        layout: Vec<Block>,
        send: &dyn Fn(usize) -> Block,
        receive: &dyn Fn(usize) -> Block,
        with_own: bool,
        hold: bool,
    ) -> Result<Self> {
        let mut temporary = Temporary::default();
        let size = of.attached.size() as usize;
        let mut table = |direction, block| -> Result<Table> {
            let mut table = Table::empty(size);
            let peers = of.attached.topology.peers(of.ends.rank, direction);
            for peer in peers.iter().filter(|peer| with_own || peer.rank != of.ends.rank) {
                let described = describe(&mut temporary, peer, block)?;
                table.set(peer.rank as usize, described, &mut temporary)?;
            }
            Ok(table)
        };
        let mut send = table(Direction::Send, send)?;
        let mut receive = table(Direction::Receive, receive)?;
        let given_derived = any_derived(&layout);
        let derived = given_derived || !temporary.is_empty();
        // The program may free its types, and their handles may come again for others. So nothing is
        // kept that was made of such a type or worked out from its extent, only the handle itself.
        let lasts = !given_derived || !(hold || temporary.joined()) && temporary.is_empty();
        if hold && given_derived {
            send.hold(&mut temporary)?;
            receive.hold(&mut temporary)?;
        }
        let lent = given_derived && !hold;
        Ok(Self { layout, send, receive, derived, lent, lasts, _temporary: temporary })
    }
}

/// Whether some block has a type that is not a named one.
fn any_derived(layout: &[Block]) -> bool {
    let mut runs = layout.chunk_by(|one, other| one.datatype == other.datatype);
    // SAFETY: asks the host about the program's datatypes.
    runs.any(|run| unsafe { sys::cg_type_is_derived(run[0].datatype) } != 0)
}

/// All blocks of a peer as one.
fn describe(
    temporary: &mut Temporary,
    peer: &Peer,
    block: &dyn Fn(usize) -> Block,
) -> Result<Described> {
    match peer.blocks[..] {
        [only] => temporary.describe(block(only)),
        _ => temporary.merge(peer.blocks.iter().map(|number| block(*number))),
    }
}

impl Table {
    fn empty(size: usize) -> Self {
        // SAFETY: a constant of the host.
        let byte = unsafe { sys::cg_byte };
        Self { counts: vec![0; size], displs: vec![0; size], datatypes: vec![byte; size] }
    }

    /// Displacements are ints here: what lies farther away gets a datatype that has the distance
    /// in it.
    fn set(&mut self, rank: usize, block: Described, temporary: &mut Temporary) -> Result {
        // SMPI divides by the size of what it copies.
        if block.count == 0 {
            return Ok(());
        }
        let (block, displ) = match c_int::try_from(block.offset) {
            Ok(displ) => (block, displ),
            Err(_) => (temporary.displaced(block)?, 0),
        };
        self.counts[rank] = block.count;
        self.displs[rank] = displ;
        self.datatypes[rank] = block.datatype;
        Ok(())
    }

    /// Takes duplicates of all datatypes that are needed, named ones aside.
    fn hold(&mut self, temporary: &mut Temporary) -> Result {
        for (datatype, count) in self.datatypes.iter_mut().zip(&self.counts) {
            // SAFETY: asks the host about a datatype of the program or of ours.
            if *count != 0 && unsafe { sys::cg_type_is_derived(*datatype) } != 0 {
                *datatype = temporary.duplicate(*datatype)?;
            }
        }
        Ok(())
    }
}

/// The plans of a communicator, those used last in front.
#[derive(Default)]
pub(super) struct Plans(Mutex<Vec<Arc<Plan>>>);

/// So many plans are kept for collectives that may come again,
const MOST: usize = 8;
/// but no more than have so many entries in all, of 24 or 32 bytes, if they are not the only one.
const MOST_ENTRIES: usize = 1 << 16;

impl Plans {
    /// The plan for a collective, known or new, with or without what the process sends to itself: if
    /// there is such, layouts with it are longer. With `hold`, its datatypes stay as long as it does.
    pub(super) fn get(
        &self,
        of: &Neighborhood<'_>,
        send: &dyn Fn(usize) -> Block,
        receive: &dyn Fn(usize) -> Block,
        with_own: bool,
        hold: bool,
    ) -> Result<Arc<Plan>> {
        let blocks = || {
            let sends = of.ends.of(Direction::Send, with_own).iter().map(|end| send(end.number));
            let receives = of.ends.of(Direction::Receive, with_own).iter();
            sends.chain(receives.map(|end| receive(end.number)))
        };
        let fits = |plan: &Plan| !(hold && plan.lent) && plan.layout.iter().copied().eq(blocks());
        if let Some(plan) = self.find(fits) {
            return Ok(plan);
        }
        let layout = blocks().collect();
        let plan = Arc::new(Plan::new(of, layout, send, receive, with_own, hold)?);
        if plan.lasts {
            self.put(&plan);
        }
        Ok(plan)
    }

    fn find(&self, fits: impl Fn(&Plan) -> bool) -> Option<Arc<Plan>> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = plans.iter().position(|plan| fits(plan))?;
        plans[..=place].rotate_right(1);
        Some(Arc::clone(&plans[0]))
    }

    fn put(&self, plan: &Arc<Plan>) {
        let most = (MOST_ENTRIES / plan.send.counts.len()).clamp(1, MOST);
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stay = plans.len().min(most - 1);
        let dropped = plans.split_off(stay);
        plans.insert(0, Arc::clone(plan));
        // Freeing their datatypes calls the host, which is not done under a lock.
        drop(plans);
        drop(dropped);
    }
}
