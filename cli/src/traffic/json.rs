//! A recording as JSON, with all parts joined.

use std::collections::BTreeMap;

use cartograph_traffic::{Count, Recording};
use serde::Serialize;

/// The output of `cartograph show RECORDING --json`.
#[derive(Serialize)]
struct Answer<'a> {
    processes: u32,
    program: &'a str,
    mpi: &'a str,
    /// The node of each rank; null if its part is missing.
    nodes: Vec<Option<&'a str>>,
    /// Sender, receiver, messages and bytes.
    edges: Vec<(u32, u32, u64, u64)>,
    topologies: Vec<Topology<'a>>,
    collectives: &'a BTreeMap<String, u64>,
    /// The rank, the rank that it waited for or null, and the seconds.
    waits: Vec<(u32, Option<u32>, f64)>,
}

#[derive(Serialize)]
struct Topology<'a> {
    function: &'a str,
    dims: &'a [u32],
    periodic: &'a [bool],
    reorder: bool,
    grids: usize,
    /// The messages and bytes along each dimension, and between other ranks.
    along: Vec<(u64, u64)>,
    elsewhere: (u64, u64),
}

/// The recording in JSON, on one line.
pub(crate) fn json(recording: &Recording) -> String {
    let pair = |count: &Count| (count.messages, count.bytes);
    let node = |rank| recording.hosts.get(&rank).map(|host| host.name.as_str());
    let edges = recording.edges.iter();
    let edges = edges.map(|edge| (edge.from, edge.to, edge.count.messages, edge.count.bytes));
    let topologies = recording.topologies.iter().map(|topology| Topology {
        function: &topology.function,
        dims: &topology.dims,
        periodic: &topology.periodic,
        reorder: topology.reorder,
        grids: topology.grids,
        along: topology.along.iter().map(pair).collect(),
        elsewhere: pair(&topology.elsewhere),
    });
    let waits = recording.waits.iter();
    let waits = waits.map(|((rank, on), time)| (*rank, *on, *time as f64 / 1e9));
    let answer = Answer {
        processes: recording.size,
        program: &recording.program,
        mpi: &recording.mpi,
        nodes: (0..recording.size).map(node).collect(),
        edges: edges.collect(),
        topologies: topologies.collect(),
        collectives: &recording.collectives,
        waits: waits.collect(),
    };
    serde_json::to_string(&answer).expect("all keys are strings")
}
