//! The addresses of nodes in the network, by the names of hosts or by ranks.

use std::collections::HashMap;

use super::LayoutError;
use super::address::{Address, ReportedAddress};

/// The addresses of nodes in the network, as given by a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkMap {
    /// By the [numbers](super::address::host_number) of their hosts' names.
    Hosts(HashMap<u64, Address>),
    /// By the rank of a process in `MPI_COMM_WORLD`.
    Ranks(HashMap<usize, Address>),
}

/// The usable part of a [`NetworkMap`]'s file, and the faults in the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkMapFile {
    /// The usable part.
    pub network_map: NetworkMap,
    /// The omitted lines, with the reason for each.
    pub faults: Vec<LayoutError>,
}

/// The most faults that are reported.
pub(super) const MOST_FAULTS: usize = 8;

impl NetworkMap {
    /// The address of a process's node, by the number of its host (`host_number`) or its rank in `MPI_COMM_WORLD`.
    pub fn at(&self, host: u64, rank_in_world: Option<usize>) -> ReportedAddress {
        let address = match self {
            Self::Hosts(hosts) => hosts.get(&host),
            Self::Ranks(ranks) => rank_in_world.and_then(|rank| ranks.get(&rank)),
        };
        address.map_or(ReportedAddress::Nothing, |address| ReportedAddress::At(*address))
    }

    /// True if each node has a different address.
    pub fn is_distinct(&self) -> bool {
        matches!(self, Self::Hosts(_))
    }

    /// True if the map has no address.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Hosts(hosts) => hosts.is_empty(),
            Self::Ranks(ranks) => ranks.is_empty(),
        }
    }
}

/// A fault in a line.
pub(super) fn wrong(line: usize, what: impl Into<String>) -> LayoutError {
    LayoutError::Line { line, what: what.into() }
}
