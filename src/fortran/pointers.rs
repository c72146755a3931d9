//! Converts between Fortran's arguments and those of the bodies.

use std::ffi::{c_int, c_void};

use crate::host::Result;
use crate::host::constants;
use crate::host::sys::{self, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use crate::topology::Error;

/// Fortran's INTEGER, also as a handle.
pub(crate) type Fint = c_int;
/// Fortran's LOGICAL.
pub(crate) type Logical = c_int;

/// The communicator of a handle.
///
/// # Safety
///
/// `handle` can be read.
#[inline(always)]
pub(super) unsafe fn comm_from(handle: *const Fint) -> MPI_Comm {
    // SAFETY: as the caller promises.
    let handle = unsafe { *handle };
    if sys::CG_COMM_IS_FORTRAN != 0 {
        // If the number is the same, no call is needed.
        return MPI_Comm(handle as _);
    }
    // SAFETY: the host checks the number itself.
    unsafe { sys::cg_comm_from_fortran(handle) }
}

/// The info object of a handle.
///
/// # Safety
///
/// `handle` can be read.
pub(super) unsafe fn info_from(handle: *const Fint) -> MPI_Info {
    // SAFETY: as the caller promises; the host checks the number itself.
    unsafe { sys::cg_info_from_fortran(*handle) }
}

/// The datatype of a handle.
///
/// # Safety
///
/// `handle` can be read.
pub(super) unsafe fn type_from(handle: *const Fint) -> MPI_Datatype {
    // SAFETY: as the caller promises; the host checks the number itself.
    unsafe { sys::cg_type_from_fortran(*handle) }
}

/// The datatypes of an array of handles.
///
/// # Safety
///
/// `handles` is null or has `length` entries.
pub(super) unsafe fn types_from(
    argument: &'static str,
    handles: *const Fint,
    length: usize,
) -> Result<Vec<MPI_Datatype>> {
    if handles.is_null() && length > 0 {
        return Err(Error::NullPointer { argument }.into());
    }
    // SAFETY: as the caller promises.
    Ok((0..length).map(|i| unsafe { type_from(handles.add(i)) }).collect())
}

/// A buffer with Fortran's sentinels replaced by C's.
pub(super) fn buffer_from(buffer: *const c_void) -> *const c_void {
    // SAFETY: compares addresses and reads constants of the host.
    unsafe {
        if sys::cg_is_fortran_in_place(buffer) != 0 {
            sys::cg_in_place()
        } else if sys::cg_is_fortran_bottom(buffer) != 0 {
            sys::cg_bottom()
        } else {
            buffer
        }
    }
}

/// Starts a request and returns its handle to Fortran.
///
/// # Safety
///
/// `place` can be written, or is null.
pub(super) unsafe fn new_request(
    place: *mut Fint,
    start: impl FnOnce(*mut MPI_Request) -> Result,
) -> Result {
    let mut made = constants::request_null();
    start(if place.is_null() { std::ptr::null_mut() } else { &raw mut made })?;
    // SAFETY: not null, or the start would have failed.
    unsafe { place.write(sys::cg_request_to_fortran(made)) };
    Ok(())
}

/// Calls a constructor and returns its communicator's handle to Fortran, if the constructor created one or has set the
/// handle to `MPI_COMM_NULL`.
///
/// # Safety
///
/// `place` can be written, or is null.
pub(super) unsafe fn new_comm(
    place: *mut Fint,
    construct: impl FnOnce(*mut MPI_Comm) -> Result,
) -> Result {
    // A value that no constructor writes, to see whether one has written.
    let untouched = constants::comm_self();
    let mut made = untouched;
    // The body gets the null pointer, and returns an error for it on which all ranks agree.
    let result = construct(if place.is_null() { std::ptr::null_mut() } else { &raw mut made });
    if made != untouched {
        // SAFETY: not null, or the constructor could not have written.
        unsafe { place.write(sys::cg_comm_to_fortran(made)) };
    }
    result
}

/// Weights with Fortran's sentinels replaced by C's, which the bodies know.
///
/// # Safety
///
/// Nothing is read; this only asks the host for addresses.
pub(super) unsafe fn weights_from(weights: *const Fint) -> *const Fint {
    // SAFETY: compares addresses and reads constants of the host.
    unsafe { sys::cg_weights_from_fortran(weights) }
}

/// Converts C's truth values, just written by a body, into Fortran's.
///
/// # Safety
///
/// `values` has `count` entries that can be written.
#[inline(always)]
pub(super) unsafe fn to_logicals(values: *mut Logical, count: usize) {
    if sys::CG_FORTRAN_TRUE_IS_1 != 0 {
        return;
    }
    // SAFETY: asks the host for a number.
    let fortran_true = unsafe { sys::cg_fortran_true() };
    if fortran_true == 1 {
        return;
    }
    for i in 0..count {
        // SAFETY: as the caller promises.
        unsafe {
            if *values.add(i) != 0 {
                *values.add(i) = fortran_true;
            }
        }
    }
}
