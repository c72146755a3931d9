//! A trace as the recording that `cartograph plan --traffic` reads (docs/design/traffic-format.md).

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cartograph_jobs::replay::{CollectiveKind, Event, Op};
use serde_json::{Value, json};

use crate::trace::Trace;

/// The bytes and messages that a rank sends to every other rank, as the recorder counts them.
pub(crate) fn sent(events: &[Event], rank: u32, size: u32) -> BTreeMap<u32, (u64, u64)> {
    let mut sent = BTreeMap::new();
    let mut add = |to: u32, bytes: u64| {
        let known = sent.entry(to).or_insert((0, 0));
        *known = (known.0 + 1, known.1 + bytes);
    };
    for event in events {
        match event.op {
            Op::Send { to, bytes, .. } => add(to, bytes),
            Op::Collective { kind: CollectiveKind::Alltoall, bytes, .. } => {
                (0..size).filter(|to| *to != rank).for_each(|to| add(to, bytes));
            }
            _ => {}
        }
    }
    sent
}

fn call(op: &Op, size: u32) -> Value {
    let collective = |function: &str, root: Option<u32>, bytes: u64| {
        let mut line = json!({"function": function, "group": 1, "size": size, "bytes": bytes});
        if let Some(root) = root {
            line["root"] = root.into();
        }
        json!({ "collective": line })
    };
    match *op {
        Op::Send { to, bytes, tag, request: false } => json!({"send": [to, bytes, tag]}),
        Op::Send { to, bytes, tag, request: true } => json!({"isend": [to, bytes, tag]}),
        Op::Recv { from, tag, request: false } => json!({"recv": [from, tag]}),
        Op::Recv { from, tag, request: true } => json!({"irecv": [from, tag]}),
        Op::Wait { back, count } => json!({"wait": [back, count]}),
        Op::Collective { kind, bytes, .. } => match kind {
            CollectiveKind::Barrier => collective("MPI_Barrier", None, bytes),
            CollectiveKind::Allreduce => collective("MPI_Allreduce", None, bytes),
            CollectiveKind::ReduceScatter => collective("MPI_Reduce_scatter", None, bytes),
            CollectiveKind::Scan => collective("MPI_Scan", None, bytes),
            CollectiveKind::Allgather => collective("MPI_Allgather", None, bytes),
            CollectiveKind::Alltoall => collective("MPI_Alltoall", None, bytes),
            CollectiveKind::Bcast(root) => collective("MPI_Bcast", Some(root), bytes),
            CollectiveKind::Scatter(root) => collective("MPI_Scatter", Some(root), bytes),
            CollectiveKind::Reduce(root) => collective("MPI_Reduce", Some(root), bytes),
            CollectiveKind::Gather(root) => collective("MPI_Gather", Some(root), bytes),
            CollectiveKind::Alltoallv => collective("MPI_Alltoallv", None, bytes),
            CollectiveKind::Scatterv(root) => collective("MPI_Scatterv", Some(root), bytes),
            CollectiveKind::Gatherv(root) => collective("MPI_Gatherv", Some(root), bytes),
        },
    }
}

/// Writes the recording of a trace, with the host of each rank.
///
/// # Errors
///
/// If a file cannot be written.
pub(crate) fn write(trace: &Trace, hosts: &[String], file: &Path) -> Result<(), Box<dyn Error>> {
    let size = trace.size();
    let mut text = String::new();
    for (rank, events) in (0..).zip(&trace.program.ranks) {
        let mut lines = Vec::new();
        for (to, (messages, bytes)) in sent(events, rank, size) {
            lines.push(json!({"sent": {"to": to, "messages": messages, "bytes": bytes}}));
        }
        if let Some((dims, periodic)) = &trace.grid {
            let periodic = vec![*periodic; dims.len()];
            lines.push(
                json!({"grid": {"function": "MPI_Cart_create", "dims": dims, "periodic": periodic,
                "reorder": true, "rank": rank, "first": 0}}),
            );
        }
        lines.push(window(events, size));
        let (host, count) = (&hosts[rank as usize], lines.len());
        writeln!(
            text,
            "{}",
            json!({"process": {"schema": 1, "rank": rank, "size": size, "host": host, "program": trace.title,
                "mpi": "SimGrid", "part": 0, "complete": true, "nanoseconds": 0, "lines": count}})
        )?;
        lines.iter().try_for_each(|line| writeln!(text, "{line}"))?;
    }
    Ok(fs::write(file, text)?)
}

fn window(events: &[Event], size: u32) -> Value {
    let mut calls: Vec<(Op, Value)> = Vec::new();
    let mut steps = Vec::new();
    let mut nanoseconds = 0;
    for Event { work, op } in events {
        let at = calls.iter().position(|(known, _)| known == op).unwrap_or_else(|| {
            calls.push((*op, call(op, size)));
            calls.len() - 1
        });
        let gap = (work * 1e9) as u64;
        nanoseconds += gap;
        steps.push(json!([at, gap]));
    }
    let calls: Vec<Value> = calls.into_iter().map(|(_, call)| call).collect();
    json!({"window": {"nanoseconds": nanoseconds, "cut": false, "calls": calls, "steps": steps}})
}
