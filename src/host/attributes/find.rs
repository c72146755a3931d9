//! Finds the topology of a communicator, in the [`cache`] or in the host's attribute.

use std::ffi::{c_int, c_void};

use super::cache::{self, CART, DIST_GRAPH, GRAPH};
use super::topology_attribute::{KEY, TopologyAttribute};
use crate::host::Result;
use crate::host::constants;
use crate::host::sys::{self, MPI_Comm};
use crate::topology;

/// The attribute of a communicator, or `None` if it has no topology of ours. Local.
///
/// # Errors
///
/// [`NullComm`](topology::Error::NullComm), or the host's.
///
/// # Safety
///
/// No other thread frees the communicator while the reference lives. MPI forbids programs to free objects that they
/// still use, so this holds for the time of one MPI call on it.
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
/// As for [`attached`].
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
    /// As for [`attached`].
    #[inline(always)]
    pub(crate) unsafe fn known<'a>(comm: MPI_Comm) -> Option<Option<&'a TopologyAttribute>> {
        // SAFETY: as the caller promises.
        unsafe { known(comm) }
    }

    /// # Safety
    ///
    /// As for [`attached`].
    pub(crate) unsafe fn found<'a>(comm: MPI_Comm) -> Result<Option<&'a TopologyAttribute>> {
        // SAFETY: as the caller promises.
        unsafe { attached(comm) }
    }
}

/// A query that needs only the host's constant for the kind of topology.
pub(crate) struct ByKind;

impl ByKind {
    /// The numbers of [`TaggedAttribute::kind`](cache::TaggedAttribute::kind), those of the host.
    const NUMBERS: [c_int; 8] = {
        let mut numbers = [sys::CG_UNDEFINED; 8];
        numbers[CART] = sys::CG_CART;
        numbers[GRAPH] = sys::CG_GRAPH;
        numbers[DIST_GRAPH] = sys::CG_DIST_GRAPH;
        numbers
    };

    /// The kind from the cache, even for a communicator that has no entry because it has no topology: hosts take longer
    /// to search for an attribute in vain than for their own query.
    ///
    /// # Safety
    ///
    /// None; this has the signature of [`ByTopology::known`].
    #[inline(always)]
    pub(crate) unsafe fn known(comm: MPI_Comm) -> Option<c_int> {
        let is_null = comm == constants::comm_null();
        // Read before the lookup: the communicator may get its entry meanwhile.
        let is_complete = cache::is_complete();
        match cache::find(comm) {
            Some(carried) => Some(Self::NUMBERS[carried.kind()]),
            None => (is_complete && !is_null).then_some(sys::CG_UNDEFINED),
        }
    }

    /// The kind from the host's attribute.
    ///
    /// # Safety
    ///
    /// As for [`attached`].
    pub(crate) unsafe fn found(comm: MPI_Comm) -> Result<c_int> {
        // SAFETY: as the caller promises.
        let found = unsafe { attached(comm)? };
        Ok(found.map_or(sys::CG_UNDEFINED, |attached| Self::NUMBERS[attached.kind()]))
    }
}

/// Asks the host.
///
/// # Safety
///
/// As for [`attached`].
#[cold]
#[inline(never)]
unsafe fn look_up<'a>(comm: MPI_Comm) -> Result<Option<&'a TopologyAttribute>> {
    if comm == constants::comm_null() {
        return Err(topology::Error::NullComm.into());
    }
    let Some(value) = KEY.get(comm)?.map(<*mut c_void>::cast::<TopologyAttribute>) else {
        return Ok(None);
    };
    // SAFETY: this value comes from `put` or `copy`, and lives until `delete`.
    let attached = unsafe { &*value };
    let found = attached.fits(comm)?.then_some(attached);
    attached.cache(comm, found.is_some());
    Ok(found)
}
