//! Arguments that live as long as a request.
//!
//! The standard lets a host look at the arrays of a nonblocking collective until it is complete, and
//! nobody tells us when that is. What is seen of hosts is that they copy everything but the array of
//! datatypes, in which Open MPI looks again when the request is complete, or freed if it is
//! persistent, to release those that are not predefined, in the order of the array and those of the
//! receives last. So the arrays hang on the last of these datatypes, a duplicate that only the
//! request holds: its end is the end of the arrays.
//!
//! Open MPI also asks the communicator then how long the arrays are, without having held it. So a
//! communicator that the program frees before is held, until the arrays go, by a request on it.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::host::sys::{self, MPI_Comm, MPI_Datatype, MPI_Request};
use crate::host::{Result, errors::check};

/// The arguments of a collective, and the datatype that they hang on.
pub(super) struct Kept<T: 'static> {
    arguments: Box<T>,
    /// None where no datatype is derived: hosts have no reason then to look at the arrays again.
    guard: Option<Guard>,
}

struct Guard {
    datatype: MPI_Datatype,
    keyval: c_int,
    hold: Hold,
}

/// Keeps a communicator in the host's memory: a persistent receive that is never started.
struct Hold(#[allow(dead_code, reason = "it is freed when dropped")] MPI_Request);

impl Hold {
    /// Holds a communicator; local.
    fn new(comm: MPI_Comm) -> Result<Self> {
        // SAFETY: a constant of the host.
        let mut request = unsafe { sys::cg_request_null };
        // SAFETY: a place for the handle.
        let code = unsafe { sys::cg_hold(comm, &raw mut request) };
        if code != sys::CG_ABSENT {
            check(code)?;
        }
        Ok(Self(request))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // SAFETY: a request of our own, or the null request.
        unsafe { sys::cg_release(&raw mut self.0) };
    }
}

impl<T: 'static> Kept<T> {
    /// Gets arguments ready for a call on `comm`. `datatypes` gives those of the sends and of the
    /// receives.
    pub(super) fn new(
        comm: MPI_Comm,
        arguments: T,
        datatypes: fn(&mut T) -> [&mut [MPI_Datatype]; 2],
    ) -> Result<Self> {
        let mut arguments = Box::new(arguments);
        let [sends, receives] = datatypes(&mut arguments);
        // SAFETY: asks the host about the program's datatypes.
        let is_derived =
            |datatype: &MPI_Datatype| unsafe { sys::cg_type_is_derived(*datatype) } != 0;
        let any_derived = sends.iter().chain(receives.iter()).any(is_derived);
        let keyval = if any_derived { keyval()? } else { None };
        let last = if receives.is_empty() { sends.last_mut() } else { receives.last_mut() };
        let guard = match (keyval, last) {
            (Some(keyval), Some(last)) => {
                let hold = Hold::new(comm)?;
                // SAFETY: a datatype of the program, or one made for this call.
                check(unsafe { sys::cg_type_dup(last) })?;
                Some(Guard { datatype: *last, keyval, hold })
            }
            _ => None,
        };
        Ok(Self { arguments, guard })
    }

    /// The arguments, which stay where they are.
    pub(super) fn arguments(&self) -> &T {
        &self.arguments
    }

    /// After the call: leaves the arguments to the request.
    pub(super) fn release(self) {
        let Some(Guard { mut datatype, keyval, hold }) = self.guard else { return };
        let left = Box::new(Left { arguments: self.arguments, hold });
        // SAFETY: a datatype of our own; the attribute now owns the box, and `deleted` drops it. If
        // the host refuses it, all stays for ever, which is better than gone too early.
        unsafe {
            sys::cg_type_set_attr(datatype, keyval, Box::into_raw(left).cast());
            sys::cg_type_free(&raw mut datatype);
        }
    }
}

/// What is left to a request.
struct Left {
    arguments: Box<dyn Any>,
    hold: Hold,
}

/// The key for such values, made on first use; `None` from a host without attributes on datatypes.
fn keyval() -> Result<Option<c_int>> {
    const INVALID: c_int = sys::CG_KEYVAL_INVALID;
    static KEYVAL: AtomicI32 = AtomicI32::new(INVALID);
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
    // Of two threads here at once both keys are good; one is known to later calls.
    let _ = KEYVAL.compare_exchange(INVALID, made, Ordering::AcqRel, Ordering::Acquire);
    Ok(Some(made))
}

thread_local! {
    /// The arguments whose end the host told this thread last.
    static PARKED: Cell<Option<Box<dyn Any>>> = const { Cell::new(None) };
}

/// The host calls this when the datatype is gone.
unsafe extern "C" fn deleted(
    _datatype: MPI_Datatype,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: `value` comes from `release`.
    let left = unsafe { Box::from_raw(value.cast::<Left>()) };
    let Left { arguments, hold } = *left;
    // Open MPI still writes to the entry of this very datatype when it comes back from here, so
    // these arguments go when the next ones come, or with the thread.
    let _ = PARKED.try_with(|parked| parked.set(Some(arguments)));
    // It is done with the communicator.
    drop(hold);
    sys::CG_SUCCESS
}
