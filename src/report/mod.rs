//! What was done and what it brought: text for people, JSON for programs, pictures. Pure: no MPI, no
//! I/O, no unsafe.
//!
//! Whoever creates topologies [adds](Report::add) a [`Record`] for each and writes [what is new](Report::news)
//! as text, or the [JSON](Report::json), wherever it was asked for.
#![forbid(unsafe_code)]

mod check;
pub mod collect;
pub mod json;
#[cfg(feature = "cli")]
pub mod picture;
pub mod record;
mod text;
mod warning;

pub use collect::{Job, Report};
pub use json::Document;
pub use record::{
    Drawn, Effect, LevelEffect, NodeSizes, Places, Reason, Record, Reorder, Shape, Traffic,
    WeightedEffect,
};
pub use warning::{foreign_launcher, short_periodic_sides};
