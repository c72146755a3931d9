//! Counts how often the process has unloaded a library. The loader counts it too, but returning its count takes three
//! times as long as a query, under a lock.

#[cfg(not(test))]
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

#[cfg(not(test))]
use crate::loaded;

static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// The count; `None` while something is being unloaded.
pub(crate) fn count() -> Option<u64> {
    let ended = ENDED.load(Ordering::Acquire);
    (BEGUN.load(Ordering::Acquire) == ended).then_some(ended)
}

/// Replaces the loader's function, for all others in the process.
///
/// # Safety
///
/// As for the loader's function.
#[cfg(not(test))]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    BEGUN.fetch_add(1, Ordering::AcqRel);
    // SAFETY: as the caller promises.
    let code = unsafe { loaded::close(handle) };
    ENDED.fetch_add(1, Ordering::AcqRel);
    code
}
