//! The process itself: its messages on stderr, the origin of its report, the symbols of its program, and what it is linked with.

mod eprint;
pub(super) mod linked;
mod origin;
mod symbols;

pub(super) use eprint::{eprint_line, write_line};
pub(super) use origin::origin;
pub(super) use symbols::program_has;
