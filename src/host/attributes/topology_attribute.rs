//! The attribute of a communicator with a topology.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use super::cache::{self, CART, DIST_GRAPH, GRAPH, TaggedAttribute};
use super::group::Group;
use super::key::{Key, Retirement};
use super::lifetime;
use super::private::{Private, SharedPrivate};
use super::watch::Watch;
use crate::engine::Comm;
use crate::engine::agree::Collectives;
use crate::host::sys::{self, MPI_Comm};
use crate::host::{HostComm, Result, sentinel};
use crate::topology::Topology;

/// The key of our attribute, created with the first topology of the process.
pub(super) static KEY: Key = Key::lasting(copy, delete);

/// The attribute by which a communicator carries its topology.
pub(crate) struct TopologyAttribute {
    /// The topology, shared with the communicator's duplicates.
    pub(crate) topology: Arc<Topology>,
    /// The number of processes of the communicator for which the topology was created.
    size: c_int,
    /// True if the communicator, or the one of which it is a duplicate, was created as a distributed graph of the host.
    pub(in crate::host) host_graph: bool,
    /// The agreed pairing of blocks in neighborhood collectives, as a number of
    /// [`Advisor::pairing`](crate::engine::Advisor::pairing).
    pub(in crate::host) pairing: c_int,
    /// The rank of this process, [`UNKNOWN`] or [`ELSEWHERE`].
    rank: AtomicI32,
    /// Whether this process watches for its old rank.
    pub(crate) watch: Watch,
    /// For a copy, the processes of the original, compared with the communicator's on first use.
    copied_from: Option<Group>,
    /// A communicator of the same processes for our own messages, once it exists; `None` inside if the host has no room
    /// for it. It is not shared: calls on a communicator and on its duplicate may come in any order.
    private: OnceLock<Option<Private>>,
    /// True if messages for which no call waits may be in flight on the private communicator.
    spoilt: AtomicBool,
    /// The data that neighborhood collectives [cache](Self::kept) here, if any.
    kept: OnceLock<Box<dyn Any>>,
    /// True if the communicator has an entry in the cache.
    has_entry: AtomicBool,
    /// The private communicator of the topologies created on this communicator.
    of_next: SharedPrivate,
}

// The cache needs the low bits of addresses.
const _: () = assert!(align_of::<TopologyAttribute>() > cache::KIND);

/// A rank that is not yet known.
const UNKNOWN: c_int = -1;

/// The value for no rank: the topology belongs to another communicator, see [`Group`].
const ELSEWHERE: c_int = -2;

impl TopologyAttribute {
    fn new(topology: Arc<Topology>, size: c_int, rank: c_int, host_graph: bool) -> Self {
        Self {
            topology,
            size,
            host_graph,
            pairing: 0,
            rank: AtomicI32::new(rank),
            watch: Watch::nobody(),
            copied_from: None,
            private: if makes_late() { OnceLock::new() } else { OnceLock::from(None) },
            spoilt: AtomicBool::new(false),
            kept: OnceLock::new(),
            has_entry: AtomicBool::new(false),
            of_next: SharedPrivate::new(),
        }
    }

    /// The number of processes that the communicator has.
    #[inline]
    pub(crate) fn size(&self) -> c_int {
        self.size
    }

    /// The rank of this process in the communicator. Each process has its own `TopologyAttribute`, even on a host that
    /// runs several in one address space: it creates a communicator for each.
    #[inline]
    pub(crate) fn rank(&self) -> c_int {
        self.rank.load(Ordering::Relaxed)
    }

    /// The private communicator, on which blocking neighborhood collectives send; `None` on all processes or on none.
    /// If it [is created late](makes_late), the first call is collective over `comm`.
    #[inline]
    pub(crate) fn private(&self, comm: MPI_Comm) -> Option<&Private> {
        // Hosts that create it late do not report whether an error occurs on all processes.
        let make = || HostComm(comm).private().unwrap_or(None).map(Private::of_one);
        // Only one thread of a process may be in a collective call on a communicator.
        self.private.get_or_init(make).as_ref()
    }

    /// The private communicator, if it exists already. Local.
    pub(crate) fn made_private(&self) -> Option<&Private> {
        self.private.get()?.as_ref()
    }

    /// Drops an attribute that no communicator carries, and frees the private communicators.
    pub(in crate::host) fn discard(self) -> Result {
        let spoilt = self.is_spoilt();
        let freed = match self.private.into_inner().flatten() {
            // Messages left on it could be received on a later communicator to which the host gives the same number.
            Some(private) if spoilt => {
                private.abandon();
                Ok(())
            }
            Some(private) => private.free(),
            None => Ok(()),
        };
        freed.and(self.of_next.release())
    }

    /// Records that messages were left in flight on the private communicator, where a later collective could receive
    /// them.
    pub(crate) fn spoil(&self) {
        self.spoilt.store(true, Ordering::Relaxed);
    }

    /// True if messages were [left](Self::spoil).
    #[inline]
    pub(crate) fn is_spoilt(&self) -> bool {
        self.spoilt.load(Ordering::Relaxed)
    }

