//! The disposition of SIGCHLD, which a process may have inherited as ignored: then its children cannot be waited for.
#![allow(unsafe_code, reason = "signal() and pre_exec()")]

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{SigHandler, Signal, signal};

/// Makes this process wait for its children. Returns true if they did not.
pub(super) fn keep() -> bool {
    // SAFETY: no handler is set.
    let before = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
    matches!(before, Ok(SigHandler::SigIgn))
}

/// Lets a command ignore its children, as this process did before [`keep`].
pub(super) fn ignored_by(command: &mut Command) {
    let ignore = || {
        // SAFETY: no handler is set.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigIgn) }?;
        Ok(())
    };
    // SAFETY: the closure makes one call, which may be made after fork.
    unsafe { command.pre_exec(ignore) };
}
