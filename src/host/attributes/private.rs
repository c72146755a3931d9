//! Private communicators: of the processes of a topology, for messages of ours, so that none meets one of the program's.
//!
//! On hosts where they are made with the topology, topologies of all processes of a communicator share one. It is kept with
//! that communicator, and each of the topologies has tags of its own. All processes make these topologies in the same order,
//! as the standard has it for collective calls on one communicator, and so agree on the tags without a message.

use std::ffi::{c_int, c_void};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use super::key::{Key, Retirement, no_copy};
use super::lifetime;
use crate::engine::Comm;
use crate::host::sys::{self, MPI_Comm};
use crate::host::{HostComm, Result};

/// Carried by communicators on which topologies were made: a [`Shared`].
static KEY: Key = Key::new(no_copy, delete);

/// Topologies that share a communicator. With tags up to 32,767, which every host allows (MPI 4.1, 9.1.2), that leaves 128
/// for messages between the same two processes in one direction.
const MOST_SHARING: c_int = 256;

/// A private communicator.
pub(crate) struct Private {
    comm: MPI_Comm,
    /// The number of the topology among those that share the communicator, and the most that can.
    number: c_int,
    most: c_int,
    shared: Option<Arc<Shared>>,
}

/// A private communicator of several topologies. The last of them frees it, or the communicator that it is kept with.
struct Shared {
    comm: MPI_Comm,
    /// The topologies that have had it.
    topologies: AtomicI32,
}

// SAFETY: the host's handle, which any thread of the process may use under MPI's rules.
unsafe impl Send for Shared {}
// SAFETY: as above; what changes in it is atomic.
unsafe impl Sync for Shared {}

impl Private {
    /// One for a single topology.
    pub(in crate::host) fn of_one(HostComm(comm): HostComm) -> Self {
        Self { comm, number: 0, most: 1, shared: None }
    }

    /// One for a topology on `comm`, which has the processes of `old` with the ranks that they have there; `None` if the host
    /// has no room for it. Collective over `old`.
    ///
    /// # Errors
    ///
    /// The host's.
    pub(in crate::host) fn of_several(old: MPI_Comm, comm: &HostComm) -> Result<Option<Self>> {
        let known = KEY.get(old)?.map(|value| {
            let shared = value.cast_const().cast::<Shared>();
            // SAFETY: a value of this key is what is put below, and stays as long as the attribute.
            unsafe {
                Arc::increment_strong_count(shared);
                Arc::from_raw(shared)
            }
        });
        if let Some(found) = known.and_then(Self::next_of) {
            return Ok(Some(found));
        }
        let Some(made) = comm.private() else { return Ok(None) };
        let shared = Arc::new(Shared { comm: made.0, topologies: AtomicI32::new(0) });
        lifetime::retires_with_the_last(retire);
        lifetime::calls_at_the_end(forget_of_world);
        lifetime::count_up();
        let value = Arc::into_raw(Arc::clone(&shared));
        if let Err(error) = KEY.put(old, value.cast_mut().cast()) {
            // SAFETY: the host refused the value, so it is still ours.
            drop(unsafe { Arc::from_raw(value) });
            lifetime::count_down();
            made.free()?;
            return Err(error);
        }
        Ok(Self::next_of(shared))
    }

    /// The part of the next topology that shares one, unless too many do.
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

    /// The tag of messages of a pairing.
    #[inline]
    pub(crate) fn tag(&self, pairing: c_int) -> c_int {
        self.number + self.most * pairing
    }

    /// Leaves it to the host for good.
    pub(in crate::host) fn abandon(self) {
        mem::forget(self.shared);
    }

    /// Gives it up. Collective where no other topology has it.
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

/// Gives up the private communicator that is kept with `MPI_COMM_WORLD`, before the host ends.
fn forget_of_world() {
    // SAFETY: asks the host for its state, which is allowed at any time.
    if unsafe { sys::cg_is_active() != 0 } {
        KEY.remove(HostComm::world().0);
    }
}

/// Gives up the key, which no communicator has an attribute of any more.
fn retire(way: Retirement) {
    KEY.retire(way);
}

/// The host calls this when a communicator is freed.
unsafe extern "C" fn delete(
    _comm: MPI_Comm,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: a value of our key, and its attribute is gone with this call.
    let shared = unsafe { Arc::from_raw(value.cast_const().cast::<Shared>()) };
    lifetime::count_down();
    // After an error the host would keep the attribute, whose value is gone.
    drop(release(shared));
    sys::CG_SUCCESS
}
