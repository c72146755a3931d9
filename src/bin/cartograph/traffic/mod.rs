//! What a recorded run sent: read, shown, and turned into a graph to be mapped.

mod show;

use std::fs;
use std::io::Read;
use std::path::Path;

use cartograph::mapping::{Csr, Layout};
use cartograph_traffic::{OpenError, Recording};

use crate::output::{self, Failure, Result};

pub(crate) use show::show;

/// Whether this is a recording, whole or not, and no report.
pub(crate) fn is_recording(path: &Path) -> bool {
    let begins_so = || {
        let mut start = String::new();
        let file = fs::File::open(path).ok()?;
        file.take(64).read_to_string(&mut start).ok()?;
        Some(Recording::is_one(&start))
    };
    path.is_dir() || (path.is_file() && begins_so() == Some(true))
}

/// Reads a recording: a directory of parts, or a file with one or more; "-" is the input.
pub(crate) fn read(path: &Path) -> Result<Recording> {
    let found = if path == Path::new("-") {
        Recording::read([&output::read(path)?[..]]).map_err(OpenError::from)
    } else {
        Recording::open(path)
    };
    found.map_err(|error| Failure::new(format!("{} {error}", path.display())))
}

/// How much each process sends to each: bytes or, where all messages are empty, messages. What a process sends to
/// itself is left out.
pub(crate) fn graph(recording: &Recording) -> Csr {
    let others = || recording.edges.iter().filter(|edge| edge.from != edge.to);
    let bytes = others().any(|edge| edge.count.bytes > 0);
    let weight = |edge: &cartograph_traffic::Edge| {
        let count = if bytes { edge.count.bytes } else { edge.count.messages };
        // Sums of them are still numbers of 64 bits.
        i64::try_from(count).unwrap_or(i64::MAX).min(i64::MAX >> 16)
    };
    let edges: Vec<(u32, u32, i64)> =
        others().map(|edge| (edge.from, edge.to, weight(edge))).collect();
    Csr::from_edges(recording.size as usize, edges.iter().copied())
}

/// Where the processes ran, with the names of the nodes; `None` if a part is missing.
pub(crate) fn layout(recording: &Recording) -> Option<(Layout, Vec<String>)> {
    let hosts: Vec<&String> = recording.hosts.iter().map(Option::as_ref).collect::<Option<_>>()?;
    let mut names: Vec<String> = Vec::new();
    let mut known = std::collections::HashMap::new();
    let ids: Vec<u64> = hosts
        .into_iter()
        .map(|host| {
            *known.entry(host).or_insert_with(|| {
                names.push(host.clone());
                names.len() as u64 - 1
            })
        })
        .collect();
    Some((Layout::from_ids(&ids), names))
}
