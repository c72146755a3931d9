//! Lines on stderr.

use std::io::{self, Write};

/// Prints a message to stderr in one write. Arguments as for `eprintln!`, which writes in pieces, with those of other
/// processes between.
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(&format!($($words)*)) };
}
pub(crate) use say;

/// Writes a message to stderr in one call, after `cartograph: `; a failure is ignored.
pub(crate) fn line(words: &str) {
    let _ = io::stderr().write_all(format!("cartograph: {words}\n").as_bytes());
}
