//! The process itself: its lines on stderr, the origin of its report, and the program that calls.

pub(super) mod backtrace;
mod eprint;
mod origin;

pub(super) use eprint::{eprint_line, write_line};
pub(super) use origin::origin;
