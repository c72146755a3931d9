//! The nodes on which a problem is placed, from the command line.

use std::collections::HashSet;
use std::fs;

use cartograph_core::machine::{Machine, node_of_path};

use super::arguments::Arguments;
use super::network;
use super::problem::{Problem, enough, sizes};
use crate::hosts::check_name;
use crate::output::{Failure, Result};
use crate::traffic;

/// The nodes, for at least as many processes as the problem needs, with their names if known.
pub(super) fn layout(
    arguments: &Arguments,
    problem: &Problem,
) -> Result<(Machine, Option<Vec<String>>)> {
    if let Some(map) = network::map(arguments)? {
        return network::layout(&map, arguments, problem);
    }
    if arguments.ppn.is_some() && arguments.nodes.is_none() {
        return Err(Failure::usage("--ppn needs --nodes"));
    }
    let others =
        [("--nodes", arguments.nodes.is_some()), ("--node-sizes", arguments.node_sizes.is_some())];
    if let (Some(_), Some((other, _))) = (&arguments.layout, others.iter().find(|(_, is)| *is)) {
        return Err(Failure::usage(format!(
            "--layout cannot be used with {other}, unless it names a file of the network, such as Slurm's topology.conf"
        )));
    }
    if let Some(text) = &arguments.levels {
        return levels(text, problem);
    }
    match sizes(arguments, arguments.nodes, problem)? {
        Some(sizes) => Ok((Machine::blocks(&sizes), None)),
        None => named_layout(arguments.layout.as_deref(), problem),
    }
}

/// The layout given by `--levels`.
fn levels(text: &str, problem: &Problem) -> Result<(Machine, Option<Vec<String>>)> {
    let numbers: Option<Vec<usize>> =
        text.split([':', 'x']).map(|word| word.parse().ok().filter(|n| *n > 0)).collect();
    let numbers = numbers.filter(|numbers| numbers.len() > 1).ok_or_else(|| {
        Failure::usage(format!(
            "--levels {text}: expected the number of switches, nodes per switch and processes per node, such as 4:8:32"
        ))
    })?;
    let ranks = numbers.iter().fold(1usize, |all, number| all.saturating_mul(*number));
    enough(ranks, problem)?;
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let layout = Machine::parse(&words.join("x"), ranks)
        .map_err(|error| Failure::usage(format!("--levels: {error}")))?;
    Ok((layout, None))
}

/// The nodes of `--layout` or, without it, of the recording.
fn named_layout(text: Option<&str>, problem: &Problem) -> Result<(Machine, Option<Vec<String>>)> {
    let Some(text) = text else {
        let Problem::Traffic(recorded) = problem else {
            return Err(Failure::usage(
                "specify the machine: --nodes and --ppn, --node-sizes, --levels or --layout",
            ));
        };
        let (layout, names) = traffic::layout(&recorded.recording).ok_or_else(|| {
            Failure::new(
                "parts of the recording are missing, so the nodes of some ranks are unknown; specify them with --nodes \
                 and --ppn, --node-sizes or --layout",
            )
        })?;
        return Ok((layout, Some(names)));
    };
    let mut names: Option<Vec<String>> = None;
    let read = |file: &str| {
        let text = fs::read_to_string(file)?;
        let mut seen = HashSet::new();
        let words = text.split_whitespace().map(node_of_path).filter(|word| seen.insert(*word));
        names = Some(words.map(str::to_owned).collect());
        Ok(text)
    };
    let layout = Machine::written(text, problem.vertices(), read)
        .map_err(|error| Failure::usage(format!("--layout: {error}")))?;
    for name in names.iter().flatten() {
        check_name(name).map_err(|what| Failure::usage(format!("--layout {text}: {what}")))?;
    }
    Ok((layout, names))
}
