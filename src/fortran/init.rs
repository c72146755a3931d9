//! `MPI_INIT` and `MPI_INIT_THREAD`, by the names that Fortran compilers give them.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use super::edge::Fint;
use crate::abi::init::{next, started};
use crate::host::sys;

type Init = unsafe extern "C" fn(*mut Fint);
type InitThread = unsafe extern "C" fn(*const Fint, *mut Fint, *mut Fint);

/// Calls the host's procedure of this name, which does what its Fortran programs need.
unsafe fn init(name: &CStr, ierror: *mut Fint) {
    let mut code: c_int = sys::CG_SUCCESS;
    match next(name) {
        // SAFETY: every MPI_INIT is of this type.
        Some(next) => unsafe { std::mem::transmute::<*mut c_void, Init>(next)(&raw mut code) },
        // SAFETY: a Fortran program has no arguments to hand on.
        None => code = unsafe { sys::cg_init(ptr::null_mut(), ptr::null_mut()) },
    }
    code = started(code);
    if !ierror.is_null() {
        // SAFETY: the caller's INTEGER.
        unsafe { ierror.write(code) };
    }
}

/// As [`init`].
unsafe fn init_thread(name: &CStr, required: *const Fint, provided: *mut Fint, ierror: *mut Fint) {
    let mut code: c_int = sys::CG_SUCCESS;
    match next(name) {
        // SAFETY: every MPI_INIT_THREAD is of this type; the arguments are the caller's.
        Some(next) => unsafe {
            let call = std::mem::transmute::<*mut c_void, InitThread>(next);
            call(required, provided, &raw mut code);
        },
        // SAFETY: the caller's arguments, read and written as INTEGERs.
        None => unsafe {
            code = sys::cg_init_thread(ptr::null_mut(), ptr::null_mut(), *required, provided);
        },
    }
    code = started(code);
    if !ierror.is_null() {
        // SAFETY: the caller's INTEGER.
        unsafe { ierror.write(code) };
    }
}

macro_rules! names {
    ($($init:literal, $thread:literal;)*) => { $(
        const _: () = {
            #[unsafe(export_name = $init)]
            unsafe extern "C" fn named_init(ierror: *mut Fint) {
                let name = CStr::from_bytes_with_nul(concat!($init, "\0").as_bytes());
                // SAFETY: the caller keeps the standard's contract for this call.
                unsafe { init(name.expect("a name and a zero"), ierror) }
            }

            #[unsafe(export_name = $thread)]
            unsafe extern "C" fn named_thread(
                required: *const Fint,
                provided: *mut Fint,
                ierror: *mut Fint,
            ) {
                let name = CStr::from_bytes_with_nul(concat!($thread, "\0").as_bytes());
                // SAFETY: as above.
                unsafe { init_thread(name.expect("a name and a zero"), required, provided, ierror) }
            }
        };
    )* };
}

names! {
    "mpi_init_", "mpi_init_thread_";
    "mpi_init__", "mpi_init_thread__";
    "mpi_init", "mpi_init_thread";
    "MPI_INIT", "MPI_INIT_THREAD";
}
