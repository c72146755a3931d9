//! Lines on stderr.

use std::io::{self, Write};

/// Prints a message to stderr in one write. It takes the arguments of `eprintln!`, which writes in pieces that may mix
/// with those of other processes.
macro_rules! eprint_line {
    ($($words:tt)*) => { $crate::host::process::write_line(&format!($($words)*)) };
}
pub(in crate::host) use eprint_line;

/// Writes a message to stderr in one call, after `cartograph: `; errors are ignored.
pub(in crate::host) fn write_line(words: &str) {
    let _ = io::stderr().write_all(format!("cartograph: {words}\n").as_bytes());
}
