//! A cache of the attributes of communicators, in front of the host's, which cost more than most of the queries that
//! begin with them.
//!
//! A handle is found here only while its communicator carries our attribute: an entry is created after the attribute
//! was seen, and removed in the attribute's delete callback, before the host can give the handle to another
//! communicator. So an entry depends only on the handle, whichever process or thread of the program uses it.
//! Communicators without a topology have no entry: if all attributes [have one](is_complete), a communicator without an
//! entry has no topology.
//!
//! Readers take no lock, because an entry is never changed while it is in use: a free entry is filled, and only the
//! end of its communicator frees it. A reader that finds its handle is in a call on that communicator, which MPI
//! forbids to be freed meanwhile; so the data that it reads next belongs to the handle. If there is no free entry,
//! communicators remain without one.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::host::sys::MPI_Comm;

/// The entries in which a handle may be; they share a cache line.
const WAYS: usize = 4;
const SETS: usize = 16;

/// A handle's bits in a free entry: those of no handle.
const FREE: u64 = u64::MAX;
/// A handle's bits in an entry that a thread is filling or freeing: those of no handle.
const TAKEN: u64 = u64::MAX - 1;

struct Entry {
    handle: AtomicU64,
    /// As in [`TaggedAttribute`]; null in a free entry.
    carried: AtomicPtr<()>,
}

/// The kinds of [`TaggedAttribute`].
pub(super) const CART: usize = 2;
pub(super) const GRAPH: usize = 3;
pub(super) const DIST_GRAPH: usize = 4;

/// The attribute of a communicator: an address whose low bits, which are free because of its alignment, hold its kind.
/// `MPI_Topo_test` needs no more.
#[derive(Clone, Copy)]
pub(in crate::host) struct TaggedAttribute(*const ());

/// The low bits.
pub(in crate::host) const KIND: usize = 7;

impl TaggedAttribute {
    /// Marks the attribute of a communicator whose topology it is not.
    pub(in crate::host) const NOTHING: Self = Self(ptr::without_provenance(1));

    /// The attribute at this address, of a kind other than 0 and that of [`Self::NOTHING`].
    pub(in crate::host) fn new(attached: *const (), kind: usize) -> Self {
        debug_assert!((2..=KIND).contains(&kind));
        Self(attached.map_addr(|address| address | kind))
    }

    #[inline(always)]
    pub(in crate::host) fn kind(self) -> usize {
        self.0.addr() & KIND
    }

    /// The address of the attribute; null without a topology.
    #[inline(always)]
    pub(in crate::host) fn address(self) -> *const () {
        self.0.map_addr(|address| address & !KIND)
    }
}

#[repr(align(64))]
struct Set([Entry; WAYS]);

static ENTRIES: [Set; SETS] = [const {
    Set(
        [const { Entry { handle: AtomicU64::new(FREE), carried: AtomicPtr::new(ptr::null_mut()) } };
            WAYS],
    )
}; SETS];

/// An upper bound on the number of attributes without an entry.
static WITHOUT_ENTRY: AtomicUsize = AtomicUsize::new(0);

/// Counts an attribute that a communicator is about to carry, and that has no entry yet.
pub(in crate::host) fn count() {
    WITHOUT_ENTRY.fetch_add(1, Ordering::Relaxed);
}

/// Counts one attribute less, which has an entry now or is gone.
pub(in crate::host) fn uncount() {
    // Pairs with the acquire in `is_complete`. Attributes that the host discarded at its end are no longer counted.
    let less = |count: usize| count.checked_sub(1);
    let _ = WITHOUT_ENTRY.fetch_update(Ordering::Release, Ordering::Relaxed, less);
}

/// True if all attributes have entries. A communicator that is not found afterwards carries none: its attribute was
/// counted before the program got the handle.
#[inline]
pub(in crate::host) fn is_complete() -> bool {
    WITHOUT_ENTRY.load(Ordering::Acquire) == 0
}

/// A handle as a number.
#[inline]
fn bits(comm: MPI_Comm) -> u64 {
    // An integer with some hosts, a pointer with others.
    comm.0 as u64
}

/// The entries in which a handle may be.
#[inline]
fn entries(bits: u64) -> &'static [Entry; WAYS] {
    // The golden ratio spreads consecutive integers as well as addresses.
    &ENTRIES[(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SETS.ilog2())) as usize].0
}

/// The cached attribute of a communicator, if it is in the cache.
#[inline(always)]
pub(in crate::host) fn find(comm: MPI_Comm) -> Option<TaggedAttribute> {
    let bits = bits(comm);
    for entry in entries(bits) {
        // Pairs with the release in `insert`.
        if entry.handle.load(Ordering::Acquire) == bits {
            let carried = entry.carried.load(Ordering::Relaxed);
            return (!carried.is_null()).then_some(TaggedAttribute(carried));
        }
        other_entry();
    }
    None
}

/// Tells the compiler that most handles are in the first of their entries.
#[cold]
fn other_entry() {}

/// Inserts the attribute of a communicator that has no entry; returns whether there was room. Only in a call on that
/// communicator, so that it is not freed meanwhile.
pub(in crate::host) fn insert(comm: MPI_Comm, carried: TaggedAttribute) -> bool {
    let bits = bits(comm);
    entries(bits).iter().any(|entry| {
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        let is_free = entry.handle.compare_exchange(FREE, TAKEN, success, failure).is_ok();
        if is_free {
            entry.carried.store(carried.0.cast_mut(), Ordering::Relaxed);
            entry.handle.store(bits, Ordering::Release);
        }
        is_free
    })
}

/// Forgets all communicators, when the host has ended.
#[cfg(mpi_sessions)]
pub(in crate::host) fn clear() {
    for entry in ENTRIES.iter().flat_map(|set| &set.0) {
        let handle = entry.handle.load(Ordering::Acquire);
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        if handle != FREE && entry.handle.compare_exchange(handle, TAKEN, success, failure).is_ok()
        {
            entry.carried.store(ptr::null_mut(), Ordering::Relaxed);
            entry.handle.store(FREE, Ordering::Release);
        }
    }
    WITHOUT_ENTRY.store(0, Ordering::Relaxed);
}

/// Forgets a communicator, which the host is about to free.
pub(in crate::host) fn forget(comm: MPI_Comm) {
    let bits = bits(comm);
    for entry in entries(bits) {
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        if entry.handle.compare_exchange(bits, TAKEN, success, failure).is_ok() {
            entry.carried.store(ptr::null_mut(), Ordering::Relaxed);
            entry.handle.store(FREE, Ordering::Release);
            return;
        }
    }
}
