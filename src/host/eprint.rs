//! Lines on stderr.

use std::io::{self, Write};

/// Prints a line to stderr in one write. Arguments as for `eprintln!`, which writes it piece by piece: those of other processes come between.
macro_rules! eprint_line {
    ($($words:tt)*) => { $crate::host::eprint::write_line(&format!($($words)*)) };
}
pub(super) use eprint_line;

/// Writes a line to stderr in one call; a failure is ignored.
pub(super) fn write_line(words: &str) {
    let _ = io::stderr().write_all(format!("{words}\n").as_bytes());
}
