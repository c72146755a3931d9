//! Counts how often the process has unloaded something. The loader counts it too, but takes three times as long to tell
//! as a query takes, under a lock.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::loaded;

static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// The count; `None` while something is being unloaded.
pub(crate) fn count() -> Option<u64> {
    let ended = ENDED.load(Ordering::Acquire);
    (BEGUN.load(Ordering::Acquire) == ended).then_some(ended)
}

/// Gives back a handle, by the loader's own `dlclose`. What others hold stays, so nothing is counted.
///
/// # Safety
///
/// As the loader's.
pub(crate) unsafe fn close(handle: *mut c_void) -> c_int {
    type Function = unsafe extern "C" fn(*mut c_void) -> c_int;
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut next = NEXT.load(Ordering::Relaxed);
    if next.is_null() {
        let Some(found) = loaded::find_next(c"dlclose") else { return -1 };
        next = found.as_ptr();
        NEXT.store(next, Ordering::Relaxed);
    }
    // SAFETY: every `dlclose` is of this type, and the caller keeps its contract.
    unsafe { core::mem::transmute::<*mut c_void, Function>(next)(handle) }
}

/// In place of the loader's, for all others in the process.
///
/// # Safety
///
/// As the loader's.
#[cfg(not(test))]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    BEGUN.fetch_add(1, Ordering::AcqRel);
    // SAFETY: as the caller promises.
    let code = unsafe { close(handle) };
    ENDED.fetch_add(1, Ordering::AcqRel);
    code
}
