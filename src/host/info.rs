//! Values of info objects.

use std::ffi::{CStr, c_char};

use super::sys::{self, MPI_Info};

/// The value under a key of an info object.
pub(super) fn of_info(info: MPI_Info, key: &CStr) -> Option<String> {
    let mut value = [0 as c_char; sys::CG_INFO_ROOM as usize];
    // SAFETY: an info object of the program, and room for a value.
    if unsafe { sys::cg_info_get(info, key.as_ptr(), value.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: the host has written a string into what was zero before.
    Some(unsafe { CStr::from_ptr(value.as_ptr()) }.to_string_lossy().trim().to_ascii_lowercase())
}
