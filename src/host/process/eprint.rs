//! Lines on stderr.

use std::io::{self, Write};

/// Prints a line to stderr in one write. Arguments as for `eprintln!`, which writes it piece by piece: those of other processes come between.
macro_rules! eprint_line {
    ($($words:tt)*) => { $crate::host::process::write_line(&format!($($words)*)) };
}
pub(in crate::host) use eprint_line;

/// Writes a line to stderr in one call; a failure is ignored.
pub(in crate::host) fn write_line(words: &str) {
    let _ = io::stderr().write_all(format!("{words}\n").as_bytes());
}
