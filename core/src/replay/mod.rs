//! Replays the effect of a placement on the time of a program: its recorded calls are replayed on a model of the
//! machine.
//!
//! The model is small: a node has one link in each direction, on which messages go one after another; a message takes the
//! latency of the highest level that it crosses; inside nodes it is copied; what is sent leaves at once, and a send that
//! is large is over when it has left. Work between calls takes the time that it took. Messages are matched as MPI says:
//! those of one process to another in their order, a receive with wildcards takes what arrives first (MPI 4.1, 3.5).

mod collective;
mod lists;
mod matching;
mod network;
mod pairs;
mod program;
mod run;
#[cfg(test)]
mod tests;

pub use network::{Link, Network, RankLocations};
pub use program::{Event, Meeting, Op, Program};
pub use run::{Replay, Replayed, replay};
