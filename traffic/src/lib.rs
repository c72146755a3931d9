//! The traffic of a job: the recorder's files, one per node, and the joined recording.
//!
//! A file has parts, each of one process: lines of JSON, the first of which is [`Line::Process`];
//! `docs/design/traffic-format.md` describes them. Parts may be in one file or several.
#![forbid(unsafe_code)]

mod files;
mod join;
mod limits;
mod line;
mod pattern;
mod recording;
mod text;
mod weights;
mod window;

pub use files::{OpenError, open_regular};
pub use limits::Limits;
pub use line::{Address, Count, Device, Grid, Line, MOST_GRIDS, Process, SCHEMA, Work};
pub use pattern::{WEIGHTS, partner_weight};
pub use recording::{Edge, NodeIdentity, ReadError, Recording, Topology};
pub use text::{host_name, is_host_name, printable};
pub use weights::Scale;
pub use window::{Call, Collective, MOST_EVENTS, Step, Window};
