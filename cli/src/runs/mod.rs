//! Runs of programs: how a command line starts them, their output and files, and their time.

pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod files;
pub(crate) mod input;
pub(crate) mod job;
