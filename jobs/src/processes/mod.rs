//! Processes that the command starts: in the foreground, as the job itself, or watched, with their output kept.

mod children;
mod ended;
pub mod foreground;
mod input;
pub mod job;
mod question;
pub mod signals;
mod watched;
mod witness;

pub use ended::Ended;
pub use input::Input;
pub use question::Question;
pub use watched::Run;
