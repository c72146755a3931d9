//! The messages and the nodes of a recording: as a graph to map, and as a machine.

use std::collections::HashMap;

use cartograph_core::machine::Machine;
use cartograph_core::machine::address::ReportedAddress;
use cartograph_core::mapping::Csr;
use cartograph_traffic::{Address, Edge, NodeIdentity, Recording, Scale};

use crate::error::warn;
use crate::learn::Devices;

/// The traffic between each pair of processes, and its unit: bytes or, if all messages are empty, messages. Messages of
/// a process to itself are omitted.
pub fn graph(recording: &Recording) -> (Csr, &'static str) {
    let others = || recording.edges.iter().filter(|edge| edge.from != edge.to);
    let has_bytes = others().any(|edge| edge.count.bytes > 0);
    let amount = |edge: &Edge| if has_bytes { edge.count.bytes } else { edge.count.messages };
    let scale = Scale::of(others().map(amount));
    let edges: Vec<(u32, u32, i64)> =
        others().map(|edge| (edge.from, edge.to, scale.weight(amount(edge)))).collect();
    let unit = if has_bytes { scale.unit() } else { "messages" };
    (Csr::from_edges(recording.size as usize, edges.iter().copied()), unit)
}

/// The number of devices, if this run in the default order shows that ranks choose devices by their numbers; otherwise
/// 0.
pub fn limit(recording: &Recording) -> u32 {
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
pub fn machine_of(recording: &Recording) -> Option<(Machine, Vec<String>)> {
    if recording.missing() > 0 {
        return None;
    }
    let (node_of, names) = nodes(recording);
    let machine = Machine::from_ids(&node_of.into_iter().map(u64::from).collect::<Vec<_>>());
    let address = |host: &NodeIdentity| match &host.address {
        None => ReportedAddress::Nothing,
        Some(Address { path, pattern }) => ReportedAddress::slurm(Some(path), Some(pattern)),
    };
    let machine = match machine.addressed(recording.hosts.values().map(address)) {
        Ok(found) => found.without_idle_levels(),
        Err(why) => {
            warn(&format!("SLURM_TOPOLOGY_ADDR in the recording {why}: switches ignored"));
            machine
        }
    };
    Some((machine, names))
}
