//! The process itself: its messages on stderr, the origin of its report, and the calling program.

pub(super) mod backtrace;
mod eprint;
mod origin;
mod symbols;

pub(super) use eprint::{eprint_line, write_line};
pub(super) use origin::origin;
pub(super) use symbols::program_has;
