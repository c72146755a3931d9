//! Lines on stderr.

#[doc(hidden)]
pub use alloc::format;

/// Prints a message to stderr in one write. It takes the arguments of `eprintln!`, which writes in pieces that may mix
/// with those of other processes.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(&$crate::say::format!($($words)*)) };
}

/// Writes a message to stderr in one call, after `cartograph: `; errors are ignored.
pub fn line(words: &str) {
    let line = format!("cartograph: {words}\n");
    let mut rest = line.as_bytes();
    while !rest.is_empty() {
        // SAFETY: as many bytes as are there.
        match unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) } {
            written @ 1.. => rest = &rest[written as usize..],
            _ => return,
        }
    }
}
