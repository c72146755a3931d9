//! `cartograph show` of a recording.

use std::fmt::{self, Write};
use std::path::Path;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::Csr;
use cartograph_core::report::NodeSizes;
use cartograph_jobs::draw::{self, Figure};
use cartograph_jobs::learn::Rule;
use cartograph_jobs::traffic::{graph, machine_of};
use cartograph_traffic::{Count, Edge, Recording, Topology};

use super::dims::{better_dims, weights};
use crate::dims::sides_text;
use crate::output::{self, Failure, Result, processes};

/// The most pairs of processes, and nodes, that are listed.
const MOST_LISTED: usize = 10;

/// Larger jobs are drawn by node.
const MOST_DRAWN: usize = 256;

/// Shows a recording, or draws it.
pub(crate) fn show(recording: &Recording, svg: Option<&Path>) -> Result<()> {
    match svg {
        None => output::print(&text(recording)),
        Some(svg) => output::write(svg, &draw(recording)?),
    }
}

/// Bytes with a unit and three digits.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
        if self.0 < 1000 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / 1e3;
        let mut units = UNITS.iter();
        let mut unit = units.next().unwrap_or(&"");
        // 999.95 would be written as 1000.0.
        while value >= 999.5 {
            let Some(next) = units.next() else { break };
            (value, unit) = (value / 1e3, next);
        }
        let digits = match value {
            value if value < 9.995 => 2,
            value if value < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{value:.digits$} {unit}")
    }
}

/// A weight in its unit, bytes with three digits.
pub(crate) fn amount(weight: i64, unit: &str) -> String {
    match u64::try_from(weight) {
        Ok(bytes) if unit == "bytes" => Bytes(bytes).to_string(),
        _ => weight.to_string(),
    }
}

/// Nanoseconds with a unit and three digits.
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 as f64 {
            time if time < 999_500.0 => (time / 1e3, "us"),
            time if time < 999_500_000.0 => (time / 1e6, "ms"),
            time => (time / 1e9, "s"),
        };
        let digits = match value {
            value if value < 9.995 => 2,
            value if value < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{value:.digits$} {unit}")
    }
}

/// "12 messages of 3.40 kB".
struct Messages(Count);

impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0.messages == 1 { "" } else { "s" };
        write!(f, "{} message{plural}, {}", self.0.messages, Bytes(self.0.bytes))
    }
}

fn sum<'a>(edges: impl Iterator<Item = &'a Edge>) -> Count {
    let mut sum = Count::default();
    edges.for_each(|edge| sum.add(edge.count));
    sum
}

fn text(recording: &Recording) -> String {
    let mut text = format!("{}: {}", recording.program, processes(recording.size as usize));
    let machine = machine_of(recording);
    if let Some((machine, _)) = &machine {
        let _ = write!(text, " on {}", NodeSizes::from(machine));
    }
    let _ = writeln!(text, ", {}", recording.mpi);
    if let Some(first) = recording.first_missing() {
        let _ = writeln!(
            text,
            "{} of {} parts are missing (the first: rank {first}); messages of these ranks are not shown",
            recording.missing(),
            recording.size
        );
    }
    if recording.cut_short > 0 {
        let _ = writeln!(
            text,
            "{} processes did not reach MPI_Finalize; their last messages may be missing",
            recording.cut_short
        );
    }
    let own = sum(recording.edges.iter().filter(|edge| edge.from == edge.to));
    let others: Vec<&Edge> = recording.edges.iter().filter(|edge| edge.from != edge.to).collect();
    let _ = writeln!(text, "sent to others: {}", Messages(sum(others.iter().copied())));
    if own.messages > 0 {
        let _ = writeln!(text, "sent to themselves: {}", Messages(own));
    }
    if let Some(rule) = Rule::of(recording) {
        let _ = writeln!(text, "neighbors as in {rule}");
    }
    if let Some((machine, names)) = &machine {
        nodes(&mut text, &others, machine, names);
    }
    pairs(&mut text, others, machine.as_ref());
    waits(&mut text, recording);
    for topology in &recording.topologies {
        grid(&mut text, topology);
        if let Some(line) = weights(recording, topology) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(line) = better_dims(recording, topology) {
            let _ = writeln!(text, "  {line}");
        }
    }
    collectives(&mut text, recording);
    text
}

/// The calls of collectives whose messages are not counted.
fn collectives(text: &mut String, recording: &Recording) {
    if !recording.collectives.is_empty() {
        text.push_str("\nother collectives, calls of all processes:\n");
    }
    for (name, calls) in &recording.collectives {
        let _ = write!(text, "  {name:<26} {calls}");
        match recording.in_collectives.get(name) {
            Some(time) if *time > 0 => drop(writeln!(text, ", {}", Time(*time))),
            _ => text.push('\n'),
        }
    }
}

/// Writes the traffic inside nodes, and the bytes that each node sends to others.
fn nodes(text: &mut String, others: &[&Edge], machine: &Machine, names: &[String]) {
    let node_of = machine.nodes();
    let (inside, between): (Vec<&Edge>, Vec<&Edge>) =
        others.iter().partition(|edge| node_of[edge.from as usize] == node_of[edge.to as usize]);
    let [inside, across] = [sum(inside.into_iter()), sum(between.iter().copied())];
    let all = inside.bytes.saturating_add(across.bytes).max(1) as f64;
    let share = |count: Count| 100.0 * count.bytes as f64 / all;
    let _ = writeln!(text, "inside nodes: {} ({:.0} %)", Messages(inside), share(inside));
    let _ = writeln!(text, "between nodes: {} ({:.0} %)", Messages(across), share(across));
    if names.len() < 2 {
        return;
    }
    let mut leaving = vec![Count::default(); names.len()];
    between.iter().for_each(|edge| leaving[node_of[edge.from as usize] as usize].add(edge.count));
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|node| std::cmp::Reverse((leaving[*node].bytes, leaving[*node].messages)));
    text.push_str("\nnodes that send most to others:\n");
    for node in order.iter().take(MOST_LISTED) {
        let _ = writeln!(text, "  {:<16} {}", names[*node], Messages(leaving[*node]));
    }
}

