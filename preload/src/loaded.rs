//! Handles of loaded objects, and their symbols.

use alloc::borrow::ToOwned;
use alloc::ffi::CString;
use alloc::string::String;
use core::ffi::{CStr, c_int, c_void};
use core::ops::Range;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// The address of a function or of data.
pub(crate) type Address = NonNull<c_void>;

/// An object that is held by the loader until this is dropped.
pub(crate) struct Handle(NonNull<c_void>);

// SAFETY: any thread may use and release the loader's handles.
unsafe impl Send for Handle {}
// SAFETY: any thread may use and release the loader's handles.
unsafe impl Sync for Handle {}

impl Handle {
    /// An object that is already loaded.
    pub(crate) fn of_loaded(path: &CStr) -> Option<Self> {
        Self::open(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD)
    }

    /// Loads a library whose names are not visible to others.
    pub(crate) fn load(path: &CStr) -> Result<Self, String> {
        Self::open(path, libc::RTLD_NOW | libc::RTLD_LOCAL).ok_or_else(|| {
            // SAFETY: asks for the text of the failure, which is a string of the thread's own or null.
            let text = unsafe { libc::dlerror() };
            match text.is_null() {
                true => "it cannot be loaded".into(),
                // SAFETY: a string of the thread's own, since it is not null.
                false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
            }
        })
    }

    fn open(path: &CStr, how: c_int) -> Option<Self> {
        // SAFETY: a string. The loaded library is an MPI's or ours.
        NonNull::new(unsafe { libc::dlopen(path.as_ptr(), how) }).map(Self)
    }

    /// The address that the object, or one of its dependencies, defines by this name.
    pub(crate) fn find(&self, name: &CStr) -> Option<Address> {
        // SAFETY: a handle and a string.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it is released once.
        unsafe { close(self.0.as_ptr()) };
    }
}

/// Releases a handle with the loader's own `dlclose`. Objects that others hold stay, so nothing is counted.
///
/// # Safety
///
/// As for the loader's function.
pub(crate) unsafe fn close(handle: *mut c_void) -> c_int {
    type Function = unsafe extern "C" fn(*mut c_void) -> c_int;
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut next = NEXT.load(Ordering::Relaxed);
    if next.is_null() {
        let Some(found) = find_next(c"dlclose") else { return -1 };
        next = found.as_ptr();
        NEXT.store(next, Ordering::Relaxed);
    }
    // SAFETY: every `dlclose` is of this type, and the caller keeps its contract.
    unsafe { core::mem::transmute::<*mut c_void, Function>(next)(handle) }
}

/// The address that all code finds by this name.
pub(crate) fn find_globally(name: &CStr) -> Option<Address> {
    // SAFETY: a string.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

/// The address that would be found by this name without this library.
pub(crate) fn find_next(name: &CStr) -> Option<Address> {
    // SAFETY: a string. The loader searches the objects after the library that calls it, which is this one.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    // The loader identifies the caller by the return address, so this must not be a tail call.
    NonNull::new(core::hint::black_box(found))
}

/// The file that contains an address, as named by the loader, and its load address.
pub(crate) fn file_of(address: *const c_void) -> Option<(CString, usize)> {
    // SAFETY: all fields may be zero.
    let mut found: libc::Dl_info = unsafe { core::mem::zeroed() };
    // SAFETY: any address, and a place for the result.
    if unsafe { libc::dladdr(address, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's string.
    Some((unsafe { CStr::from_ptr(found.dli_fname) }.to_owned(), found.dli_fbase as usize))
}

/// The load address of the file that contains an address.
pub(crate) fn base_of(address: *const c_void) -> Option<usize> {
    file_of(address).map(|(_, base)| base)
}

/// True if an address is in this library itself.
pub(crate) fn is_own(address: Address) -> bool {
    base_of(address.as_ptr()) == base_of(is_own as *const c_void)
}

/// True if an address exists and is in the range.
pub(crate) fn lies_in(address: Option<Address>, range: &Range<usize>) -> bool {
    address.is_some_and(|address| range.contains(&(address.as_ptr() as usize)))
}
