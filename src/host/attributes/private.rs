//! Private communicators: they have the processes of a topology, and separate our messages from the program's.
//!
//! On hosts where they are created with the topology, topologies of all processes of `MPI_COMM_WORLD`, or of a
//! communicator that has a topology, share one. It is stored with that communicator, and each topology has its own
//! tags. All processes create these topologies in the same order, as the standard requires for collective calls on one
//! communicator, and so agree on the tags without a message. On any other communicator it could only be an attribute,
//! and a constructor may be called while the host copies the attributes of that communicator.

use std::ffi::c_int;
use std::mem;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::lifetime;
use crate::engine::Comm;
use crate::host::sys::MPI_Comm;
use crate::host::{HostComm, Result};

/// The private communicator of topologies created on `MPI_COMM_WORLD`.
static OF_WORLD: SharedPrivate = SharedPrivate::new();

/// The number of topologies that share a communicator. With tags up to 32,767, which every host allows (MPI 4.1,
/// 9.1.2), that leaves 128 for messages between the same two processes in one direction.
const MOST_SHARING: c_int = 256;

/// A private communicator.
pub(crate) struct Private {
    comm: MPI_Comm,
    /// The index of the topology among those that share the communicator, and their maximal number.
    number: c_int,
    most: c_int,
    shared: Option<Arc<Shared>>,
}

/// The private communicator of several topologies, if it exists.
pub(super) struct SharedPrivate(Mutex<Option<Arc<Shared>>>);

impl SharedPrivate {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The share of a topology on `comm`; `None` if the host has no room. Collective over `comm`.
    pub(super) fn next(&self, comm: &HostComm) -> Result<Option<Private>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(found) = known.and_then(Private::next_of) {
            return Ok(Some(found));
        }
        let Some(HostComm(comm)) = comm.private()? else { return Ok(None) };
        let made = Arc::new(Shared { comm, topologies: AtomicI32::new(0) });
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = place.replace(Arc::clone(&made));
        // The host is not called under a lock.
        drop(place);
        before.map_or(Ok(()), release)?;
        Ok(Private::next_of(made))
    }

    /// Releases it. Collective if no topology uses it.
    pub(super) fn release(&self) -> Result {
        let shared = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        shared.map_or(Ok(()), release)
    }
}

/// A private communicator of several topologies. The last of them frees it, or the communicator with which it is
/// stored.
struct Shared {
    comm: MPI_Comm,
    /// The number of topologies that have used it.
    topologies: AtomicI32,
}

// SAFETY: the host's handle, which any thread of the process may use under MPI's rules.
unsafe impl Send for Shared {}
// SAFETY: the host's handle, which any thread of the process may use under MPI's rules; its mutable state is atomic.
unsafe impl Sync for Shared {}

impl Private {
    /// One for a single topology.
    pub(in crate::host) fn of_one(HostComm(comm): HostComm) -> Self {
        Self { comm, number: 0, most: 1, shared: None }
    }

    /// One for a topology on `comm`, which has the processes of `MPI_COMM_WORLD` with the ranks that they have there; `None`
    /// if the host has no room for it. Collective.
    ///
    /// # Errors
    ///
    /// The host's error.
    pub(in crate::host) fn of_world(comm: &HostComm) -> Result<Option<Self>> {
        lifetime::calls_at_the_end(forget_of_world);
        OF_WORLD.next(comm)
    }

    /// The share of the next topology, unless there are too many.
    fn next_of(shared: Arc<Shared>) -> Option<Self> {
        let number = shared.topologies.fetch_add(1, Ordering::Relaxed);
        let (comm, most) = (shared.comm, MOST_SHARING);
        (number < most).then_some(Self { comm, number, most, shared: Some(shared) })
    }

    /// The communicator.
    #[inline]
    pub(crate) fn comm(&self) -> HostComm {
        HostComm(self.comm)
    }

    /// The tag of messages with a pairing.
    #[inline]
    pub(crate) fn tag(&self, pairing: c_int) -> c_int {
        self.number + self.most * pairing
    }

    /// Leaves it to the host, and never frees it.
    pub(in crate::host) fn abandon(self) {
        mem::forget(self.shared);
    }

    /// Releases it. Collective if no other topology uses it.
    pub(in crate::host) fn free(self) -> Result {
        match self.shared {
            None => HostComm(self.comm).free(),
            Some(shared) => release(shared),
        }
    }
}

fn release(shared: Arc<Shared>) -> Result {
    Arc::into_inner(shared).map_or(Ok(()), |last| HostComm(last.comm).free())
}

/// Releases the private communicator that is stored with `MPI_COMM_WORLD`, before the host ends.
fn forget_of_world() {
    // The host is ending, so communicators that it fails to free end with it.
    drop(OF_WORLD.release());
}