/// Lists the pairs of ranks with the most traffic.
fn pairs(text: &mut String, mut others: Vec<&Edge>, machine: Option<&(Machine, Vec<String>)>) {
    others.sort_by_key(|edge| std::cmp::Reverse((edge.count.bytes, edge.count.messages)));
    if others.is_empty() {
        return;
    }
    text.push_str("\npairs of ranks with the most traffic:\n");
    for edge in others.iter().take(MOST_LISTED) {
        let pair = format!("{} -> {}", edge.from, edge.to);
        let _ = write!(text, "  {pair:<16} {}", Messages(edge.count));
        if let Some((machine, names)) = machine {
            let name = |rank: u32| &names[machine.nodes()[rank as usize] as usize];
            match (name(edge.from), name(edge.to)) {
                (from, to) if from == to => drop(write!(text, ", in {from}")),
                (from, to) => drop(write!(text, ", {from} -> {to}")),
            }
        }
        text.push('\n');
    }
}

/// Lists the longest waits.
fn waits(text: &mut String, recording: &Recording) {
    let sum = recording.waits.values().fold(0u64, |sum, time| sum.saturating_add(*time));
    if sum == 0 {
        return;
    }
    let _ = writeln!(text, "\ntime in receives and waits: {}; longest:", Time(sum));
    let mut waits: Vec<(&(u32, Option<u32>), &u64)> = recording.waits.iter().collect();
    waits.sort_by_key(|(pair, time)| (std::cmp::Reverse(**time), **pair));
    for ((rank, on), time) in waits.into_iter().take(MOST_LISTED) {
        let on = on.map_or_else(|| "any".to_owned(), |on| on.to_string());
        let _ = writeln!(text, "  {:<16} {}", format!("{rank} for {on}"), Time(*time));
    }
}

fn grid(text: &mut String, topology: &Topology) {
    let Topology { function, dims, periodic, reorder, grids, along, elsewhere } = topology;
    let _ = write!(text, "\n{function}: grid {}", sides_text(dims));
    let bits: String = periodic.iter().map(|periodic| if *periodic { '1' } else { '0' }).collect();
    if bits.contains('1') {
        let _ = write!(text, ", periodic {bits}");
    }
    if *grids > 1 {
        let _ = write!(text, ", {grids} of them");
    }
    if *reorder {
        text.push_str(", reorder = 1");
    }
    text.push('\n');
    for (dimension, count) in along.iter().enumerate() {
        let _ = writeln!(text, "  along dimension {dimension}: {}", Messages(*count));
    }
    if elsewhere.messages > 0 {
        let _ = writeln!(text, "  to others of the grid: {}", Messages(*elsewhere));
    }
}

/// A matrix of ranks or, if there are too many, of nodes.
fn draw(recording: &Recording) -> Result<String> {
    let size = recording.size as usize;
    let (count, group, what): (usize, Vec<u32>, _) = if size <= MOST_DRAWN {
        (size, (0..recording.size).collect(), "rank")
    } else {
        let (machine, names) = machine_of(recording).ok_or_else(|| {
            Failure::new(format!(
                "{size} ranks are too many to be drawn, and parts are missing, so their nodes are unknown"
            ))
        })?;
        (names.len(), machine.nodes().to_vec(), "node")
    };
    let (graph, unit) = graph(recording);
    let matrix = between(&graph, &group, count);
    let title = format!("{}: {}", recording.program, processes(recording.size as usize));
    let legend = format!("In {unit}. Row: sending {what}. Column: receiving {what}.");
    let figure = Figure::matrix(&title, &legend, &matrix)
        .ok_or_else(|| Failure::new(format!("{count} nodes are too many to be drawn")))?;
    Ok(draw::sheet(figure))
}

/// The weights of a graph's edges from the group of the row to the group of the column.
pub(crate) fn between(graph: &Csr, group: &[u32], groups: usize) -> Vec<Vec<i64>> {
    let mut matrix = vec![vec![0i64; groups]; groups];
    for (from, row) in group.iter().enumerate() {
        for (to, weight) in graph.edges(from) {
            let cell = &mut matrix[*row as usize][group[to] as usize];
            *cell = cell.saturating_add(weight);
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let shown = |time| Time(time).to_string();
        assert_eq!(
            [999, 999_600, 12_345_678, 3_000_000_000].map(shown),
            ["1.00 us", "1.00 ms", "12.3 ms", "3.00 s"]
        );
    }

    #[test]
    fn bytes_have_three_digits() {
        let shown = |bytes| Bytes(bytes).to_string();
        let known = [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.00 kB"),
            (12_345, "12.3 kB"),
            (999_400, "999 kB"),
            (999_600, "1.00 MB"),
            (123_456_789, "123 MB"),
            (u64::MAX, "18.4 EB"),
        ];
        for (bytes, text) in known {
            assert_eq!(shown(bytes), text);
        }
    }

    #[test]
    fn edges_count_from_row_to_column() {
        let graph = Csr::from_edges(4, [(0, 1, 1), (0, 2, 5), (3, 0, 2)].into_iter());
        assert_eq!(between(&graph, &[0, 0, 1, 1], 2), [[1, 5], [2, 0]]);
        assert_eq!(between(&graph, &[0, 1, 0, 1], 2), [[5, 1], [2, 0]]);
    }
}
