//! Topologies are attached to their communicators by the host's own attributes.
//!
//! The value of the attribute is a boxed [`TopologyAttribute`]. The copy callback makes another one for a duplicate,
//! which shares the topology; the delete callback drops it. Results are kept in the [`cache`], which the delete
//! callback keeps valid.
//!
//! Only constructors set attributes. A program may query topologies in its callbacks, while the host iterates over the
//! communicator's attributes; an attribute that is set meanwhile is never deleted, or others are lost.

mod cache;
mod find;
mod group;
pub(super) mod key;
pub(super) mod lifetime;
pub(super) mod private;
mod topology_attribute;
mod watch;

pub(crate) use find::{ByKind, ByTopology, attached};
pub(crate) use topology_attribute::TopologyAttribute;
pub(super) use topology_attribute::{makes_late, prepare, put};
