//! The arguments of an all-to-all that implements a neighborhood collective, cached with the communicator: programs
//! repeat their collectives, and building arrays with an entry for each process, and datatypes, takes longer than
//! comparing a layout.

use std::ffi::c_int;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::blocks::{Block, Regular};
use super::ends::Ends;
use super::types::{Described, Temporary};
use crate::host::Result;
use crate::host::attributes::{TopologyAttribute, lifetime};
use crate::host::constants;
use crate::host::sys::{self, MPI_Datatype};
use crate::topology::{Direction, neighbors::Peer};

/// The blocks of a collective.
pub(super) struct BlockList<'a> {
    /// The topology, and the calling process in it.
    pub(super) attached: &'a TopologyAttribute,
    pub(super) ends: &'a Ends,
    pub(super) send: &'a dyn Fn(usize) -> Block,
    pub(super) receive: &'a dyn Fn(usize) -> Block,
    /// The blocks of both sides, if both are regular.
    pub(super) regular: Option<[Regular; 2]>,
    /// True if they include the blocks of the process to itself.
    pub(super) with_own: bool,
}

impl BlockList<'_> {
    /// The blocks to send, and those to receive.
    fn blocks(&self) -> impl Iterator<Item = Block> {
        let sends = self.ends.of(Direction::Send, self.with_own).iter();
        let receives = self.ends.of(Direction::Receive, self.with_own).iter();
        sends
            .map(|end| (self.send)(end.number))
            .chain(receives.map(|end| (self.receive)(end.number)))
    }
}

/// The blocks for which the arguments were built.
#[derive(PartialEq)]
enum MadeFor {
    /// The number of blocks on both sides together, if both are regular. It includes the process's blocks to itself if
    /// the arguments do.
    Regular(usize, [Regular; 2]),
    /// The blocks to send, and those to receive.
    Each(Vec<Block>),
}

/// An all-to-all among all processes, for one layout of blocks.
pub(super) struct AlltoallwArgs {
    of: MadeFor,
    /// The arguments for each side.
    pub(super) send: Table,
    pub(super) receive: Table,
    /// True if some datatype in the tables is derived.
    pub(super) derived: bool,
    /// True if the tables have datatypes that the program may free.
    lent: bool,
    /// True if the same layout may be looked up later.
    lasts: bool,
    /// The datatypes that were created for the tables.
    temporary: Mutex<Temporary>,
}

// SAFETY: the host's handles, which any thread of the process may use under MPI's rules.
unsafe impl Send for AlltoallwArgs {}
// SAFETY: the host's handles, which any thread of the process may use under MPI's rules; nothing in it changes.
unsafe impl Sync for AlltoallwArgs {}

/// The arrays of one side of an all-to-all, one entry per process, with counts of 0 for processes that are not
/// neighbors.
pub(super) struct Table {
    pub(super) counts: Vec<c_int>,
    pub(super) displs: Vec<c_int>,
    pub(super) datatypes: Vec<MPI_Datatype>,
}

impl AlltoallwArgs {
    fn new(layout: &BlockList<'_>, hold: bool) -> Result<Self> {
        let BlockList { attached, ends, .. } = layout;
        let mut temporary = Temporary::default();
        let size = attached.size() as usize;
        let mut table = |direction, block| -> Result<Table> {
            let mut table = Table::empty(size);
            let peers = attached.topology.peers(ends.rank, direction);
            for peer in peers.iter().filter(|peer| layout.with_own || peer.rank != ends.rank) {
                let described = describe(&mut temporary, peer, block)?;
                table.set(peer.rank as usize, described, &mut temporary)?;
            }
            Ok(table)
        };
        let mut send = table(Direction::Send, layout.send)?;
        let mut receive = table(Direction::Receive, layout.receive)?;
        let known = match layout.regular {
            Some(regular) => MadeFor::Regular(ends.count(layout.with_own), regular),
            None => MadeFor::Each(layout.blocks().collect()),
        };
        let given_derived = known.has_derived();
        let derived = given_derived || !temporary.is_empty();
        // The program may free its types, and other types may get their handles. So nothing is cached that was built
        // from such a type or computed from its extent, except the handle itself.
        let lasts = !given_derived || !(hold || temporary.joined()) && temporary.is_empty();
        if hold && given_derived {
            send.hold(&mut temporary)?;
            receive.hold(&mut temporary)?;
        }
        let lent = given_derived && !hold;
        Ok(Self {
            of: known,
            send,
            receive,
            derived,
            lent,
            lasts,
            temporary: Mutex::new(temporary),
        })
    }
}

