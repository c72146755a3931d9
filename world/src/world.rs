//! Replaces MPI_COMM_WORLD's handle, once it is decided by which communicator.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::handle::{self, true_world};
use crate::sys::{CW_SUCCESS, MPI_Comm};
use crate::{agree, host};

/// The stage of this library's wrapper of `MPI_Init`.
static STAGE: AtomicU8 = AtomicU8::new(BEFORE);
const BEFORE: u8 = 0;
const IN_INIT: u8 = 1;
const SETTLING: u8 = 2;

/// The communicator for a handle that a caller passes: W for MPI_COMM_WORLD.
#[inline(always)]
pub(crate) fn seen(comm: MPI_Comm) -> MPI_Comm {
    if comm != true_world() { comm } else { handle::settled().unwrap_or_else(unsettled) }
}

/// W or the true world, before that is decided.
///
/// A tool behind this library may ask for ranks in its own wrapper of `MPI_Init`, as the recorder does, when the host
/// has started and our wrapper has not returned: W is then created there.
#[cold]
#[inline(never)]
fn unsettled() -> MPI_Comm {
    if STAGE.load(Ordering::Acquire) == IN_INIT && is_started() {
        settle();
    }
    handle::settled().unwrap_or(true_world())
}

fn is_started() -> bool {
    let mut flag = 0;
    // SAFETY: a place for the result; allowed at any time.
    unsafe { host::PMPI_Initialized(&raw mut flag) };
    flag != 0
}

/// Calls the next `MPI_Init` or `MPI_Init_thread`, and decides which communicator the world is.
pub(crate) fn start(init: impl FnOnce() -> c_int) -> c_int {
    // Once: code behind this library may call it again by the other name.
    let first = STAGE.compare_exchange(BEFORE, IN_INIT, Ordering::AcqRel, Ordering::Acquire);
    let code = init();
    if first.is_ok() && code == CW_SUCCESS as c_int {
        settle();
    }
    code
}

fn settle() {
    if STAGE.compare_exchange(IN_INIT, SETTLING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        handle::settle(agree::make().unwrap_or(true_world()));
    }
}
