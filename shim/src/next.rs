//! The functions below this library: the next function of the same name, a tool's or the host's.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::say;

/// The function with which the library to preload, if that has loaded this one, finds the next function; null if it has
/// not.
static FINDER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The function that finds the next function of a name.
pub type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// Sets how functions below are found, once, before any is called.
pub fn find_by(find: Find) {
    FINDER.store(find as *mut c_void, Ordering::Release);
}

/// Exports [`find_by`] from the library that uses this, for the library to preload.
#[macro_export]
macro_rules! finds_next {
    () => {
        #[unsafe(no_mangle)]
        extern "C" fn cartograph_finds_next_by(find: $crate::next::Find) {
            $crate::next::find_by(find);
        }
    };
}

/// The next function of this name, or null. For the shim, too.
///
/// # Safety
///
/// A string.
pub unsafe extern "C" fn find_next(name: *const c_char) -> *mut c_void {
    let finder = FINDER.load(Ordering::Acquire);
    // SAFETY: null, or a function of this type that was stored.
    match unsafe { core::mem::transmute::<*mut c_void, Option<Find>>(finder) } {
        // SAFETY: as the caller promises.
        Some(find) => unsafe { find(name) },
        // SAFETY: a string, as the caller promises; searches the libraries that follow this one in symbol order.
        None => unsafe { libc::dlsym(libc::RTLD_NEXT, name) },
    }
}

/// A function of the host, looked up on first call.
pub struct Next {
    name: &'static str,
    found: AtomicPtr<c_void>,
}

impl Next {
    /// `name` ends with a zero.
    pub const fn new(name: &'static str) -> Self {
        Self { name, found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address.
    #[inline]
    pub fn get(&self) -> *mut c_void {
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
            // SAFETY: ends the process.
            unsafe { libc::abort() }
        }
        self.found.store(found, Ordering::Relaxed);
        found
    }
}
