//! The launchers: one table with how each is recognized, its options, and how it places ranks.
//!
//! - [`table`]: the launchers.
//! - [`variables`]: the environment variables that they set.
//! - [`options`]: the options, including those for placement.
//! - [`mod@format`]: the files by which ranks are placed.
//! - [`mod@line`]: parses a launcher's command line.
//! - [`placement`]: builds one that places ranks.

pub mod format;
#[cfg(feature = "cli")]
pub mod line;
pub mod options;
#[cfg(feature = "cli")]
pub mod placement;
pub mod table;
#[cfg(all(test, feature = "cli"))]
mod tests;

pub use cartograph_shim::variables::{self, Variables};
pub use format::Format;
#[cfg(feature = "cli")]
pub use line::Line;
pub use options::{Options, Role, Values};
#[cfg(feature = "cli")]
pub use placement::Placement;
pub use table::{Launcher, LauncherKind, named};
