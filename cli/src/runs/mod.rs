//! Runs of programs: how a command line starts one, what it prints and leaves, and how long it takes.

pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod files;
pub(crate) mod input;
pub(crate) mod job;
