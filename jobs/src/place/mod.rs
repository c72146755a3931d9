//! The placements that are worth a job, and how jobs start in them.

mod arms;
mod choose;
mod forecasts;

pub use arms::{Arm, Means, Placer, RankFile, Start, faster, order, relay_options};
#[cfg(test)]
pub(crate) use arms::{by_launcher, by_relays};
pub(crate) use choose::{traffic, worth_trying};
