//! Reads files with the location of nodes in the network, but without ranks: Slurm's topology.conf, by host names, and
//! MPICH's coordinates, by ranks.

pub use super::network_map::{NetworkMap, NetworkMapFile};
use super::{LayoutError, coordinates, slurm};

impl NetworkMapFile {
    /// Reads a file's text; `None` if it is not such a file but has a word for each rank.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Line`] if no part of it can be used.
    pub fn read(text: &str) -> Option<Result<Self, LayoutError>> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.clone().find(|line| !line.starts_with('#'))?;
        let second = lines.nth(1).unwrap_or_default();
        let networked = if slurm::begins(first) {
            slurm::read(text)
        } else if coordinates::begins(second) {
            return Some(coordinates::read(text));
        } else {
            return None;
        };
        Some(networked.and_then(slurm::Network::map))
    }
}
