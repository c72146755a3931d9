//! `--layout` with a file of network addresses. Other arguments give the nodes and the number of processes on each.

use cartograph_core::machine::Machine;
use cartograph_core::machine::address::{ReportedAddress, host_number};
use cartograph_core::machine::names_a_file;
use cartograph_core::machine::network::{NetworkMap, NetworkMapFile};

use super::arguments::Arguments;
use super::problem::{Problem, enough, sizes};
use crate::hosts::Hosts;
use crate::output::{self, Failure, Result};
use crate::traffic;

/// Reads a file of the network, if `--layout` names one.
fn read(arguments: &Arguments) -> Option<Result<NetworkMapFile>> {
    let file = arguments.layout.as_deref().filter(|text| names_a_file(text))?;
    // A read error is reported when the file is read as a list of nodes.
    let read = NetworkMapFile::read(&std::fs::read_to_string(file).ok()?)?;
    Some(read.map_err(|fault| wrong(file, &fault)))
}

/// True if `--layout` names a file of network addresses.
pub(super) fn is_named(arguments: &Arguments) -> bool {
    read(arguments).is_some()
}

/// Uses the consistent parts of the file; faults are reported on stderr.
pub(super) fn map(arguments: &Arguments) -> Result<Option<NetworkMap>> {
    let Some(read) = read(arguments) else { return Ok(None) };
    let NetworkMapFile { network_map, faults } = read?;
    for fault in faults {
        output::say(&format!("--layout: {fault}"));
    }
    Ok(Some(network_map))
}

fn wrong(file: &str, what: &impl std::fmt::Display) -> Failure {
    Failure::usage(format!("--layout {file}: {what}"))
}

/// The nodes given by other arguments, with their addresses from the file.
pub(super) fn layout(
    map: &NetworkMap,
    arguments: &Arguments,
    problem: &Problem,
) -> Result<(Machine, Option<Vec<String>>)> {
    let file = arguments.layout.as_deref().unwrap_or_default();
    let (layout, names) = nodes(map, arguments, problem)?;
    let name = |node: u32| names.as_ref().map(|names| names[node as usize].as_str());
    let address =
        |(rank, node): (usize, &u32)| map.at(name(*node).map_or(0, host_number), Some(rank));
    let addresses = layout.nodes().iter().enumerate().map(address);
    let missing = addresses.clone().position(|address| address == ReportedAddress::Nothing);
    if let Some(rank) = missing.filter(|_| !map.is_empty()) {
        return Err(wrong(
            file,
            &match name(layout.nodes()[rank]) {
                Some(name) if map.is_distinct() => format!("the host {name} is not in it"),
                _ => format!("rank {rank} is not in it"),
            },
        ));
    }
    let known = layout.addressed(addresses, map.is_distinct());
    let layout = known.map_err(|why| wrong(file, &format!("the node's address {why}")))?;
    Ok((layout.without_idle_levels(), names))
}

/// The nodes, and their names if known.
fn nodes(
    map: &NetworkMap,
    arguments: &Arguments,
    problem: &Problem,
) -> Result<(Machine, Option<Vec<String>>)> {
    let hosts = arguments.hosts.as_deref().map(Hosts::read).transpose()?;
    let given = sizes(arguments, hosts.as_ref().map(|hosts| hosts.names.len()), problem)?;
    match (given, hosts, problem) {
        (Some(sizes), Some(hosts), _) => {
            hosts.number(sizes.len(), arguments.hosts.as_deref().unwrap_or_default())?;
            Ok((Machine::blocks(&sizes), Some(hosts.names)))
        }
        (Some(sizes), None, _) if matches!(map, NetworkMap::Ranks(_)) => {
            Ok((Machine::blocks(&sizes), None))
        }
        (None, Some(Hosts { names, sizes: Some(sizes) }), _) => {
            enough(sizes.iter().fold(0, |all, size| all.saturating_add(*size)), problem)?;
            Ok((Machine::blocks(&sizes), Some(names)))
        }
        (None, None, Problem::Traffic(recorded)) => {
            let (layout, names) = traffic::layout(&recorded.recording).ok_or_else(|| {
                Failure::new(
                    "parts of the recording are missing, so the nodes of some ranks are unknown",
                )
            })?;
            Ok((layout, Some(names)))
        }
        (sizes, ..) => Err(Failure::usage(format!(
            "--layout {} describes the network; also pass {}",
            arguments.layout.as_deref().unwrap_or_default(),
            match sizes {
                Some(_) => "--hosts with the job's nodes, as n[0-3] or in a file",
                None =>
                    "--hosts with the job's nodes, and their processes by --ppn, --node-sizes or n0:48",
            }
        ))),
    }
}
