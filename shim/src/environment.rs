//! The environment, which a program with more rights than its user does not trust.

use core::ffi::CStr;

/// True if the process runs with more rights than its user.
pub fn is_privileged() -> bool {
    // SAFETY: reads a number that the kernel has given to the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The value of a variable that is set and not empty; `None` if the process [is privileged](is_privileged). The
/// environment must not change while the value is used.
pub fn variable(name: &CStr) -> Option<&'static CStr> {
    if is_privileged() {
        return None;
    }
    // SAFETY: a string, and the caller promises not to change the environment.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: null, or a string.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }).filter(|value| !value.is_empty())
}
