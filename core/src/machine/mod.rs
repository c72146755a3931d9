//! The machine, level by level: switches and other groups of nodes, the nodes, and the packages, NUMA domains and
//! caches in them.

pub mod address;
pub mod cpus;
mod error;
mod level;
pub mod network;
mod network_map;
mod notation;
mod paths;
mod runs;
mod slurm;
pub mod torus;
mod tree;
mod written;

pub use self::error::LayoutError;
pub use self::level::{Level, LevelKind, MOST_LEVELS};
pub use self::notation::{names_a_file, parse_sizes, places};
pub use self::paths::node_of_path;
pub use self::runs::Runs;
pub use self::tree::Machine;

/// The names in a list in Slurm's notation: "tux[0-3,12],dev7".
///
/// # Errors
///
/// Describes the fault in the text.
pub fn host_names(list: &str) -> Result<Vec<String>, String> {
    slurm::hostlist::names(list, slurm::hostlist::MOST_NAMES)
}
