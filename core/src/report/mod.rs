//! Reports on topologies and the effect of reordering: text for people, JSON for programs. Pure: no MPI, no I/O, no
//! unsafe.
//!
//! Constructors [add](Report::add) a [`Record`] for each topology, and write [the new ones](Report::news) as text, or
//! the [JSON](Report::json), to the requested place.

pub mod collect;
pub mod effect;
pub mod json;
pub mod origin;
pub mod places;
pub mod record;
mod text;
mod warning;

pub use crate::engine::Reason;
pub use cartograph_shim::switch;
pub use collect::Report;
pub use effect::{Effect, LevelEffect, NodeSizes, WeightedEffect};
pub use json::{Document, Job};
pub use origin::Origin;
pub use places::VertexPlacement;
pub use record::{Record, ReorderOrigin};
pub use text::{AtLeast, Change};
pub use warning::{foreign_launcher, launched, short_periodic_sides};
