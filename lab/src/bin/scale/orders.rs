//! Orders of ranks: the launchers', Cartograph's, and others for comparing objectives.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cartograph_core::machine::Machine as Places;
use cartograph_core::mapping::{Csr, Grid, Objective, Options, plan_graph, plan_grid};
use cartograph_core::topology::Cart;
use cartograph_lab::top;
use serde_json::Value;

use crate::machine::Machine;
use crate::recording;
use crate::trace::Trace;

/// The nodes of ranks, and the prediction of `cartograph plan`: the time in block order, divided by the time in this
/// order.
pub(crate) struct Planned {
    pub(crate) node_of: Vec<u32>,
    pub(crate) gain: f64,
}

/// Nodes are filled one after the other.
pub(crate) fn block(machine: Machine, ranks: u32) -> Vec<u32> {
    let nodes = machine.nodes(ranks);
    (0..ranks).map(|rank| nodes[(rank / machine.processes) as usize]).collect()
}

/// Ranks are distributed round-robin over nodes with free places.
pub(crate) fn round_robin(machine: Machine, ranks: u32) -> Vec<u32> {
    let mut places: Vec<(u32, u32)> =
        block(machine, ranks).into_iter().zip((0..).map(|rank| rank % machine.processes)).collect();
    places.sort_by_key(|(node, place)| (*place, *node));
    places.into_iter().map(|(node, _)| node).collect()
}

/// Runs `cartograph plan` with the recording of a trace that was started in block order.
///
/// # Errors
///
/// If there is no such command, or it fails.
pub(crate) fn planned(
    trace: &Trace,
    machine: Machine,
    directory: &Path,
) -> Result<Planned, Box<dyn Error>> {
    let block = block(machine, trace.size());
    let hosts: Vec<String> = block.iter().map(|node| format!("n{node}")).collect();
    let [recorded, layout] = ["run.jsonl", "layout"].map(|name| directory.join(name));
    recording::write(trace, &hosts, &recorded)?;
    let paths: Vec<String> = block.iter().map(|node| machine.path(*node)).collect();
    fs::write(&layout, paths.join("\n"))?;
    let mut command = Command::new(top().join("build/bin/cartograph"));
    command.args(["plan", "--json", "--network", &format!("0.7us,{}Gbit", machine.gbits)]);
    let output = command.arg("--traffic").arg(recorded).arg("--layout").arg(layout).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let old_rank: Vec<u32> = serde_json::from_value(answer["old_rank"].clone())?;
    let is_moved = old_rank.iter().zip(0..).any(|(old, rank)| *old != rank);
    let seconds = |at: &Value| at["seconds"].as_f64();
    let all = answer["predicted"].as_array().map_or(&[][..], Vec::as_slice);
    let least = all.iter().filter_map(seconds).fold(f64::INFINITY, f64::min);
    let gain = match all.first().and_then(seconds) {
        None => f64::NAN,
        Some(now) if is_moved => now / least,
        Some(_) => 1.0,
    };
    let node_of = old_rank.iter().map(|old| block[*old as usize]).collect();
    Ok(Planned { node_of, gain })
}

/// The nodes of ranks according to `CARTOGRAPH_REORDER=on`, if the program creates a grid.
pub(crate) fn reordered(trace: &Trace, machine: Machine) -> Option<Vec<u32>> {
    let (dims, periodic) = trace.grid.as_ref()?;
    let cart = Cart::new(dims, &vec![*periodic; dims.len()], i32::MAX).ok()?;
    let block = block(machine, trace.size());
    let plan = plan_grid(&Grid::from(&cart), &places(&block), &Options::default());
    Some(plan.old_ranks().map(|old| block[old as usize]).collect())
}

fn places(node_of: &[u32]) -> Places {
    Places::from_ids(&node_of.iter().map(|node| u64::from(*node)).collect::<Vec<_>>())
}

/// The bytes between ranks.
pub(crate) fn graph(trace: &Trace) -> Csr {
    let mut edges = Vec::new();
    for (rank, events) in (0..).zip(&trace.program.ranks) {
        let sent = recording::sent(events, rank, trace.size());
        edges.extend(sent.into_iter().map(|(to, (_, bytes))| (rank, to, bytes.max(1) as i64)));
    }
    Csr::from_edges(trace.size() as usize, edges.into_iter())
}

/// Orders of many kinds: those of launchers, the plans for each objective, and block order with increasing numbers of
/// exchanged ranks.
pub(crate) fn many(trace: &Trace, machine: Machine, graph: &Csr) -> Vec<Vec<u32>> {
    let block = block(machine, trace.size());
    let mut found = vec![block.clone(), round_robin(machine, trace.size())];
    let nodes = machine.nodes(trace.size());
    for width in [2, 4, 8] {
        if block.len().is_multiple_of(width * nodes.len()) {
            let node = |rank: usize| nodes[rank / width % nodes.len()];
            found.push((0..block.len()).map(node).collect());
        }
    }
    for objective in [Objective::Sum, Objective::Max] {
        let options = Options::default().with_objective(objective);
        let plan = plan_graph(graph, &places(&block), &options);
        found.push(plan.old_ranks().map(|old| block[old as usize]).collect());
    }
    let mut state = 7u64;
    for exchanged in [20, 8, 4, 2, 1] {
        let mut order = block.clone();
        for _ in 0..block.len() / exchanged {
            let mut next = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % block.len()
            };
            let (one, other) = (next(), next());
            order.swap(one, other);
        }
        found.push(order);
    }
    found
}

/// The directory of the traces.
pub(crate) fn traces() -> PathBuf {
    top().join("lab/traces")
}
