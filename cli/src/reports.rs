//! `cartograph known DIR`: the reports of many jobs in one table.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use cartograph_core::report::{Document, Origin, Record};

use crate::output::{self, Failure, Result, say};

/// A job, with its most important topology.
struct Row {
    origin: Origin,
    processes: i32,
    /// The edges of the busiest node now, and with reordering.
    edges: Option<(i64, i64)>,
    state: String,
}

impl Row {
    fn of(document: &Document) -> Option<Self> {
        let job = document.job.as_ref()?;
        let origin = job.origin.clone().unwrap_or_default();
        let open = document.topologies.iter().filter(|record| record.kept.is_some());
        let open = open.filter_map(|record| Some((record, edges(record)?)));
        let most = open.max_by(|one, other| gain(one.1).total_cmp(&gain(other.1)));
        let moved = document.topologies.iter().filter(|record| record.kept.is_none()).count();
        let (edges, state) = match most {
            Some((record, edges)) if edges.1 < edges.0 => {
                (Some(edges), format!("ranks kept: {}", record.kept.as_ref()?))
            }
            _ if moved > 0 => (None, format!("ranks reordered in {moved} kinds of topologies")),
            _ if document.topologies.is_empty() => (None, "no topology".into()),
            _ => (None, "nothing to gain".into()),
        };
        Some(Self { origin, processes: job.processes, edges, state })
    }

    fn gain(&self) -> f64 {
        self.edges.map_or(0.0, gain)
    }
}

/// The edges of the busiest node now and with reordering, for a topology whose ranks were kept.
fn edges(record: &Record) -> Option<(i64, i64)> {
    let effect = record.effect.as_ref()?;
    let best =
        effect.rejected_as_risky.map_or(effect.after.max_node_edges, |cost| cost.max_node_edges);
    Some((effect.before.max_node_edges, best))
}

/// The fraction of the edges that reordering would save.
fn gain((now, then): (i64, i64)) -> f64 {
    if now <= 0 { 0.0 } else { (now as f64 - then as f64) / now as f64 }
}

/// Prints the jobs with reports in a directory that would save at least a percentage of the busiest node's edges.
pub(crate) fn list(directory: &Path, least: u8) -> Result<()> {
    let files = files(directory)?;
    let (mut rows, mut unread) = (Vec::new(), 0);
    for file in &files {
        let text = fs::read_to_string(file).ok();
        match text.and_then(|text| Row::of(&Document::read(&text).ok()?)) {
            Some(row) => rows.push(row),
            None => unread += 1,
        }
    }
    if unread > 0 {
        say(&format!("{unread} of {} files are not reports", files.len()));
    }
    let least = f64::from(least) / 100.0;
    rows.retain(|row| row.gain() >= least);
    rows.sort_by(|one, other| {
        let by_gain = other.gain().total_cmp(&one.gain());
        by_gain
            .then(other.processes.cmp(&one.processes))
            .then_with(|| one.origin.id.cmp(&other.origin.id))
    });
    output::print(&output::shown(&table(&rows)))
}

/// The reports in a directory, in the order of their names.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |error| Failure::new(format!("cannot read {}: {error}", directory.display()));
    let entries = fs::read_dir(directory).map_err(cannot)?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort_unstable();
    Ok(files)
}

fn table(rows: &[Row]) -> String {
    let head = ["gain", "edges", "processes", "job", "user", "program", "date"].map(String::from);
    let cells = rows.iter().map(|row| {
        let Origin { id, user, program, date, .. } = row.origin.clone();
        let (gain, edges) = match row.edges {
            None => ("-".into(), "-".into()),
            Some(edges) => {
                (format!("{:.0} %", 100.0 * gain(edges)), format!("{} -> {}", edges.0, edges.1))
            }
        };
        [gain, edges, row.processes.to_string(), id, user, program, date]
    });
    let cells: Vec<_> = std::iter::once(head).chain(cells).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..cells[0].len()).map(|column| width(column).unwrap_or(0)).collect();
    let states = std::iter::once("").chain(rows.iter().map(|row| row.state.as_str()));
    let mut text = String::new();
    for (row, state) in cells.iter().zip(states) {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match at {
                0..=2 => write!(line, "{cell:>width$}  "),
                _ => write!(line, "{cell:<width$}  "),
            };
        }
        text += format!("{line}{state}").trim_end();
        text.push('\n');
    }
    text
}
