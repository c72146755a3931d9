//! Lines on stderr.

use std::io::{self, Write};

/// Says a line, written as for `eprintln!`, which writes it piece by piece: those of other processes come between.
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(&format!($($words)*)) };
}
pub(crate) use say;

/// Writes a line to stderr in one call; a failure is ignored.
pub(crate) fn line(words: &str) {
    let _ = io::stderr().write_all(format!("{words}\n").as_bytes());
}
