//! `MPI_Session_init` and `MPI_Session_finalize`: passed on to the host, and counted.
//!
//! They are not part of the chapter. But a host may end with its last session without calling attribute callbacks. The
//! names are weak in the archive, and there are no `PMPI_` names: those remain the host's.

use std::ffi::c_int;

use crate::host::sessions;
use crate::host::sys::{self, MPI_Errhandler, MPI_Info, MPI_Session};

/// Opens a session. MPI 4.1, 11.3.1.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Session_init(
    info: MPI_Info,
    errhandler: MPI_Errhandler,
    session: *mut MPI_Session,
) -> c_int {
    // SAFETY: the caller keeps the standard's contract for this call.
    sessions::open(|| unsafe { sys::cg_session_init(info, errhandler, session) })
}

/// Closes a session. MPI 4.1, 11.3.1.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Session_finalize(session: *mut MPI_Session) -> c_int {
    // SAFETY: as above.
    sessions::close(|| unsafe { sys::cg_session_finalize(session) })
}

// Compile only if the host's mpi.h declares exactly this.
const _: (
    unsafe extern "C" fn(MPI_Info, MPI_Errhandler, *mut MPI_Session) -> c_int,
    unsafe extern "C" fn(*mut MPI_Session) -> c_int,
) = (sys::prototypes::MPI_Session_init, sys::prototypes::MPI_Session_finalize);
