//! The functions underneath: the next function of the same name, a tool's or the host's.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::say::say;

/// The function by which the library to preload, if that has loaded this one, finds what comes next.
static FINDER: OnceLock<Find> = OnceLock::new();

type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;

#[unsafe(no_mangle)]
extern "C" fn cartograph_finds_next_by(find: Find) {
    let _ = FINDER.set(find);
}

/// The next function of this name, or null. For the shim too.
///
/// # Safety
///
/// A string.
pub(crate) unsafe extern "C" fn find_next(name: *const c_char) -> *mut c_void {
    match FINDER.get() {
        // SAFETY: as the caller promises.
        Some(find) => unsafe { find(name) },
        // SAFETY: as above; what follows this library in the order of symbols is looked through.
        None => unsafe { libc::dlsym(libc::RTLD_NEXT, name) },
    }
}

/// A function of the host, found when it is first called.
pub(crate) struct Next {
    name: &'static str,
    found: AtomicPtr<c_void>,
}

impl Next {
    /// `name` ends in a zero.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address.
    #[inline]
    pub(crate) fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let name = CStr::from_bytes_with_nul(self.name.as_bytes()).expect("a zero at the end");
        // SAFETY: a string.
        let found = unsafe { find_next(name.as_ptr()) };
        if found.is_null() {
            say!("the program calls {}, which its MPI does not provide", name.to_string_lossy());
            std::process::abort();
        }
        self.found.store(found, Ordering::Relaxed);
        found
    }
}
