//! The communicator of the process alone, for what it sends to itself. Hosts have few communicators
//! (MPICH 2,048 at once), so there is one a process. It hangs on `MPI_COMM_SELF`, and ends with what
//! hangs there, at the start of `MPI_Finalize`.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::Comm;
use crate::host::attributes::key::{Key, no_copy};
use crate::host::family::is_smpi;
use crate::host::sys::{self, MPI_Comm};
use crate::host::{HostComm, Result};

/// The [`SelfComm`] of a process.
static KEY: Key = Key::new(no_copy, end);

/// A communicator of this process alone. It stays in memory when the communicator has ended: topologies of sessions may
/// outlive it.
pub(crate) struct SelfComm {
    comm: MPI_Comm,
    ended: AtomicBool,
}

// SAFETY: the host's handle, which any thread of the process may use under MPI's rules.
unsafe impl Send for SelfComm {}
// SAFETY: as above; what changes in it is atomic.
unsafe impl Sync for SelfComm {}

impl SelfComm {
    /// The communicator of this process alone, which `may_make` it. Waits for no other process. `None` where there is
    /// no `MPI_COMM_SELF` to make it of, in a program of sessions alone or after `MPI_Finalize`; under
    /// `MPI_THREAD_MULTIPLE`, where another thread may be in a collective call on `MPI_COMM_SELF`; where the host has
    /// no room for it; and on SMPI, which refuses messages from address zero, where datatypes with addresses in them
    /// start.
    pub(crate) fn of_process(may_make: bool) -> Result<Option<Arc<Self>>> {
        // SAFETY: asks the host for its state, which is allowed at any time.
        let may = unsafe { sys::cg_is_active() != 0 && sys::cg_threads_may_meet() == 0 };
        if !may || is_smpi() {
            return Ok(None);
        }
        let comm_self = HostComm::itself();
        if let Some(found) = KEY.get(comm_self.0)? {
            let found = found.cast_const().cast::<Self>();
            // SAFETY: a value of this key is what is put below, and stays as long as the attribute.
            return Ok(Some(unsafe {
                Arc::increment_strong_count(found);
                Arc::from_raw(found)
            }));
        }
        let Some(HostComm(comm)) = may_make.then(|| comm_self.private()).flatten() else {
            return Ok(None);
        };
        let made = Arc::new(Self { comm, ended: AtomicBool::new(false) });
        let value = Arc::into_raw(Arc::clone(&made));
        // Other processes may be in the collective already, and wait for what this one sends.
        if !KEY.put_if_absent(comm_self.0, value.cast_mut().cast()).unwrap_or(false) {
            // SAFETY: the host refused the value, so it is still ours.
            drop(unsafe { Arc::from_raw(value) });
            HostComm(comm).free()?;
            return Ok(None);
        }
        Ok(Some(made))
    }

    /// The communicator, until it has ended.
    #[inline]
    pub(crate) fn comm(&self) -> Option<HostComm> {
        (!self.ended.load(Ordering::Relaxed)).then_some(HostComm(self.comm))
    }
}

/// The host calls this in `MPI_Finalize`.
unsafe extern "C" fn end(
    _comm: MPI_Comm,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: a value of our key, and its attribute is gone with this call.
    let self_comm = unsafe { Arc::from_raw(value.cast_const().cast::<SelfComm>()) };
    self_comm.ended.store(true, Ordering::Relaxed);
    // After an error the host would keep the attribute, whose value is gone.
    drop(HostComm(self_comm.comm).free());
    sys::CG_SUCCESS
}
