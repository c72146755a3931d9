//! Arguments that live as long as a request.
//!
//! The standard lets a host read the arrays of a nonblocking collective until it is complete, and the host does not
//! signal that. All tested hosts copy everything except the array of datatypes. Open MPI reads that again when the
//! request is complete, or freed if it is persistent, to release the types that are not predefined: in the order of the
//! array, those of the receives last. So the arrays are attached to the last of these datatypes, a copy that only the
//! request holds: its end is the end of the arrays.
//!
//! Open MPI then also reads the length of the arrays from the communicator, without having held it. So a communicator
//! that the program frees before is held, until the arrays are freed, by a request on it.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::host::attributes::{key::Retirement, lifetime};
use crate::host::constants;
use crate::host::sys::{self, MPI_Comm, MPI_Datatype, MPI_Request};
use crate::host::{Result, errors::check};

/// The arguments of one request.
pub(super) struct ArgumentGuard {
    needed: Box<GuardedArguments>,
    /// The datatype to which they are attached, and the key; `None` on a host without attributes of datatypes.
    guard: Option<(MPI_Datatype, c_int)>,
}

struct GuardedArguments {
    /// The datatypes of the sends and of the receives, to which the host writes.
    datatypes: [Vec<MPI_Datatype>; 2],
    /// All other arrays.
    _others: Arc<dyn Any>,
    _comm: CommGuard,
}

/// Keeps a communicator in the host's memory: a persistent receive that is never started.
struct CommGuard(MPI_Request);

impl CommGuard {
    /// Holds a communicator; local.
    fn new(comm: MPI_Comm) -> Result<Self> {
        let mut request = constants::request_null();
        // SAFETY: a place for the handle.
        let code = unsafe { sys::cg_hold(comm, &raw mut request) };
        if code != sys::CG_ABSENT {
            check(code)?;
        }
        Ok(Self(request))
    }
}

impl Drop for CommGuard {
    fn drop(&mut self) {
        // SAFETY: a request of our own, or the null request.
        unsafe { sys::cg_release(&raw mut self.0) };
    }
}

impl ArgumentGuard {
    /// Prepares arguments with derived datatypes for one call on `comm`: the datatypes of the sends and of the
    /// receives, of which number `last` is the last that the host certainly reads, and all other data that is needed as
    /// long.
    pub(super) fn new(
        comm: MPI_Comm,
        mut datatypes: [Vec<MPI_Datatype>; 2],
        last: usize,
        others: Arc<dyn Any>,
    ) -> Result<Self> {
        let comm = CommGuard::new(comm)?;
        let guard = match (keyval()?, datatypes[1].get_mut(last)) {
            (Some(keyval), Some(last)) => {
                // SAFETY: a datatype of the program, or one made for this call.
                check(unsafe { sys::cg_type_copy(last) })?;
                Some((*last, keyval))
            }
            _ => None,
        };
        let needed = GuardedArguments { datatypes, _others: others, _comm: comm };
        Ok(Self { needed: Box::new(needed), guard })
    }

    /// The datatypes of the sends and of the receives, which do not move.
    pub(super) fn datatypes(&self) -> [&[MPI_Datatype]; 2] {
        [&self.needed.datatypes[0], &self.needed.datatypes[1]]
    }

    /// After the call: transfers ownership to the request.
    pub(super) fn release(self) {
        let Some((mut datatype, keyval)) = self.guard else { return };
        // SAFETY: a datatype of our own; the attribute now owns the box, and `deleted` drops it. If the host rejects
        // it, everything leaks, which is better than being freed too early.
        unsafe {
            sys::cg_type_set_attr(datatype, keyval, Box::into_raw(self.needed).cast());
            sys::cg_type_free(&raw mut datatype);
        }
    }
}

const INVALID: c_int = sys::CG_KEYVAL_INVALID;

/// The key for such values, if it was created already.
static KEYVAL: AtomicI32 = AtomicI32::new(INVALID);

/// Releases the key; the next function that needs one creates another.
fn retire(way: Retirement) {
    let mut keyval = KEYVAL.swap(INVALID, Ordering::AcqRel);
    if keyval != INVALID && way == Retirement::Freed {
        // SAFETY: a key of ours. The host keeps it until the last callback has run.
        unsafe { sys::cg_type_free_keyval(&raw mut keyval) };
    }
}

/// The key for such values, created on first use; `None` on a host without attributes of datatypes.
fn keyval() -> Result<Option<c_int>> {
    let known = KEYVAL.load(Ordering::Acquire);
    if known != INVALID {
        return Ok(Some(known));
    }
    let mut made = INVALID;
    // SAFETY: the callback has the standard's signature and lives as long as the process.
    let code = unsafe { sys::cg_type_create_keyval(Some(deleted), &raw mut made) };
    if code == sys::CG_ABSENT {
        return Ok(None);
    }
    check(code)?;
    lifetime::retires_with_the_last(retire);
    match KEYVAL.compare_exchange(INVALID, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(Some(made)),
        Err(other) => {
            // SAFETY: a key that is redundant, since another thread has created one.
            unsafe { sys::cg_type_free_keyval(&raw mut made) };
            Ok(Some(other))
        }
    }
}

thread_local! {
    /// The arrays that the host last released on this thread.
    static PARKED: Cell<Option<[Vec<MPI_Datatype>; 2]>> = const { Cell::new(None) };
}

/// The host calls this when the datatype is freed.
unsafe extern "C" fn deleted(
    _datatype: MPI_Datatype,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: `value` comes from `release`.
    let needed = unsafe { Box::from_raw(value.cast::<GuardedArguments>()) };
    // Open MPI still writes to the entry of this datatype after this callback, so these arrays are freed when the next
    // ones arrive, or when the thread ends.
    let _ = PARKED.try_with(|parked| parked.set(Some(needed.datatypes)));
    // It no longer uses the rest.
    sys::CG_SUCCESS
}
