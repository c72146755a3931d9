//! The placements that are worth a job, and how jobs start in them.

mod arms;
mod choose;
mod domains;
mod forecasts;
#[cfg(test)]
mod tests;

pub use arms::{Arm, Means, Placer, RankFile, Start, faster, order, relay_options};
pub(crate) use choose::{traffic, worth_trying};
pub(crate) use domains::base;
