//! Results as data, and on pages.
//!
//! `results put FILE TABLE COMMAND` reads a table from stdin, lines of cells with bars between them and the names of
//! the columns first, into `lab/results/FILE.json`; COMMAND is what measures it. `results make KIND COMMAND FILE...`
//! makes the tables of a kind of the lines that a script has measured. `results pages` puts the tables into the pages
//! that show them.

mod jobs;
mod measured;
mod programs;

use std::process::ExitCode;
use std::{env, fs, io};

use cartograph_lab::{File, Table, directory, pages};

fn put(file: &str, name: &str, command: &str) -> io::Result<()> {
    let text = io::read_to_string(io::stdin())?;
    let mut rows: Vec<Vec<String>> = text.lines().filter_map(cells).collect();
    let columns = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
    if rows.is_empty() || rows.iter().any(|row| row.len() != columns.len()) {
        return Err(io::Error::other(format!("{name}: rows are missing, or not all as wide")));
    }
    let table = Table { name: name.to_owned(), columns, rows, ..Table::default() };
    let path = File::put(file, command, vec![table])?;
    eprintln!("{name} is in {}", path.display());
    Ok(())
}

/// Makes the tables of a kind of files with measured lines.
fn make(kind: &str, command: &str, files: &[&str]) -> io::Result<()> {
    let texts: Vec<String> = files.iter().map(fs::read_to_string).collect::<io::Result<_>>()?;
    let (file, tables) = match (kind, &texts[..]) {
        ("cluster", [runs, edges]) => ("cluster", measured::cluster(runs, edges)),
        ("programs", [runs, notes]) => ("programs", programs::programs(runs, notes)),
        ("jobs", [runs, notes]) => {
            ("programs", jobs::jobs(runs, notes, &File::read(&directory().join("programs.json"))?))
        }
        ("combining", [runs]) => ("combining", measured::combining(runs)),
        _ => return Err(io::Error::other(format!("no tables are made of '{kind}'"))),
    };
    let path = File::put(file, command, tables?)?;
    eprintln!("the tables are in {}", path.display());
    Ok(())
}

/// The cells of a line; `None` if it is empty, or the rule below the names of columns in Markdown.
fn cells(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')).unwrap_or(line);
    let rest = inner.trim_matches(['|', '-', ':', ' ']);
    (!rest.is_empty()).then(|| inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["put", file, table, command] => put(file, table, command),
        ["make", kind, command, ref files @ ..] => make(kind, command, files),
        ["pages"] => pages::all()
            .and_then(|all| all.iter().try_for_each(|page| fs::write(page, pages::filled(page)?))),
        _ => {
            eprintln!(
                "usage: results put FILE TABLE COMMAND | results make KIND COMMAND FILE... | results pages"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("results: {error}");
            ExitCode::FAILURE
        }
    }
}
