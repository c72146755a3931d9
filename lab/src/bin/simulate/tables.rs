//! The tables.

use std::time::Duration;

use cartograph_lab::Table;

use crate::machine::Placement;
use crate::{Creation, Exchange, SIZES};

/// Prints the result of one run.
pub(crate) fn progress(exchange: &Exchange) {
    let seconds: Vec<String> =
        exchange.seconds.iter().map(|s| format!("{:.3} ms", s * 1e3)).collect();
    let (name, placement) = (name(exchange), exchange.placement.name());
    println!(
        "{name}, {placement}: {} ({} s)",
        seconds.join(", "),
        wall(&exchange.used).join(" + ")
    );
}

/// A grid as text.
pub(crate) fn name(exchange: &Exchange) -> String {
    let [x, y, z] = exchange.dims;
    let periodic = if exchange.periodic { "periodic" } else { "not periodic" };
    format!("{x} x {y} x {z}, {periodic}")
}

/// Seconds of wall time of each run.
fn wall(used: &[Duration]) -> Vec<String> {
    used.iter().map(|used| format!("{:.0}", used.as_secs_f64())).collect()
}

/// A number of bytes as text.
pub(crate) fn bytes(size: u32) -> String {
    if size >= 1 << 20 { format!("{} MiB", size >> 20) } else { format!("{} KiB", size >> 10) }
}

/// The runs of one grid, in the order of [`Placement::ALL`].
pub(crate) fn by_grid(exchanges: &[Exchange]) -> impl Iterator<Item = &[Exchange]> {
    exchanges.chunks(Placement::ALL.len())
}

/// The exchanges: the milliseconds of each, and the ratio to the time under Cartograph.
pub(crate) fn exchanges(exchanges: &[Exchange]) -> Table {
    let mut table = Table::new(
        "Exchange of six faces",
        "grid | nodes | a face | cyclic ranks | block ranks | Cartograph",
    );
    for runs in by_grid(exchanges) {
        let machine = runs[0].machine;
        for (i, size) in SIZES.iter().enumerate() {
            let ours = runs.last().expect("a run a placement").seconds[i];
            let [cyclic, block] = [0, 1].map(|run: usize| {
                let seconds = runs[run].seconds[i];
                format!("{:.3} ({:.2} x)", seconds * 1e3, seconds / ours)
            });
            let (name, nodes) = (name(&runs[0]), machine.nodes);
            let (each, size) = (machine.processes, bytes(*size));
            let ours = ours * 1e3;
            table.row(&format!(
                "{name} | {nodes} of {each} | {size} | {cyclic} | {block} | {ours:.3}"
            ));
        }
    }
    table
}

/// The bytes of a communicator that stay allocated on each rank, and the simulated microseconds to create it; in
/// parentheses, the bytes and time that Cartograph adds to the split.
pub(crate) fn creations(creations: &[Creation]) -> [Table; 2] {
    [
        table(
            "Bytes of a communicator",
            creations,
            |made| made.bytes,
            |bytes| format!("{bytes:.0}"),
        ),
        table(
            "Making a communicator, us",
            creations,
            |made| made.seconds * 1e6,
            |time| format!("{time:.1}"),
        ),
    ]
}

/// A row for each number of ranks, a column for each kind; the others are based on the first kind.
fn table(
    name: &str,
    creations: &[Creation],
    value: impl Fn(&Creation) -> f64,
    show: impl Fn(f64) -> String,
) -> Table {
    let mut rows = creations.chunk_by(|a, b| a.ranks == b.ranks).peekable();
    let kinds = rows.peek().map_or(&[][..], |row| row);
    let kinds: Vec<&str> = kinds.iter().map(|creation| creation.kind.as_str()).collect();
    let mut table = Table::new(name, &format!("ranks | {}", kinds.join(" | ")));
    for row in rows {
        let split = value(&row[0]);
        let others = row[1..].iter().map(|creation| {
            let found = value(creation);
            format!("{} ({})", show(found), show(found - split))
        });
        let cells: Vec<String> = std::iter::once(show(split)).chain(others).collect();
        table.row(&format!("{} | {}", row[0].ranks, cells.join(" | ")));
    }
    table
}
