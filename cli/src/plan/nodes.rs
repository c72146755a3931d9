//! The nodes on which a problem is placed, from the command line.

use std::collections::HashSet;
use std::fs;

use cartograph_core::machine::address::{ReportedAddress, host_number};
use cartograph_core::machine::network::{NetworkMap, NetworkMapFile};
use cartograph_core::machine::{Machine, names_a_file, node_of_path, parse_sizes, places};
use cartograph_jobs::traffic;

use super::arguments::Arguments;
use super::problem::{MOST_RANKS, Problem};
use crate::hosts::{Hosts, check_name};
use crate::output::{self, Failure, Result};

/// The nodes, for at least as many processes as the problem needs, with their names if known.
pub(super) fn machine_of(
    arguments: &Arguments,
    problem: &Problem,
) -> Result<(Machine, Option<Vec<String>>)> {
    if let Some(map) = map(arguments)? {
        return addressed(&map, arguments, problem);
    }
    if arguments.ppn.is_some() && arguments.nodes.is_none() {
        return Err(Failure::usage("--ppn needs --nodes"));
    }
    let others =
        [("--nodes", arguments.nodes.is_some()), ("--node-sizes", arguments.node_sizes.is_some())];
    if let (Some(_), Some((other, _))) = (&arguments.layout, others.iter().find(|(_, is)| *is)) {
        return Err(Failure::usage(format!(
            "--layout cannot be used with {other}, unless it names Slurm's topology.conf or topology.yaml"
        )));
    }
    match sizes(arguments, arguments.nodes, problem)? {
        Some(sizes) => Ok((Machine::blocks(&sizes), None)),
        None => named_machine(arguments.layout.as_deref(), problem),
    }
}

/// The nodes of `--layout` or, without it, of the recording.
fn named_machine(text: Option<&str>, problem: &Problem) -> Result<(Machine, Option<Vec<String>>)> {
    let Some(text) = text else {
        let Problem::Traffic(recorded) = problem else {
            return Err(Failure::usage(
                "specify the machine: --nodes and --ppn, --node-sizes or --layout",
            ));
        };
        let (machine, names) = traffic::machine_of(&recorded.recording).ok_or_else(|| {
            Failure::new(
                "parts of the recording are missing, so the nodes of some ranks are unknown; specify them with --nodes \
                 and --ppn, --node-sizes or --layout",
            )
        })?;
        return Ok((machine, Some(names)));
    };
    let mut names: Option<Vec<String>> = None;
    let read = |file: &str| {
        let text = fs::read_to_string(file)?;
        let mut seen = HashSet::new();
        let words = text.split_whitespace().map(node_of_path).filter(|word| seen.insert(*word));
        names = Some(words.map(str::to_owned).collect());
        Ok(text)
    };
    let machine = Machine::written(text, problem.vertices(), read)
        .map_err(|error| Failure::usage(format!("--layout: {error}")))?;
    for name in names.iter().flatten() {
        check_name(name).map_err(|what| Failure::usage(format!("--layout {text}: {what}")))?;
    }
    Ok((machine, names))
}

/// The number of processes of each node, if given as numbers. If only the processes per node are given, there are
/// `known` nodes.
fn sizes(
    arguments: &Arguments,
    known: Option<usize>,
    problem: &Problem,
) -> Result<Option<Vec<usize>>> {
    match (&arguments.node_sizes, arguments.nodes.or(known), arguments.ppn) {
        (Some(text), _, _) => {
            let malformed = || {
                let how = "expected sizes such as 40*48,10*30,12*15";
                Failure::usage(format!("--node-sizes {text}: {how}"))
            };
            // Checked before memory is allocated.
            enough(places(text).ok_or_else(malformed)?, problem)?;
            parse_sizes(text, MOST_RANKS).ok_or_else(malformed).map(Some)
        }
        (None, Some(nodes), Some(ppn)) if nodes > 0 && ppn > 0 => {
            enough(nodes.saturating_mul(ppn), problem)?;
            Ok(Some(vec![ppn; nodes]))
        }
        (None, Some(_), Some(_)) => Err(Failure::usage("--nodes and --ppn must be at least 1")),
        (None, _, _) => Ok(None),
    }
}

/// Checks that there are enough processes.
fn enough(ranks: usize, problem: &Problem) -> Result<()> {
    let vertices = problem.vertices();
    if ranks > MOST_RANKS {
        return Err(Failure::usage(format!("the nodes have more than {MOST_RANKS} processes")));
    }
    if ranks < vertices {
        return Err(Failure::usage(format!(
            "{problem} needs {vertices} processes, but the nodes have {ranks}; add nodes or shrink it"
        )));
    }
    Ok(())
}

/// Reads a file of the network, if `--layout` names one.
fn network(arguments: &Arguments) -> Option<Result<NetworkMapFile>> {
    let file = arguments.layout.as_deref().filter(|text| names_a_file(text))?;
    // A read error is reported when the file is read as a list of nodes.
    let read = NetworkMapFile::read(&std::fs::read_to_string(file).ok()?)?;
    Some(read.map_err(|fault| wrong(file, &fault)))
}

/// True if `--layout` names a file of network addresses.
pub(super) fn are_addressed(arguments: &Arguments) -> bool {
    network(arguments).is_some()
}

/// Uses the consistent parts of the file; faults are reported on stderr.
fn map(arguments: &Arguments) -> Result<Option<NetworkMap>> {
    let Some(read) = network(arguments) else { return Ok(None) };
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
fn addressed(
    map: &NetworkMap,
    arguments: &Arguments,
    problem: &Problem,
) -> Result<(Machine, Option<Vec<String>>)> {
    let file = arguments.layout.as_deref().unwrap_or_default();
    let (machine, names) = nodes(arguments, problem)?;
    let name = |node: &u32| &names[*node as usize];
    let at = |node: &u32| map.at(host_number(name(node)));
    let missing = |node: &&u32| at(node) == ReportedAddress::Nothing;
    if let Some(node) = machine.nodes().iter().find(missing).filter(|_| !map.is_empty()) {
        return Err(wrong(file, &format!("the host {} is not in it", name(node))));
    }
    let known = machine.addressed(machine.nodes().iter().map(at));
    let machine = known.map_err(|why| wrong(file, &format!("the node's address {why}")))?;
    Ok((machine.without_idle_levels(), Some(names)))
}

/// The nodes, and their names.
fn nodes(arguments: &Arguments, problem: &Problem) -> Result<(Machine, Vec<String>)> {
    let hosts = arguments.hosts.as_deref().map(Hosts::read).transpose()?;
    let given = sizes(arguments, hosts.as_ref().map(|hosts| hosts.names.len()), problem)?;
    match (given, hosts, problem) {
        (Some(sizes), Some(hosts), _) => {
            hosts.number(sizes.len(), arguments.hosts.as_deref().unwrap_or_default())?;
            Ok((Machine::blocks(&sizes), hosts.names))
        }
        (None, Some(Hosts { names, sizes: Some(sizes) }), _) => {
            enough(sizes.iter().fold(0, |all, size| all.saturating_add(*size)), problem)?;
            Ok((Machine::blocks(&sizes), names))
        }
        (None, None, Problem::Traffic(recorded)) => {
            let (machine, names) = traffic::machine_of(&recorded.recording).ok_or_else(|| {
                Failure::new(
                    "parts of the recording are missing, so the nodes of some ranks are unknown",
                )
            })?;
            Ok((machine, names))
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
