//! The traffic of a program as its entry stores it: small, and without names of nodes, inputs or files.

use std::collections::HashMap;

use cartograph_traffic::{Count, Edge, Recording, Topology};
use serde::{Deserialize, Serialize};

use super::windows::Windows;

/// The most bytes that edges take in a file.
const MOST_EDGES: usize = 400_000;

/// The most edges that a file may describe.
const MOST_UNPACKED: usize = 1 << 24;

/// A larger job in a file is an error.
const MOST_PROCESSES: u32 = 1 << 22;

/// The edges of a rank: the distance of the other rank, messages and bytes.
type Row = Vec<(i64, u64, u64)>;

/// The traffic of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// The distinct rows of edges: in a grid, most ranks have the same distances to their neighbors.
    rows: Vec<Row>,
    /// The row of each rank, in runs: the index of the row, and the number of ranks that have it.
    row_of: Vec<(u32, u32)>,
    /// The grids: function, dims, periodic dimensions, `reorder`.
    grids: Vec<(String, Vec<u32>, Vec<bool>, bool)>,
    /// The first calls of each rank, if ranks are similar enough.
    windows: Windows,
    /// The mean fraction of its time that a process waited for others.
    pub waited: f64,
    /// The network that best reproduces the recorded run: its latency in seconds, and bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<(f64, f64)>,
}

impl Traffic {
    /// The traffic of a recording.
    pub fn new(recording: &Recording) -> Self {
        let size = recording.size as usize;
        let mut rows: Vec<Row> = vec![Row::new(); size];
        for edge in recording.edges.iter().filter(|edge| edge.from != edge.to) {
            let distance = i64::from(edge.to) - i64::from(edge.from);
            rows[edge.from as usize].push((distance, edge.count.messages, edge.count.bytes));
        }
        let mut most = usize::MAX;
        let (rows, row_of) = loop {
            let packed = pack(&rows);
            let length = serde_json::to_string(&packed).map_or(0, |text| text.len());
            if length <= MOST_EDGES || most == 1 {
                break packed;
            }
            // The edges with the most bytes determine placements, and three digits of these are enough.
            most = if most == usize::MAX { 64 } else { most / 2 };
            for row in &mut rows {
                row.sort_by_key(|(distance, messages, bytes)| {
                    (std::cmp::Reverse((*bytes, *messages)), *distance)
                });
                row.truncate(most);
                for (_, messages, bytes) in row.iter_mut() {
                    (*messages, *bytes) = (rounded(*messages), rounded(*bytes));
                }
                row.sort_unstable();
            }
        };
        let grids = recording.topologies.iter().map(|grid| {
            let Topology { function, dims, periodic, reorder, .. } = grid;
            (function.clone(), dims.clone(), periodic.clone(), *reorder)
        });
        let time = recording.nanoseconds as f64 * f64::from(recording.size);
        let waits = recording.waits.values().chain(recording.in_collectives.values());
        let waited: f64 = waits.map(|nanoseconds| *nanoseconds as f64).sum();
        Self {
            rows,
            row_of,
            grids: grids.collect(),
            windows: Windows::new(&recording.windows, recording.size),
            waited: if time > 0.0 { (waited / time).clamp(0.0, 1.0) } else { 0.0 },
            network: None,
        }
    }

    /// The recording rebuilt from this, without the nodes of the run. `None` if the data is invalid, which means that
    /// it was not written by this program.
    pub fn recording(&self, size: u32) -> Option<Recording> {
        let ranks = self.row_of.iter().try_fold(0u32, |sum, (_, count)| sum.checked_add(*count))?;
        if ranks != size || size > MOST_PROCESSES {
            return None;
        }
        let mut edges = Vec::new();
        let row_of = self.row_of.iter().flat_map(|(row, count)| (0..*count).map(move |_| *row));
        for (from, row) in (0u32..).zip(row_of) {
            let row = self.rows.get(row as usize)?;
            if edges.len() + row.len() > MOST_UNPACKED {
                return None;
            }
            for (distance, messages, bytes) in row {
                let to = u32::try_from(i64::from(from).checked_add(*distance)?).ok()?;
                let count = Count { messages: *messages, bytes: *bytes };
                edges.push(Edge { from, to, count });
            }
        }
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
        if edges.iter().any(|edge| edge.to >= size || edge.to == edge.from) {
            return None;
        }
        let grid = |(function, dims, periodic, reorder): &(String, Vec<u32>, Vec<bool>, bool)| {
            let cells = dims.iter().try_fold(1u32, |cells, side| cells.checked_mul(*side))?;
            let fits = (1..=size).contains(&cells) && dims.len() == periodic.len();
            let function = cartograph_traffic::printable(function);
            let grid = || Topology::new(&function, dims, periodic);
            fits.then(|| Topology { reorder: *reorder, ..grid() })
        };
        Some(Recording {
            size,
            edges,
            topologies: self.grids.iter().map(grid).collect::<Option<_>>()?,
            windows: self.windows.unpack(size)?,
            ..Recording::default()
        })
    }
}

/// The distinct rows, and the row of each rank.
fn pack(rows: &[Row]) -> (Vec<Row>, Vec<(u32, u32)>) {
    let mut number: HashMap<&Row, u32> = HashMap::new();
    let mut different = Vec::new();
    let mut row_of: Vec<(u32, u32)> = Vec::new();
    for row in rows {
        let at = *number.entry(row).or_insert_with(|| {
            different.push(row.clone());
            different.len() as u32 - 1
        });
        match row_of.last_mut().filter(|(last, _)| *last == at) {
            Some((_, count)) => *count += 1,
            None => row_of.push((at, 1)),
        }
    }
    (different, row_of)
}

/// A number rounded to its first three digits.
fn rounded(number: u64) -> u64 {
    let mut factor = 1;
    while number / factor >= 1000 {
        factor *= 10;
    }
    number / factor * factor
}

#[cfg(test)]
mod tests;
