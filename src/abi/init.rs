//! `MPI_Init` and `MPI_Init_thread`: the host's, after which it is gathered where processes run.
//!
//! In the shared library only, and by their `MPI_` names only. Nothing depends on being called: a
//! tool in front, sessions and some Fortran modules go past.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::host::{is_smpi, layout, mismatch, sys};

type Init = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char) -> c_int;
type InitThread =
    unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;

/// What would be called without us: a tool's function or the host's.
pub(crate) fn next(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a string.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// After the host has started. A failure here is left to the first constructor that needs a layout, and so
/// is a host of another kind than the one built for: the program may never call what we replace.
pub(crate) fn started(code: c_int) -> c_int {
    if code == sys::CG_SUCCESS && is_first_start() && mismatch().is_none() {
        let _ = layout::gather_world();
    }
    code
}

/// Once a process, although a host's Fortran procedure may call its C function, and so us again. Where
/// many ranks share a process there is no telling, and the first constructor gathers.
fn is_first_start() -> bool {
    static STARTED: AtomicBool = AtomicBool::new(false);
    !is_smpi() && !STARTED.swap(true, Ordering::Relaxed)
}

/// MPI 4.1, 11.2.1. Collective.
#[unsafe(export_name = "MPI_Init")]
unsafe extern "C" fn init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    started(match next(c"MPI_Init") {
        // SAFETY: every MPI_Init is of this type; the arguments are the caller's.
        Some(next) => unsafe { std::mem::transmute::<*mut c_void, Init>(next)(argc, argv) },
        // SAFETY: as above.
        None => unsafe { sys::cg_init(argc, argv.cast()) },
    })
}

/// MPI 4.1, 11.6.2. Collective.
#[unsafe(export_name = "MPI_Init_thread")]
unsafe extern "C" fn init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    started(match next(c"MPI_Init_thread") {
        // SAFETY: every MPI_Init_thread is of this type; the arguments are the caller's.
        Some(next) => unsafe {
            std::mem::transmute::<*mut c_void, InitThread>(next)(argc, argv, required, provided)
        },
        // SAFETY: as above.
        None => unsafe { sys::cg_init_thread(argc, argv.cast(), required, provided) },
    })
}

// Compile only if the host's mpi.h declares exactly this.
const _: () = {
    let _: Init = sys::prototypes::MPI_Init;
    let _: InitThread = sys::prototypes::MPI_Init_thread;
};
