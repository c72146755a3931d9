//! Signals that ask the command to end.

use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls a function, in a thread, with the number of each signal that asks this process to end.
pub(crate) fn on_end(then: impl FnMut(i32) + Send + 'static) {
    // Without a handler, they end the process.
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    thread::spawn(move || signals.forever().for_each(then));
}

/// The exit code of shells for a command that a signal has ended.
pub(crate) fn code(signal: i32) -> u8 {
    128u8.saturating_add(signal.clamp(0, 127) as u8)
}
