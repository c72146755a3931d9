//! The number of sessions that the program has open.
//!
//! A host ends with its last session if there is no `MPI_COMM_WORLD`, and may start again with the next one. It calls no
//! attribute callbacks then, and need not free the communicators that the program left behind: their handles, the numbers
//! of our keys and our error codes may then get a new meaning.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attributes::lifetime;
use super::sys;

/// Sessions that begin as calls of `PMPI_Session_init` are not seen, nor are their ends.
static OPEN: Mutex<usize> = Mutex::new(0);

/// Locks the number. Under the lock the host is not called.
fn number() -> MutexGuard<'static, usize> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn world_is_there() -> bool {
    // SAFETY: asks the host for its state, which is allowed at any time.
    unsafe { sys::cg_is_active() != 0 }
}

/// Opens a session by the host's function.
pub(crate) fn open(init: impl FnOnce() -> c_int) -> c_int {
    let alone = !world_is_there();
    {
        let mut open = number();
        // The host may have ended with its world, or be ending with a session of another thread.
        if alone && *open == 0 {
            lifetime::host_has_ended();
        }
        *open += 1;
    }
    let code = init();
    if code != sys::CG_SUCCESS {
        *number() -= 1;
    }
    code
}

/// Closes a session by the host's function.
pub(crate) fn close(finalize: impl FnOnce() -> c_int) -> c_int {
    let before = {
        let mut open = number();
        let before = *open;
        *open = before.saturating_sub(1);
        before
    };
    let may_be_last = before == 1 && !world_is_there();
    if may_be_last {
        lifetime::host_ends();
    }
    let code = finalize();
    if code != sys::CG_SUCCESS {
        *number() += before.min(1);
    } else if may_be_last && !world_is_there() {
        let open = number();
        // Otherwise another thread has opened one since, and noticed this then.
        if *open == 0 {
            lifetime::host_has_ended();
        }
    }
    code
}
