//! The tables: one column per host.

use cartograph_lab::Table;

use crate::case::{Case, Run, rows};

/// The form of a part.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Shown {
    /// Host, Cartograph, and the ratio.
    Compared,
    /// One number.
    Alone,
    /// A row for all sizes of blocks.
    BySize,
}

/// The parts in the order of the report: name and heading.
pub(crate) const PARTS: [(&str, &str, Shown); 11] = [
    ("query", "Local queries, C", Shown::Compared),
    ("fortran", "Local queries, Fortran", Shown::Compared),
    ("count", "Local queries, C, instructions", Shown::Compared),
    ("count_fortran", "Local queries, Fortran, instructions", Shown::Compared),
    ("dims", "MPI_Dims_create", Shown::Compared),
    ("create", "Making and freeing a communicator", Shown::Compared),
    ("part", "What making one consists of, all of it the host's", Shown::Alone),
    ("memory", "Memory of a communicator", Shown::Compared),
    ("load", "A whole small program", Shown::Compared),
    ("size", "The library", Shown::Alone),
    ("neighbor", "Neighborhood collectives", Shown::BySize),
];

/// A number with three significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.2}"),
        medium if medium < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

pub(crate) fn tables(runs: &[Run]) -> Vec<Table> {
    let mut tables = Vec::new();
    for (part, heading, shown) in PARTS {
        let rows = rows(runs, part);
        if rows.is_empty() {
            continue;
        }
        if shown == Shown::BySize {
            tables.extend(runs.iter().filter_map(|run| by_size(heading, run)));
            continue;
        }
        let several = rows.iter().any(|case| case.processes != rows[0].processes);
        let hosts = runs.iter().map(|run| run.host.clone());
        let columns = ["".into()].into_iter().chain(several.then(|| "processes".into()));
        let mut table = Table { name: heading.into(), ..Table::default() };
        table.columns = columns.chain(["".into()]).chain(hosts).collect();
        for row in rows {
            let processes = several.then(|| row.processes.to_string());
            let cells = runs.iter().map(|run| {
                let case = run.part(part).find(|case| case.is_like(row));
                case.map_or(String::new(), |case| cell(case, shown))
            });
            let label = [row.label()].into_iter().chain(processes).chain([row.unit.clone()]);
            table.rows.push(label.chain(cells).collect());
        }
        tables.push(table);
    }
    tables
}

fn cell(case: &Case, shown: Shown) -> String {
    match shown {
        Shown::Alone => short(case.ours),
        _ => format!("{} / {} = {:.2}", short(case.host), short(case.ours), case.ratio()),
    }
}

/// A row for each kind of collective, with all sizes of blocks.
fn by_size(heading: &str, run: &Run) -> Option<Table> {
    let mut sizes: Vec<u32> = run.part("neighbor").map(|case| case.degree).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let first = run.part("neighbor").next()?;
    let name = format!("{heading}, {} ({})", first.unit, run.host);
    let columns: Vec<String> = sizes.iter().map(|size| bytes(*size)).collect();
    let mut table = Table::new(&name, &format!(" | processes | {}", columns.join(" | ")));
    let mut lines: Vec<(&str, u32)> = Vec::new();
    for case in run.part("neighbor") {
        let line = (case.name.as_str(), case.processes);
        if lines.contains(&line) {
            continue;
        }
        lines.push(line);
        let cells = sizes.iter().map(|size| {
            let like = Case {
                degree: *size,
                name: case.name.clone(),
                part: case.part.clone(),
                unit: String::new(),
                ..*case
            };
            let found = run.part("neighbor").find(|other| other.is_like(&like));
            found.map_or(String::new(), |case| cell(case, Shown::Compared))
        });
        let label = [case.name.clone(), case.processes.to_string()];
        table.rows.push(label.into_iter().chain(cells).collect());
    }
    Some(table)
}

fn bytes(size: u32) -> String {
    match size {
        size if size >= 1 << 20 => format!("{} MiB", size >> 20),
        size if size >= 1 << 10 => format!("{} KiB", size >> 10),
        size => format!("{size} B"),
    }
}
