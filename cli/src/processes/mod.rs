//! Processes that this command starts: in the foreground, as the job itself, or watched, with their output kept.

mod ended;
pub(crate) mod foreground;
pub(crate) mod signals;
pub(crate) mod watched;
mod witness;

pub(crate) use ended::Ended;
