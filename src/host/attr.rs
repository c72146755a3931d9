//! Topologies are cached on their communicators, by the host's own attributes.
//!
//! The value of the attribute is an `Arc<Topology>` turned into a pointer: the copy callback counts
//! one more, so duplicates share it; the delete callback counts one less.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use super::sys::{self, MPI_Comm};
use super::{HostComm, Result, errors::check};
use crate::topology::Topology;

/// The key of our attribute, made with the first topology of the process.
static KEYVAL: AtomicI32 = AtomicI32::new(sys::CG_KEYVAL_INVALID);

/// The topology of a communicator, or `None` if it has none of ours.
///
/// # Safety
///
/// The communicator is not freed by another thread while the reference lives. MPI forbids
/// programs to free what they still use, so this holds for the time of one MPI call on it.
#[inline]
pub(crate) unsafe fn get<'a>(comm: MPI_Comm) -> Result<Option<&'a Topology>> {
    let keyval = KEYVAL.load(Ordering::Acquire);
    if keyval == sys::CG_KEYVAL_INVALID {
        return Ok(None);
    }
    let mut value: *const Topology = ptr::null();
    let mut found = 0;
    // SAFETY: the host writes a pointer, which is what the attribute's values are, and a flag.
    let code = unsafe {
        sys::PMPI_Comm_get_attr(comm, keyval, (&raw mut value).cast::<c_void>(), &raw mut found)
    };
    check(code)?;
    // SAFETY: a value of our key comes from `put` or `copy`, and the count that the attribute holds
    // keeps it alive while the communicator is.
    Ok((found != 0).then(|| unsafe { &*value }))
}

/// Gives a new communicator its topology. On failure the topology is dropped.
pub(crate) fn put(comm: &HostComm, topology: Topology) -> Result {
    let keyval = keyval()?;
    let value = Arc::into_raw(Arc::new(topology));
    // SAFETY: the attribute now owns the count; `delete` gives it back.
    let set = check(unsafe { sys::PMPI_Comm_set_attr(comm.0, keyval, value.cast_mut().cast()) });
    if set.is_err() {
        // SAFETY: the host refused the value, so the count is still ours.
        drop(unsafe { Arc::from_raw(value) });
    }
    set
}

/// The key, made if there is none. Two threads may both make one; the second gives its own back.
fn keyval() -> Result<c_int> {
    const INVALID: i32 = sys::CG_KEYVAL_INVALID;
    let known = KEYVAL.load(Ordering::Acquire);
    if known != INVALID {
        return Ok(known);
    }
    let mut made = INVALID;
    // SAFETY: the callbacks have the standard's signatures and live as long as the process: the
    // library is linked with -z nodelete.
    check(unsafe {
        sys::PMPI_Comm_create_keyval(Some(copy), Some(delete), &raw mut made, ptr::null_mut())
    })?;
    match KEYVAL.compare_exchange(INVALID, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(made),
        Err(other) => {
            // SAFETY: `made` is a key of ours that nothing uses.
            check(unsafe { sys::PMPI_Comm_free_keyval(&raw mut made) })?;
            Ok(other)
        }
    }
}

/// The host calls this when a communicator is duplicated.
unsafe extern "C" fn copy(
    _comm: MPI_Comm,
    _keyval: c_int,
    _extra_state: *mut c_void,
    value: *mut c_void,
    copied: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: `value` comes from `put` or from here, and its attribute holds a count. The standard
    // has `copied` point to a pointer, and `flag` to an int.
    unsafe {
        Arc::increment_strong_count(value.cast::<Topology>());
        copied.cast::<*mut c_void>().write(value);
        flag.write(1);
    }
    sys::CG_SUCCESS
}

/// The host calls this when a communicator is freed.
unsafe extern "C" fn delete(
    _comm: MPI_Comm,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: `value` comes from `put` or `copy`, and this is the count that its attribute held.
    drop(unsafe { Arc::from_raw(value.cast::<Topology>()) });
    sys::CG_SUCCESS
}
