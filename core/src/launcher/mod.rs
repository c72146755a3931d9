//! The launchers: one table with how each is recognized, its options, and how it places ranks.
//!
//! - [`table`]: the launchers.
//! - [`variables`]: the environment variables that they set.
//! - [`options`]: the options, including those for placement.
//! - [`mod@format`]: the files by which ranks are placed.

pub mod format;
pub mod options;
pub mod table;

pub use cartograph_shim::variables::{self, Variables};
pub use format::Format;
pub use options::{Options, Role, Values};
pub use table::{Launcher, LauncherKind, named};
