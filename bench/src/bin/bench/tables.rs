//! The tables, in Markdown: a column a host.

use std::fmt::Write;

use crate::case::{Case, Run, rows};

/// How a part is shown.
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

/// A number with three digits that count.
fn short(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.2}"),
        medium if medium < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

pub(crate) fn tables(runs: &[Run]) -> String {
    let mut text = String::new();
    for (part, heading, shown) in PARTS {
        let rows = rows(runs, part);
        if rows.is_empty() {
            continue;
        }
        if shown == Shown::BySize {
            runs.iter().for_each(|run| text += &by_size(heading, run));
            continue;
        }
        writeln!(text, "\n### {heading}\n").expect("a String takes all");
        let several = rows.iter().any(|case| case.processes != rows[0].processes);
        let (processes, rule) = if several { (" processes |", "---:|") } else { ("", "") };
        let hosts: String = runs.iter().map(|run| format!(" {} |", run.host)).collect();
        writeln!(text, "| |{processes} |{hosts}").expect("so");
        writeln!(text, "|---|{rule}---|{}", "---:|".repeat(runs.len())).expect("so");
        for row in rows {
            write!(text, "| {} |", row.label()).expect("so");
            if several {
                write!(text, " {} |", row.processes).expect("so");
            }
            write!(text, " {} |", row.unit).expect("so");
            for run in runs {
                let case = run.part(part).find(|case| case.is_like(row));
                write!(text, " {} |", case.map_or(String::new(), |case| cell(case, shown)))
                    .expect("so");
            }
            text.push('\n');
        }
    }
    text
}

fn cell(case: &Case, shown: Shown) -> String {
    match shown {
        Shown::Alone => short(case.ours),
        _ => format!("{} / {} = {:.2}", short(case.host), short(case.ours), case.ratio()),
    }
}

/// A line for each kind of collective, with all sizes of blocks.
fn by_size(heading: &str, run: &Run) -> String {
    let mut sizes: Vec<u32> = run.part("neighbor").map(|case| case.degree).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let Some(first) = run.part("neighbor").next() else { return String::new() };
    let mut text = format!("\n### {heading}, {} ({})\n\n", first.unit, run.host);
    let columns: String = sizes.iter().map(|size| format!(" {} |", bytes(*size))).collect();
    writeln!(text, "| | processes |{columns}").expect("so");
    writeln!(text, "|---|---:|{}", "---:|".repeat(sizes.len())).expect("so");
    let mut lines: Vec<(&str, u32)> = Vec::new();
    for case in run.part("neighbor") {
        let line = (case.name.as_str(), case.processes);
        if lines.contains(&line) {
            continue;
        }
        lines.push(line);
        write!(text, "| {} | {} |", case.name, case.processes).expect("so");
        for size in &sizes {
            let like = Case {
                degree: *size,
                name: case.name.clone(),
                part: case.part.clone(),
                unit: String::new(),
                ..*case
            };
            let found = run.part("neighbor").find(|other| other.is_like(&like));
            let shown = found.map_or(String::new(), |case| cell(case, Shown::Compared));
            write!(text, " {shown} |").expect("so");
        }
        text.push('\n');
    }
    text
}

fn bytes(size: u32) -> String {
    match size {
        size if size >= 1 << 20 => format!("{} MiB", size >> 20),
        size if size >= 1 << 10 => format!("{} KiB", size >> 10),
        size => format!("{size} B"),
    }
}
