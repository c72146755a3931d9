//! The command that starts a job, and the places of the processes that it starts.
//!
//! - `line`: parses a launcher's command line.
//! - `placement`: builds one that places ranks.
//! - `command`: the program in any command, whose launcher may be unknown.
//! - `programs`: several programs in one job.
//! - `places`: where the launcher starts processes.
//! - [`binding`]: the CPUs that they may use.

pub mod binding;
mod command;
mod line;
mod placement;
mod places;
mod programs;
#[cfg(test)]
mod tests;

pub(crate) use command::program_word;
pub use command::{Launch, printed};
pub use line::{Given, Line, Programs, Unreadable};
pub use placement::{Obstacle, Passing, Placement};
pub use places::{Places, own_place};
