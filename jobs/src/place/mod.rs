//! The placements that are worth a job, and how jobs start in them.

mod arms;
mod domains;
mod forecasts;
#[cfg(test)]
mod tests;
mod worth_trying;

pub use arms::{Arm, Means, Placer, RankFile, Start, faster, order, relay_options};
pub(crate) use domains::base;
pub(crate) use worth_trying::{traffic, worth_trying};
