//! Values of info objects and of the hints of communicators.

use std::ffi::{CStr, c_char, c_int};

use super::HostComm;
use super::sys::{self, MPI_Info};

/// The value under a key of an info object.
pub(super) fn of_info(info: MPI_Info, key: &CStr) -> Option<String> {
    // SAFETY: an info object of the program.
    value(|key, room| unsafe { sys::cg_info_get(info, key, room) }, key)
}

/// The value under a key of a communicator's hints, if the host keeps it.
pub(super) fn of_comm(comm: &HostComm, key: &CStr) -> Option<String> {
    // SAFETY: a communicator of the program, which is the caller's for the time of the call.
    value(|key, room| unsafe { sys::cg_comm_info_get(comm.0, key, room) }, key)
}

/// The value under a key; `read` writes it and returns whether there is one.
fn value(read: impl FnOnce(*const c_char, *mut c_char) -> c_int, key: &CStr) -> Option<String> {
    let mut value = [0 as c_char; sys::CG_INFO_ROOM as usize];
    if read(key.as_ptr(), value.as_mut_ptr()) == 0 {
        return None;
    }
    // SAFETY: the host has written a string into what was zero before.
    Some(unsafe { CStr::from_ptr(value.as_ptr()) }.to_string_lossy().trim().to_ascii_lowercase())
}
