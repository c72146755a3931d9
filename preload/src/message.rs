//! What is said on stderr, in one write, and whether a report is asked for.

use alloc::format;
use core::ffi::CStr;
use core::fmt::Arguments;

/// Writes a line.
pub(crate) fn say(text: Arguments) {
    let line = format!("cartograph: {text}\n");
    // SAFETY: the bytes of the line. What cannot be written is not said.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Ends the process as the loader does where a function is missing.
pub(crate) fn end(text: Arguments) -> ! {
    say(text);
    // SAFETY: ends the process.
    unsafe { libc::_exit(127) }
}

/// Writes a line if a report is asked for.
pub(crate) fn report(text: Arguments) {
    if reports() {
        say(text);
    }
}

/// Whether a report is asked for and this is the process of the job that tells it, as far as launchers tell ranks.
pub(crate) fn reports() -> bool {
    let off = [None, Some(&b""[..]), Some(b"0")];
    let ranks = [c"PMI_RANK", c"PMIX_RANK", c"OMPI_COMM_WORLD_RANK", c"SLURM_PROCID"];
    let first = ranks.iter().find_map(|name| variable(name)).is_none_or(|rank| rank == b"0");
    first && !off.contains(&variable(c"CARTOGRAPH_REPORT"))
}

/// The value of an environment variable.
fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: a string; nothing here changes the environment.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: what getenv answers is null or a string.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_bytes())
}
