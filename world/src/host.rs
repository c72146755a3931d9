//! The calls of this library itself: the next functions, bypassing its wrappers.

#![allow(non_snake_case, reason = "MPI's names")]
#![allow(dead_code, reason = "some are for some hosts")]

use crate::sys::*;

/// Defines a function that calls the next of its name: `call! { NAME (ARGUMENTS) -> RESULT }`.
macro_rules! call {
    ($name:ident ($($arg:ident: $ty:ty),*) -> $result:ty) => {
        #[doc = concat!("`", stringify!($name), "`.\n\n# Safety\n\nThe standard's.")]
        pub(crate) unsafe fn $name($($arg: $ty),*) -> $result {
            static NEXT: cartograph_shim::next::Next = cartograph_shim::next::Next::new(concat!(stringify!($name), "\0"));
            type Function = unsafe extern "C" fn($($ty),*) -> $result;
            // SAFETY: every function of this name is of this type: it is what mpi.h declares.
            let next: Function = unsafe { ::core::mem::transmute(NEXT.get()) };
            // SAFETY: the caller keeps the standard's contract for this call.
            unsafe { next($($arg),*) }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/host.rs"));

/// Ends the process after a failed call of the host that this library needs: other ranks wait for it.
pub(crate) fn check(code: core::ffi::c_int, what: &str) {
    if code != CW_SUCCESS as core::ffi::c_int {
        cartograph_shim::say!("{what} failed in MPI_Init with error code {code}");
        std::process::abort();
    }
}
