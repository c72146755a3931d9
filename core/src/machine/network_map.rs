//! The addresses of nodes in the network, by the names of hosts.

use std::collections::HashMap;

use super::LayoutError;
use super::address::{Address, ReportedAddress};

/// The addresses of nodes in the network, as given by a file: by the [numbers](super::address::host_number) of their hosts'
/// names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkMap(pub(super) HashMap<u64, Address>);

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
    /// The address of a process's node, by the number of its host (`host_number`).
    pub fn at(&self, host: u64) -> ReportedAddress {
        self.0.get(&host).map_or(ReportedAddress::Nothing, |address| ReportedAddress::At(*address))
    }

    /// True if the map has no address.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A fault in a line.
pub(super) fn wrong(line: usize, what: impl Into<String>) -> LayoutError {
    LayoutError::Line { line, what: what.into() }
}
