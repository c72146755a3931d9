//! The open sessions from which the program may have communicators: those from which it has created a group.
//!
//! A host ends with its last session if there is no `MPI_COMM_WORLD`, and may start again with the next one. It calls
//! no attribute callbacks then, and need not free the communicators that the program left: their handles, the numbers
//! of our keys and our error codes may then get a new meaning.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attributes::lifetime;
use super::sys::{self, MPI_Session};

/// Their handles. Sessions used only through `PMPI_` names are not seen.
static ASKED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Locks the handles. The host is not called under the lock.
fn asked() -> MutexGuard<'static, Vec<usize>> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A handle as a number.
fn bits(session: MPI_Session) -> usize {
    // An integer with some hosts, a pointer with others.
    session.0 as usize
}

fn world_is_there() -> bool {
    // SAFETY: asks the host for its state, which is allowed at any time.
    unsafe { sys::cg_is_active() != 0 }
}

/// Gets a group from a session through the host's function.
pub(crate) fn ask(session: MPI_Session, host: impl FnOnce() -> c_int) -> c_int {
    // The host may have ended with its world.
    if !world_is_there() {
        let asked = asked();
        if asked.is_empty() {
            lifetime::host_has_ended();
        }
    }
    let code = host();
    if code == sys::CG_SUCCESS {
        let mut asked = asked();
        if !asked.contains(&bits(session)) {
            asked.push(bits(session));
        }
    }
    code
}

/// Closes a session through the host's function.
pub(crate) fn close(session: MPI_Session, host: impl FnOnce() -> c_int) -> c_int {
    let others = |asked: &[usize]| asked.iter().any(|&other| other != bits(session));
    let may_be_last = !world_is_there() && !others(&asked());
    if may_be_last {
        lifetime::host_ends();
    }
    let code = host();
    if code == sys::CG_SUCCESS {
        let mut asked = asked();
        asked.retain(|&other| other != bits(session));
        // Otherwise another thread has used a session since, and noticed the end then.
        if may_be_last && asked.is_empty() && !world_is_there() {
            lifetime::host_has_ended();
        }
    }
    code
}
