//! Messages on stderr, in one write, and whether a report is requested.

use alloc::ffi::CString;
use alloc::format;
use core::fmt::Arguments;

use cartograph_shim::{environment::variable, switch, variables};

/// Writes a line.
pub(crate) fn say(text: Arguments) {
    let line = format!("cartograph: {text}\n");
    // SAFETY: the bytes of the line. Write errors are ignored.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Ends the process as the loader does if a function is missing.
pub(crate) fn end(text: Arguments) -> ! {
    say(text);
    // SAFETY: ends the process.
    unsafe { libc::_exit(127) }
}

/// Writes a line that matters only to users who asked for this library: with a report or a recording, or with
/// `cartograph exec`, which sets `CARTOGRAPH_MPI`.
pub(crate) fn report(text: Arguments) {
    let asked = [c"CARTOGRAPH_RECORD", c"CARTOGRAPH_MPI"];
    if reports() || is_first() && asked.iter().any(|name| variable(name).is_some()) {
        say(text);
    }
}

/// True if a report is requested and this process prints messages for the job.
pub(crate) fn reports() -> bool {
    is_first()
        && variable(c"CARTOGRAPH_REPORT").is_some_and(|value| !switch::is_off(value.to_bytes()))
}

/// True if this is the first process of the job, as far as launchers set ranks.
fn is_first() -> bool {
    let rank = variables::rank(|name| variable(&CString::new(name).ok()?));
    rank.is_none_or(|rank| rank == c"0")
}
