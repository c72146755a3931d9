//! Processes that the command starts: in the foreground, as the job itself, or watched, with their output kept.

mod children;
mod ended;
pub mod foreground;
mod input;
pub mod job;
pub mod signals;
mod watched;
mod witness;

pub use ended::Ended;
pub use input::Input;
pub use watched::Run;
