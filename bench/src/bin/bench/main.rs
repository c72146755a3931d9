//! What `make bench` measured, as tables, JSON and a picture: `bench HOST LINES DIRECTORY`.
//!
//! `LINES` has the lines that `c_tests/bench.h` describes. The tables, in Markdown, go to stdout and to
//! `DIRECTORY/bench.md`; beside it are written `bench.json` and `bench.svg`.

mod picture;

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

/// One case: what it takes with the host alone and with Cartograph.
struct Case {
    part: String,
    name: String,
    /// Neighbors of a process, or dimensions for `MPI_Dims_create`; 0 where it does not matter.
    degree: u32,
    processes: u32,
    /// What `host` and `ours` count.
    unit: String,
    host: f64,
    ours: f64,
}

impl Case {
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [part, name, degree, processes, unit, host, ours] = fields[..] else { return None };
        Some(Self {
            part: part.into(),
            name: name.into(),
            degree: degree.parse().ok()?,
            processes: processes.parse().ok()?,
            unit: unit.into(),
            host: host.parse().ok()?,
            ours: ours.parse().ok()?,
        })
    }

    /// How many times as much the host takes.
    fn ratio(&self) -> f64 {
        self.host / self.ours
    }

    /// With what tells it from others of its name.
    fn label(&self) -> String {
        match (self.part.as_str(), self.degree) {
            (_, 0) => self.name.clone(),
            ("dims", ndims) => format!("{}, {ndims} dimensions", self.name),
            (_, degree) => format!("{}, degree {degree}", self.name),
        }
    }
}

/// The parts in the order of the report: name, heading, and whether both sides are compared.
const PARTS: [(&str, &str, bool); 10] = [
    ("query", "Local queries, C", true),
    ("fortran", "Local queries, Fortran", true),
    ("count", "Local queries, C, instructions", true),
    ("count_fortran", "Local queries, Fortran, instructions", true),
    ("dims", "MPI_Dims_create", true),
    ("create", "Making and freeing a communicator", true),
    ("part", "What making one consists of, all of it the host's", false),
    ("memory", "Memory of a communicator", true),
    ("load", "A whole small program", true),
    ("size", "The library", false),
];

/// A number with three digits that count.
fn short(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.2}"),
        medium if medium < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn tables(host: &str, cases: &[Case]) -> String {
    let mut text = String::new();
    for (part, heading, compared) in PARTS {
        let rows: Vec<&Case> = cases.iter().filter(|case| case.part == part).collect();
        if rows.is_empty() {
            continue;
        }
        let several = rows.iter().any(|case| case.processes != rows[0].processes);
        let processes = if several { " processes |" } else { "" };
        let rule = if several { "---|" } else { "" };
        writeln!(text, "\n### {heading} ({host})\n").expect("a String takes all");
        if compared {
            writeln!(text, "| |{processes} | host | Cartograph | host / Cartograph |").expect("so");
            writeln!(text, "|---|{rule}---|---:|---:|---:|").expect("so");
        } else {
            writeln!(text, "| |{processes} | |").expect("so");
            writeln!(text, "|---|{rule}---|---:|").expect("so");
        }
        for case in rows {
            write!(text, "| {} |", case.label()).expect("so");
            if several {
                write!(text, " {} |", case.processes).expect("so");
            }
            write!(text, " {} |", case.unit).expect("so");
            if compared {
                let (host, ours) = (short(case.host), short(case.ours));
                writeln!(text, " {host} | {ours} | {:.2} |", case.ratio()).expect("so");
            } else {
                writeln!(text, " {} |", short(case.ours)).expect("so");
            }
        }
    }
    text
}

fn json(host: &str, cases: &[Case]) -> serde_json::Value {
    let cases: Vec<_> = cases
        .iter()
        .map(|case| {
            serde_json::json!({
                "part": case.part, "case": case.name, "degree": case.degree,
                "processes": case.processes, "unit": case.unit,
                "host": case.host, "cartograph": case.ours,
            })
        })
        .collect();
    serde_json::json!({ "host": host, "cases": cases })
}

fn run(host: &str, lines: &Path, directory: &Path) -> std::io::Result<()> {
    let lines = fs::read_to_string(lines)?;
    let cases: Vec<Case> = lines.lines().filter_map(Case::read).collect();
    let text = tables(host, &cases);
    fs::create_dir_all(directory)?;
    fs::write(directory.join("bench.md"), &text)?;
    fs::write(directory.join("bench.json"), format!("{:#}\n", json(host, &cases)))?;
    fs::write(directory.join("bench.svg"), picture::draw(host, &cases))?;
    print!("{text}");
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let [_, host, lines, directory] = &arguments[..] else {
        eprintln!("usage: bench HOST LINES DIRECTORY");
        return ExitCode::from(2);
    };
    match run(host, Path::new(lines), Path::new(directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
