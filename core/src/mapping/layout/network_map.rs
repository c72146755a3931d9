//! Files that tell where nodes are in the network, and not where ranks run: Slurm's topology.conf and
//! topology.yaml, by the names of hosts, and MPICH's coordinates, by ranks.

mod conf;
mod coordinates;
mod network;
mod yaml;

use std::collections::HashMap;

use super::LayoutError;
use super::address::{Address, ReportedAddress};

/// Where nodes are in the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkMap {
    /// By the [numbers](super::address::host_number) of their hosts' names.
    Hosts(HashMap<u64, Address>),
    /// By the rank of a process in `MPI_COMM_WORLD`.
    Ranks(HashMap<usize, Address>),
}

/// What of a [`NetworkMap`]'s file is right, and what is wrong with the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkMapFile {
    /// What holds.
    pub network_map: NetworkMap,
    /// What does not, and was left out: lines and sentences.
    pub faults: Vec<LayoutError>,
}

/// No more faults are told.
const MOST_FAULTS: usize = 8;

impl NetworkMapFile {
    /// Reads a file's text; `None` if it is none of these files but a place for each rank.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Line`] if nothing of it can be used.
    pub fn read(text: &str) -> Option<Result<Self, LayoutError>> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.clone().find(|line| !line.starts_with('#'))?;
        let second = lines.nth(1).unwrap_or_default();
        let networked = if conf::begins(first) {
            conf::read(text)
        } else if yaml::begins(first) {
            yaml::read(text)
        } else if coordinates::begins(second) {
            return Some(coordinates::read(text));
        } else {
            return None;
        };
        Some(networked.and_then(network::Network::map))
    }
}

impl NetworkMap {
    /// Where the node of a process is.
    pub fn at(&self, host: u64, rank_in_world: Option<usize>) -> ReportedAddress {
        let address = match self {
            Self::Hosts(hosts) => hosts.get(&host),
            Self::Ranks(ranks) => rank_in_world.and_then(|rank| ranks.get(&rank)),
        };
        address.map_or(ReportedAddress::Nothing, |address| ReportedAddress::At(*address))
    }

    /// Whether each node has an address of its own.
    pub fn is_distinct(&self) -> bool {
        matches!(self, Self::Hosts(_))
    }

    /// Whether it tells of no node at all.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Hosts(hosts) => hosts.is_empty(),
            Self::Ranks(ranks) => ranks.is_empty(),
        }
    }
}

/// A fault of a line.
fn wrong(line: usize, what: impl Into<String>) -> LayoutError {
    LayoutError::Line { line, what: what.into() }
}