    /// A value that a single module derives from the topology, cached as long as the topology.
    ///
    /// # Panics
    ///
    /// If two types are requested.
    #[inline]
    pub(in crate::host) fn kept<T: Default + 'static>(&self) -> &T {
        let kept = self.kept.get_or_init(|| Box::<T>::default());
        kept.downcast_ref().expect("one type is kept")
    }

    /// The private communicator of a topology on `comm`, created on the communicator that carries this, with the ranks
    /// that processes have there; `None` if the host has no room for it. Collective over that communicator.
    ///
    /// # Errors
    ///
    /// The host's error.
    pub(in crate::host) fn private_of_next(&self, comm: &HostComm) -> Result<Option<Private>> {
        self.of_next.next(comm)
    }

    /// The kind of the topology, as a number of [`TaggedAttribute::kind`].
    pub(super) fn kind(&self) -> usize {
        match &*self.topology {
            Topology::Cart(_) => CART,
            Topology::Graph(_) => GRAPH,
            Topology::DistGraph(_) => DIST_GRAPH,
        }
    }

    /// Gives the communicator that carries this an entry in the cache, if it has none and there is room. If two threads
    /// try, one does it.
    pub(super) fn cache(&self, comm: MPI_Comm, fits: bool) {
        if self.has_entry.swap(true, Ordering::Relaxed) {
            return;
        }
        let tagged = TaggedAttribute::new(ptr::from_ref(self).cast(), self.kind());
        if cache::insert(comm, if fits { tagged } else { TaggedAttribute::NOTHING }) {
            cache::uncount();
        } else {
            self.has_entry.store(false, Ordering::Relaxed);
        }
    }

    /// Removes the communicator, which no longer carries this, from the cache.
    pub(super) fn uncache(&self, comm: MPI_Comm) {
        if self.has_entry.load(Ordering::Relaxed) {
            cache::forget(comm);
        } else {
            cache::uncount();
        }
    }

    /// The attribute for a communicator that the host derives from `comm`, which carries this.
    fn copy(&self, comm: MPI_Comm) -> Option<Self> {
        // A copy of an unused copy: the processes of the first original count.
        if !self.fits(comm).unwrap_or(false) {
            return None;
        }
        let copy = Self::new(Arc::clone(&self.topology), self.size, UNKNOWN, self.host_graph);
        let (copied_from, pairing) = (Some(Group::of(comm)), self.pairing);
        Some(Self { copied_from, pairing, ..copy })
    }

    /// True if this is the topology of `comm`; the same on all its processes.
    pub(super) fn fits(&self, comm: MPI_Comm) -> Result<bool> {
        if self.rank() == UNKNOWN {
            let of_comm = HostComm(comm);
            let (rank, size) = (of_comm.rank()?, of_comm.size()?);
            let same = |group: &Group| group.is_of(comm, size);
            let fits = size == self.size && self.copied_from.as_ref().is_none_or(same);
            self.rank.store(if fits { rank } else { ELSEWHERE }, Ordering::Relaxed);
        }
        Ok(self.rank() != ELSEWHERE)
    }
}

/// True if a private communicator is created with the first blocking collective rather than with the topology. On hosts
/// that create communicators one at a time, a collective would wait for unrelated creations.
pub(in crate::host) fn makes_late() -> bool {
    // SAFETY: asks the host which it is.
    unsafe { sys::cg_makes_communicators_at_once() != 0 }
}

/// The attribute of a new communicator: its topology as seen by this process, whether the host has it too, and its
/// private communicator if that exists already.
pub(in crate::host) fn prepare(
    comm: &HostComm,
    topology: Topology,
    rank: c_int,
    Collectives { host_graph, pairing }: Collectives,
    private: Option<Private>,
) -> Result<Box<TopologyAttribute>> {
    sentinel::learn();
    let mut attached = TopologyAttribute::new(Arc::new(topology), comm.size()?, rank, host_graph);
    if private.is_some() {
        attached.private = OnceLock::from(private);
    }
    Ok(Box::new(TopologyAttribute { pairing, ..attached }))
}

/// Attaches its attribute to a new communicator. On failure the attribute is dropped, with the private communicator.
/// Local.
pub(in crate::host) fn put(comm: &HostComm, attached: Box<TopologyAttribute>) -> Result {
    let value = Box::into_raw(attached);
    cache::count();
    lifetime::count_up();
    lifetime::retires_with_the_last(retire);
    lifetime::watch();
    let set = KEY.put(comm.0, value.cast());
    if set.is_err() {
        // SAFETY: the host rejected the value, so we still own the box.
        let attached = unsafe { Box::from_raw(value) };
        cache::uncount();
        lifetime::count_down();
        attached.discard()?;
    } else {
        // SAFETY: no other code has seen the communicator, which carries the value.
        unsafe { &*value }.cache(comm.0, true);
    }
    set
}

/// The host calls this when a communicator is duplicated.
unsafe extern "C" fn copy(
    comm: MPI_Comm,
    _keyval: c_int,
    _extra_state: *mut c_void,
    value: *mut c_void,
    copied: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: `value` comes from `put` or from here, and its attribute still holds it.
    let copy = unsafe { &*value.cast::<TopologyAttribute>() }.copy(comm);
    // SAFETY: the standard has `flag` point to an int.
    unsafe { flag.write(copy.is_some().into()) };
    if let Some(copy) = copy {
        // SAFETY: the standard has `copied` point to a pointer.
        unsafe { copied.cast::<*mut TopologyAttribute>().write(Box::into_raw(Box::new(copy))) };
        cache::count();
        lifetime::count_up();
    }
    sys::CG_SUCCESS
}

/// The host calls this when a communicator is freed.
unsafe extern "C" fn delete(
    comm: MPI_Comm,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: `value` comes from `put` or `copy`, and its attribute is gone with this call.
    let attached = unsafe { Box::from_raw(value.cast::<TopologyAttribute>()) };
    attached.uncache(comm);
    lifetime::count_down();
    // All processes free the communicator, so all free the private ones. If the host fails to free one, that is not a
    // fault of this call: after an error it would keep the attribute, whose value is gone.
    drop(attached.discard());
    sys::CG_SUCCESS
}

/// Releases the key, once no communicator has such an attribute.
fn retire(way: Retirement) {
    KEY.retire(way);
}
