//! Runs with ranks on other nodes, as `cartograph run` starts them. If there is one node only, relays pretend that there
//! are two.

use std::ffi::OsString;
use std::path::Path;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Csr, Options, Scramble, plan_graph};
use cartograph_jobs::launch::{Launch, Line, Places};
use cartograph_jobs::place::{Arm, Means, Placer, order, relay_options};
use cartograph_jobs::pmi::{Order, Version};

use super::rounds::{Difference, Outcome, TrialRuns};
use crate::output::{self, Failure, Result};

/// The number of orders that are tried.
const ORDERS: u64 = 2;

/// Why nothing is tried on one node.
const ONE_NODE: &str = "all processes are on one node, and only relays can pretend others";

/// A command that starts ranks on certain nodes, with a description.
type Start = (String, Vec<OsString>);

/// Runs the program with ranks on other nodes; returns the fault that occurs then.
pub(super) fn examine(
    runs: &mut TrialRuns,
    launch: &Launch,
    line: Option<&Line>,
) -> Result<Option<String>> {
    let directory = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("cannot make a temporary directory: {error}")))?;
    let starts = match (line, Places::of_launch(launch)) {
        (None, _) => Err("the launcher is unknown".to_owned()),
        (_, None) => Err("the launcher does not start cartograph where".to_owned()),
        (Some(line), Some(places)) => starts(places, launch, line, directory.path())?,
    };
    let (starts, pretends) = match starts {
        Ok(starts) => starts,
        Err(why) => {
            output::print(&format!("ranks on other nodes: not tried: {why}\n"))?;
            return Ok(None);
        }
    };
    for (number, (shown, command)) in starts.into_iter().enumerate() {
        match runs.examine_command(&command, &shown, true)? {
            Outcome::Same(_) | Outcome::Unclear(_) => {}
            // The program, or its MPI, does not work on such nodes.
            _ if pretends && number == 0 => return Ok(None),
            Outcome::Fails(_, why) | Outcome::Differs(_, Difference { why, .. }) => {
                return Ok(Some(why));
            }
        }
    }
    Ok(None)
}

/// The starts, and whether their nodes are pretended, the first with ranks as they are; or why there are none.
fn starts(
    places: Places,
    launch: &Launch,
    line: &Line,
    directory: &Path,
) -> Result<core::result::Result<(Vec<Start>, bool), String>> {
    let Some((machine, names)) = places.machine() else {
        return Ok(Err("the nodes are unknown".to_owned()));
    };
    let means = match Means::of(line, "") {
        Ok(means) => means,
        Err(why) => return Ok(Err(why)),
    };
    let off = ["--reorder".into(), "off".into()];
    if names.len() < 2 {
        let Means::Relays(by) = means else { return Ok(Err(ONE_NODE.to_owned())) };
        let (line, version) = *by;
        // In PMI-2, processes share attributes of their node, which cannot be pretended.
        if version != Version::One {
            return Ok(Err(ONE_NODE.to_owned()));
        }
        let launch = Launch { mpi: launch.mpi.clone(), ..line.as_one().into() };
        let ranks = machine.ranks();
        let machine = Machine::blocks(&[ranks.div_ceil(2), ranks / 2]);
        let orders = (1..=ORDERS).map(|seed| moved(&machine, seed));
        let mut starts = Vec::new();
        for (number, node_of) in [machine.nodes().to_vec()].into_iter().chain(orders).enumerate() {
            let shown = match number {
                0 => "two nodes, pretended".to_owned(),
                _ => format!("ranks on the other of these nodes (order {number})"),
            };
            let Some(order) = order(&machine, &node_of) else { continue };
            let file = directory.join(format!("order-{number}"));
            output::write(&file, &Order { pretends: true, ..order }.text())?;
            let options = [&off[..], &relay_options(version, &file)].concat();
            starts.push((shown, launch.under_exec(None, &options)?));
        }
        return Ok(Ok((starts, true)));
    }
    let placer = Placer::new(means, launch.mpi.clone(), Some(places));
    let mut starts = Vec::new();
    for seed in 1..=ORDERS {
        let order = format!("ranks on other nodes (order {seed})");
        let node_of = moved(&machine, seed);
        let arm = Arm {
            order: order.clone(),
            predicted: None,
            busiest: None,
            node_of,
            slots: Vec::new(),
        };
        match placer.start(&arm, &machine, &names, &directory.join(format!("order-{seed}")))? {
            Ok(start) => starts.push((order, start.words(&off)?)),
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Ok((starts, false)))
}

/// The nodes of ranks after processes have exchanged them at random, except rank 0.
fn moved(machine: &Machine, seed: u64) -> Vec<u32> {
    let graph = Csr::from_edges(machine.ranks(), std::iter::empty());
    let scramble = Scramble { seed, rank_zero: false };
    plan_graph(&graph, machine, &Options::default().with_scramble(Some(scramble))).node_of(machine)
}
