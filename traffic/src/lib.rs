//! What a job sent: the files that the recorder writes, one a process, and what they say together.
//!
//! A part is a text of JSON lines, of which the first is [`Line::Process`]; `docs/traffic-format.md`
//! describes it. Several parts one after the other are as good as several files.
#![forbid(unsafe_code)]

mod files;
mod join;
mod line;
mod recording;
mod weights;

pub use files::OpenError;
pub use line::{Count, Grid, Line, Process, SCHEMA};
pub use recording::{Edge, ReadError, Recording, Topology};
