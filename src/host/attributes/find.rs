//! The topology of a communicator, from the [`cache`] or from the host's attribute.

use std::ffi::{c_int, c_void};

use super::cache::{self, TaggedAttribute};
use super::{KEY, TopologyAttribute, lifetime, nothing};
use crate::host::Result;
use crate::host::sys::{self, MPI_Comm};
use crate::topology::{self, Topology};

/// The attribute of a communicator, or `None` if it has no topology of ours. Local.
///
/// # Errors
///
/// [`NullComm`](topology::Error::NullComm), or the host's.
///
/// # Safety
///
/// The communicator is not freed by another thread while the reference lives. MPI forbids
/// programs to free what they still use, so this holds for the time of one MPI call on it.
#[inline]
pub(crate) unsafe fn attached<'a>(comm: MPI_Comm) -> Result<Option<&'a TopologyAttribute>> {
    // SAFETY: as the caller promises.
    match unsafe { known(comm) } {
        Some(found) => Ok(found),
        // SAFETY: as the caller promises.
        None => unsafe { look_up(comm) },
    }
}

/// The entry of the cache for a communicator, if there is one.
///
/// # Safety
///
/// As [`attached`].
#[inline(always)]
unsafe fn known<'a>(comm: MPI_Comm) -> Option<Option<&'a TopologyAttribute>> {
    // SAFETY: null, or a value of our attribute, which lives until `delete` has taken it out of the cache.
    cache::find(comm)
        .map(|carried| unsafe { carried.address().cast::<TopologyAttribute>().as_ref() })
}

/// A query that needs the topology.
pub(crate) struct ByTopology;

impl ByTopology {
    /// The entry of the cache.
    ///
    /// # Safety
    ///
    /// As [`attached`].
    #[inline(always)]
    pub(crate) unsafe fn known<'a>(comm: MPI_Comm) -> Option<Option<&'a TopologyAttribute>> {
        // SAFETY: as the caller promises.
        unsafe { known(comm) }
    }

    /// # Safety
    ///
    /// As [`attached`].
    pub(crate) unsafe fn found<'a>(comm: MPI_Comm) -> Result<Option<&'a TopologyAttribute>> {
        // SAFETY: as the caller promises.
        unsafe { attached(comm) }
    }
}

/// A query that needs only the host's constant for the kind of topology.
pub(crate) struct ByKind;

impl ByKind {
    /// The numbers of [`TaggedAttribute::kind`], those of the host.
    const NUMBERS: [c_int; 8] = {
        let mut numbers = [sys::CG_UNDEFINED; 8];
        numbers[CART] = sys::CG_CART;
        numbers[GRAPH] = sys::CG_GRAPH;
        numbers[DIST_GRAPH] = sys::CG_DIST_GRAPH;
        numbers
    };

    /// The entry of the cache.
    ///
    /// # Safety
    ///
    /// None is needed; this is as [`ByTopology::known`].
    #[inline(always)]
    pub(crate) unsafe fn known(comm: MPI_Comm) -> Option<c_int> {
        cache::find(comm).map(|carried| Self::NUMBERS[carried.kind()])
    }

    /// The kind by the host's attribute, which is inserted into the cache also where there is no topology.
    ///
    /// # Safety
    ///
    /// As [`attached`].
    pub(crate) unsafe fn found(comm: MPI_Comm) -> Result<c_int> {
        // SAFETY: as the caller promises.
        let found = unsafe { attached(comm)? };
        if found.is_none() && KEY.made().is_some() {
            note_nothing(comm);
        }
        Ok(found.map_or(sys::CG_UNDEFINED, |attached| Self::NUMBERS[attached.kind()]))
    }
}

/// The kinds of [`TaggedAttribute`].
const CART: usize = 2;
const GRAPH: usize = 3;
const DIST_GRAPH: usize = 4;

impl TopologyAttribute {
    fn kind(&self) -> usize {
        match &*self.topology {
            Topology::Cart(_) => CART,
            Topology::Graph(_) => GRAPH,
            Topology::DistGraph(_) => DIST_GRAPH,
        }
    }
}

/// Asks the host.
///
/// # Safety
///
/// As [`attached`].
#[cold]
#[inline(never)]
unsafe fn look_up<'a>(comm: MPI_Comm) -> Result<Option<&'a TopologyAttribute>> {
    // SAFETY: a constant of the host.
    if comm == unsafe { sys::cg_comm_null } {
        return Err(topology::Error::NullComm.into());
    }
    let Some(value) = KEY.get(comm)?.map(<*mut c_void>::cast::<TopologyAttribute>) else {
        return Ok(None);
    };
    if value != nothing() {
        // SAFETY: this value comes from `put` or `copy`, and lives until `delete`.
        let attached = unsafe { &*value };
        if attached.fits(comm)? {
            cache::insert(comm, TaggedAttribute::new(value.cast(), attached.kind()));
            return Ok(Some(attached));
        }
    }
    cache::insert(comm, TaggedAttribute::NOTHING);
    Ok(None)
}

/// Gives a communicator without an attribute one that says that it has no topology. Without it,
/// the host would not say when the handle goes to another communicator.
fn note_nothing(comm: MPI_Comm) {
    // The attribute must not be set twice: its first value would be deleted, and the communicator
    // forgotten while it is in use.
    lifetime::count_up();
    match KEY.put_if_absent(comm, nothing().cast()) {
        Ok(true) => cache::insert(comm, TaggedAttribute::NOTHING),
        _ => lifetime::count_down(),
    }
}
