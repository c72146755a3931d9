//! A job that learns: the decision how it starts, and the lesson after it. Whatever goes wrong here, the job runs as it
//! would without Cartograph.

mod candidates;
mod choice;
mod decision;
mod inputs;
mod kept;
mod learned;
mod nodes;
mod relays;
mod surroundings;
mod with_relays;

pub use decision::{Job, Request};
pub use inputs::Inputs;
pub use learned::{note, now};
pub use relays::nodes_of_ranks;
pub use surroundings::Surroundings;
