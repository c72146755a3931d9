//! The traffic of a recorded run: reads it, shows it, and turns it into a graph to map.

mod dims;
mod json;
mod show;

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use cartograph_core::learn::Devices;
use cartograph_core::machine::Machine;
use cartograph_core::machine::address::ReportedAddress;
use cartograph_core::mapping::Csr;
use cartograph_traffic::{Address, Edge, NodeIdentity, OpenError, Recording, Scale};

use crate::output::{self, Failure, Result};

pub(crate) use dims::better_dims;
pub(crate) use json::json;
pub(crate) use show::{amount, show};

/// True if this is a recording, complete or not, rather than a report.
pub(crate) fn is_recording(path: &Path) -> bool {
    let begins_so = || {
        let mut start = Vec::new();
        fs::File::open(path).ok()?.take(64).read_to_end(&mut start).ok()?;
        // The last byte may be inside a character.
        Some(Recording::is_one(&String::from_utf8_lossy(&start)))
    };
    path.is_dir() || (path.is_file() && begins_so() == Some(true))
}

/// Reads a recording: a directory of parts, or a file with one or more; "-" is stdin.
pub(crate) fn read(path: &Path) -> Result<Recording> {
    let found = if path == Path::new("-") {
        Recording::read([&output::read(path)?[..]]).map_err(OpenError::from)
    } else {
        Recording::open(path)
    };
    found.map_err(|error| Failure::new(format!("{} {error}", path.display())))
}

/// The traffic between each pair of processes, and its unit: bytes or, if all messages are empty, messages. Messages of
/// a process to itself are omitted.
pub(crate) fn graph(recording: &Recording) -> (Csr, &'static str) {
    let others = || recording.edges.iter().filter(|edge| edge.from != edge.to);
    let has_bytes = others().any(|edge| edge.count.bytes > 0);
    let amount = |edge: &Edge| if has_bytes { edge.count.bytes } else { edge.count.messages };
    let scale = Scale::of(others().map(amount));
    let edges: Vec<(u32, u32, i64)> =
        others().map(|edge| (edge.from, edge.to, scale.weight(amount(edge)))).collect();
    let unit = if has_bytes { scale.unit() } else { "messages" };
    (Csr::from_edges(recording.size as usize, edges.iter().copied()), unit)
}

/// The number of devices by which ranks choose theirs, as far as this run in the default order tells; 0 if they do not.
pub(crate) fn limit(recording: &Recording) -> u32 {
    let mut devices = Devices::default();
    if recording.missing() == 0 {
        let (node_of, _) = nodes(recording);
        devices.note(recording, &node_of, "");
    }
    devices.limit()
}

/// The node of each process that wrote a part, numbered in the order of their first ranks, and the names of the nodes.
fn nodes(recording: &Recording) -> (Vec<u32>, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    let mut known = HashMap::new();
    let node_of = |host: &NodeIdentity| {
        *known.entry(host.name.clone()).or_insert_with(|| {
            names.push(host.name.clone());
            names.len() as u32 - 1
        })
    };
    (recording.hosts.values().map(node_of).collect(), names)
}

/// The machine on which the processes ran, with the names of the nodes and the switches reported by the launcher;
/// `None` if a part is missing.
pub(crate) fn machine_of(recording: &Recording) -> Option<(Machine, Vec<String>)> {
    if recording.missing() > 0 {
        return None;
    }
    let (node_of, names) = nodes(recording);
    let machine = Machine::from_ids(&node_of.into_iter().map(u64::from).collect::<Vec<_>>());
    let address = |host: &NodeIdentity| match &host.address {
        None => ReportedAddress::Nothing,
        Some(Address { path, pattern }) => ReportedAddress::slurm(Some(path), Some(pattern)),
    };
    let machine = match machine.addressed(recording.hosts.values().map(address), true) {
        Ok(found) => found.without_idle_levels(),
        Err(why) => {
            output::say(&format!("SLURM_TOPOLOGY_ADDR in the recording {why}: switches ignored"));
            machine
        }
    };
    Some((machine, names))
}
