//! The placements of a program's ranks in which `run` and `tune` start jobs.

mod arm;
mod placer;
mod world;

pub(crate) use arm::{Arm, Way, faster, grid};
pub(crate) use placer::{Job, Placer, Start};