/// The plans with datatypes of ours that communicators keep. Programs need not free their communicators, but MPICH 4.0
/// reports datatypes that remain at its end as leaks.
static WITH_DATATYPES: Mutex<Vec<Weak<AlltoallwArgs>>> = Mutex::new(Vec::new());

/// Frees the datatypes that communicators keep, at the start of `MPI_Finalize`.
fn free_datatypes() {
    let plans = mem::take(&mut *WITH_DATATYPES.lock().unwrap_or_else(PoisonError::into_inner));
    for plan in plans.iter().filter_map(Weak::upgrade) {
        drop(mem::take(&mut *plan.temporary.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

impl MadeFor {
    /// True if some block has a derived type.
    fn has_derived(&self) -> bool {
        // SAFETY: asks the host about a datatype of the program.
        let is_derived = |block: &Block| unsafe { sys::cg_type_is_derived(block.datatype) } != 0;
        match self {
            Self::Regular(0, _) => false,
            Self::Regular(_, sides) => sides.iter().any(|side| is_derived(&side.first)),
            Self::Each(blocks) => {
                let mut runs = blocks.chunk_by(|one, other| one.datatype == other.datatype);
                runs.any(|run| is_derived(&run[0]))
            }
        }
    }
}

/// Merges all blocks of a peer.
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
        let byte = constants::byte();
        Self { counts: vec![0; size], displs: vec![0; size], datatypes: vec![byte; size] }
    }

    /// Displacements are ints here: a block that is farther away gets a datatype that contains the distance.
    fn set(&mut self, rank: usize, block: Described, temporary: &mut Temporary) -> Result {
        // SMPI divides by the size of the data that it copies.
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

    /// Copies all datatypes that are needed, except named ones.
    fn hold(&mut self, temporary: &mut Temporary) -> Result {
        for (datatype, count) in self.datatypes.iter_mut().zip(&self.counts) {
            // SAFETY: asks the host about a datatype of the program or of ours.
            if *count != 0 && unsafe { sys::cg_type_is_derived(*datatype) } != 0 {
                *datatype = temporary.copy(*datatype)?;
            }
        }
        Ok(())
    }
}

/// The plans of a communicator, most recently used first.
#[derive(Default)]
pub(super) struct ArgsCache(Mutex<Vec<Arc<AlltoallwArgs>>>);

/// The most arguments that are cached for repeated collectives.
const MOST: usize = 8;
/// The most entries that are cached in total, of 24 or 32 bytes; a single set of arguments may have more.
const MOST_ENTRIES: usize = 1 << 16;

impl ArgsCache {
    /// The cached arguments of a collective with `count` blocks on both sides together, both of which are regular. With
    /// `hold`, their datatypes live as long as they do.
    pub(super) fn known(
        &self,
        count: usize,
        regular: [Regular; 2],
        hold: bool,
    ) -> Option<Arc<AlltoallwArgs>> {
        let sought = MadeFor::Regular(count, regular);
        self.find(hold, |known| *known == sought)
    }

    /// New arguments for a collective that has [none](Self::known) cached. With `hold`, their datatypes live as long as
    /// they do.
    pub(super) fn get(&self, layout: &BlockList<'_>, hold: bool) -> Result<Arc<AlltoallwArgs>> {
        let alike = |known: &MadeFor| match known {
            MadeFor::Each(blocks) => blocks.iter().copied().eq(layout.blocks()),
            MadeFor::Regular(..) => false,
        };
        if layout.regular.is_none()
            && let Some(plan) = self.find(hold, alike)
        {
            return Ok(plan);
        }
        let plan = Arc::new(AlltoallwArgs::new(layout, hold)?);
        if plan.lasts {
            self.put(&plan);
        }
        Ok(plan)
    }

    #[inline]
    fn find(&self, hold: bool, fits: impl Fn(&MadeFor) -> bool) -> Option<Arc<AlltoallwArgs>> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = plans.iter().position(|plan| !(hold && plan.lent) && fits(&plan.of))?;
        if place != 0 {
            plans[..=place].rotate_right(1);
        }
        Some(Arc::clone(&plans[0]))
    }

    fn put(&self, plan: &Arc<AlltoallwArgs>) {
        let most = (MOST_ENTRIES / plan.send.counts.len()).clamp(1, MOST);
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stay = plans.len().min(most - 1);
        let dropped = plans.split_off(stay);
        plans.insert(0, Arc::clone(plan));
        if !plan.temporary.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            let mut all = WITH_DATATYPES.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|plan| plan.strong_count() != 0);
            all.push(Arc::downgrade(plan));
            lifetime::calls_at_the_end(free_datatypes);
        }
        // Freeing their datatypes calls the host, which is not done under a lock.
        drop(plans);
        drop(dropped);
    }
}
