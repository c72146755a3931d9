//! Files that tell where nodes are in the network, and not where ranks run: Slurm's topology.conf, by the names
//! of hosts, and MPICH's coordinates, by ranks.

use std::collections::HashMap;

use super::address::{Address, ReportedAddress};
use super::{LayoutError, coordinates, slurm};

/// The addresses of nodes in the network, as a file gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkMap {
    /// By the [numbers](super::address::host_number) of their hosts' names.
    Hosts(HashMap<u64, Address>),
    /// By the rank of a process in `MPI_COMM_WORLD`.
    Ranks(HashMap<usize, Address>),
}

/// The usable part of a [`NetworkMap`]'s file, and what is wrong with the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkMapFile {
    /// The usable part.
    pub network_map: NetworkMap,
    /// Lines that were left out, with its line and the reason.
    pub faults: Vec<LayoutError>,
}

/// No more faults are told.
pub(super) const MOST_FAULTS: usize = 8;

impl NetworkMapFile {
    /// Reads a file's text; `None` if it is not such a file but has a word for each rank.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Line`] if nothing of it can be used.
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

impl NetworkMap {
    /// The address of a process' node, by the number of its host (`host_number`) or its rank in
    /// `MPI_COMM_WORLD`.
    pub fn at(&self, host: u64, rank_in_world: Option<usize>) -> ReportedAddress {
        let address = match self {
            Self::Hosts(hosts) => hosts.get(&host),
            Self::Ranks(ranks) => rank_in_world.and_then(|rank| ranks.get(&rank)),
        };
        address.map_or(ReportedAddress::Nothing, |address| ReportedAddress::At(*address))
    }

    /// Returns whether each node has an address of its own.
    pub fn is_distinct(&self) -> bool {
        matches!(self, Self::Hosts(_))
    }

    /// Returns whether it has no address of any node.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Hosts(hosts) => hosts.is_empty(),
            Self::Ranks(ranks) => ranks.is_empty(),
        }
    }
}

/// A fault of a line.
pub(super) fn wrong(line: usize, what: impl Into<String>) -> LayoutError {
    LayoutError::Line { line, what: what.into() }
}
