//! Simulated histories of jobs, to measure the gains and losses of the policy: each job's kind of work is guessed, its
//! placement chosen, and its time learned, as `cartograph run` does.

mod histories;
mod jobs;
mod program;
mod summary;
#[cfg(test)]
mod tuned;

pub use histories::{KINDS, Kind, Measured};
pub use jobs::History;
pub use program::{Chance, Digests, Other, Program, Shape, Turns};
pub use summary::{Summary, summary};
