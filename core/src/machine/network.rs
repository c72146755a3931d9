//! Reads Slurm's topology.conf or topology.yaml: where hosts are in the network, without ranks.

pub use super::network_map::{NetworkMap, NetworkMapFile};
use super::{LayoutError, slurm};

impl NetworkMapFile {
    /// Reads a file's text; `None` if it is not such a file but has a word for each rank.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Line`] if no part of it can be used.
    pub fn read(text: &str) -> Option<Result<Self, LayoutError>> {
        if slurm::yaml::begins(text) {
            return Some(slurm::yaml::read(text).and_then(slurm::Network::map));
        }
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.find(|line| !line.starts_with('#'))?;
        slurm::begins(first).then(|| slurm::read(text).and_then(slurm::Network::map))
    }
}
