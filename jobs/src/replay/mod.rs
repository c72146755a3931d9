//! Predicts the effect of a placement on the time of a program, by replaying its recorded calls on a model of the
//! machine.
//!
//! The model is small: a node has one link in each direction, which pairs of ranks share equally; a message takes
//! the latency of the highest level that it crosses; inside nodes it is copied; messages leave at once, and a large
//! send completes when the message has left. Collectives are the messages of the MPI's algorithms. Work between calls
//! takes its recorded time. Messages are matched as in MPI: those between two processes in order, and a receive with
//! wildcards takes the first to arrive (MPI 4.1, 3.5).

mod algorithms;
mod collective;
mod links;
mod lists;
mod matching;
mod messages;
mod network;
mod pairs;
mod program;
mod run;
mod siblings;
#[cfg(test)]
mod tests;
mod wait;

pub use network::{Link, Network, RankLocations};
pub use program::{CollectiveKind, Event, Host, Op, Program};
pub use run::{Replay, Replayed, replay};
