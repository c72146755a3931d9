//! `MPI_Group_from_session_pset` and `MPI_Session_finalize`: passed on to the host, and recorded.
//!
//! They are not part of the chapter. But a host may end with its last session without calling attribute callbacks, and
//! communicators of a session are created from its groups. A program calls these functions only with a session, so they
//! may be exported in front of an MPI without sessions; `MPI_Session_init`, whose existence mpi4py tests, must not be.
//! The names are weak in the archive, and there are no `PMPI_` names: those remain the host's.

use std::ffi::{c_char, c_int};

use crate::host::sessions;
use crate::host::sys::{self, MPI_Group, MPI_Session};

/// Creates a group of the processes of a session. MPI 4.1, 7.3.2.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Group_from_session_pset(
    session: MPI_Session,
    pset_name: *const c_char,
    newgroup: *mut MPI_Group,
) -> c_int {
    // SAFETY: the caller keeps the standard's contract for this call.
    sessions::ask(session, || unsafe {
        sys::cg_group_from_session_pset(session, pset_name, newgroup)
    })
}

/// Closes a session. MPI 4.1, 11.3.1.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Session_finalize(session: *mut MPI_Session) -> c_int {
    // SAFETY: the caller keeps the standard's contract for this call. The host rejects a null pointer.
    let handle = unsafe { session.as_ref() }.copied();
    let host = || {
        // SAFETY: the caller keeps the standard's contract for this call.
        unsafe { sys::cg_session_finalize(session) }
    };
    match handle {
        Some(handle) => sessions::close(handle, host),
        None => host(),
    }
}

// Compile only if the host's mpi.h declares exactly this.
const _: (
    unsafe extern "C" fn(MPI_Session, *const c_char, *mut MPI_Group) -> c_int,
    unsafe extern "C" fn(*mut MPI_Session) -> c_int,
) = (sys::prototypes::MPI_Group_from_session_pset, sys::prototypes::MPI_Session_finalize);
