//! Data for persistent requests, on hosts whose requests hold no datatypes: Open MPI 5.
//!
//! Nothing there shows that such a request is freed: it holds neither datatypes nor arrays nor its communicator, calls
//! nothing back, and returns to a list from which the next one is taken. But its handle is unique while the request
//! lives. So the data of a request is kept under its handle until a new request has the same handle, or the host ends:
//! the datatypes in it may keep types of the program, whose callbacks are called when they are freed. The memory is
//! bounded by the largest number of simultaneous requests; the host keeps their memory in the same way.

use std::any::Any;
use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use crate::host::attributes::lifetime;
use crate::host::sys::MPI_Request;

/// The data of requests, by handle.
static NEEDED: Mutex<BTreeMap<usize, Arc<dyn Any + Send + Sync>>> = Mutex::new(BTreeMap::new());

/// Keeps the data of a new request for the lifetime of the request.
pub(super) fn keep(request: MPI_Request, needed: Arc<dyn Any + Send + Sync>) {
    // An integer with some hosts, a pointer with others.
    let handle = request.0 as usize;
    let gone = NEEDED.lock().unwrap_or_else(PoisonError::into_inner).insert(handle, needed);
    // Freeing its datatypes calls the host, which is not done under a lock.
    drop(gone);
    lifetime::calls_at_the_end(forget);
}

/// Releases the data, at the start of `MPI_Finalize`.
fn forget() {
    drop(mem::take(&mut *NEEDED.lock().unwrap_or_else(PoisonError::into_inner)));
}
