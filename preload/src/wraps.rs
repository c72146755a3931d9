//! How a wrapping library finds the next functions: by itself it would find only those of its MPI, not those of tools
//! and of Cartograph that are preloaded after this library.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use crate::loaded::{self, Handle};

/// Passes it the function that finds the next function.
pub(crate) fn hand_over(library: &Handle) {
    type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;
    if let Some(function) = library.find(c"cartograph_finds_next_by") {
        // SAFETY: its function is of this type.
        unsafe {
            core::mem::transmute::<*mut c_void, unsafe extern "C" fn(Find)>(function.as_ptr())(next)
        };
    }
}

/// The address that would be found by this name without this library, or null.
unsafe extern "C" fn next(name: *const c_char) -> *mut c_void {
    // SAFETY: it passes a string.
    let found = loaded::find_next(unsafe { CStr::from_ptr(name) });
    found.map_or(ptr::null_mut(), |found| found.as_ptr())
}
