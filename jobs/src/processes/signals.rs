//! Signals that ask the command to end.

use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls a function, in a thread, with the number of each signal that asks this process to end.
pub fn on_end(then: impl FnMut(i32) + Send + 'static) {
    // Without a handler, they end the process.
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    thread::spawn(move || signals.forever().for_each(then));
}
