//! What `make bench` measured, as tables, JSON and pictures: `bench RESULTS DIRECTORY...`.
//!
//! Each `DIRECTORY` is `build/HOST/bench`, with `lines.tsv` as `c_tests/bench/bench.h` describes it. The tables,
//! in Markdown, go to stdout and to `RESULTS/bench.md`; beside it are written `bench.json` and the pictures.
//!
//! `bench --draw PAGE...` draws the pictures of pages anew, from the tables in them.

mod bars;
mod case;
mod charts;
mod page;
mod picture;
mod tables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn write(results: &Path, directories: &[PathBuf]) -> io::Result<()> {
    let runs = case::read_all(directories)?;
    let text = tables::tables(&runs);
    let json: Vec<_> = runs.iter().map(case::Run::json).collect();
    fs::create_dir_all(results)?;
    fs::write(results.join("bench.md"), &text)?;
    fs::write(results.join("bench.json"), format!("{:#}\n", serde_json::Value::from(json)))?;
    charts::write(&text, results)?;
    print!("{text}");
    Ok(())
}

/// Draws the pictures of pages beside them.
fn draw(pages: &[PathBuf]) -> io::Result<()> {
    pages.iter().try_for_each(|page| {
        charts::write(&fs::read_to_string(page)?, page.parent().unwrap_or(Path::new(".")))
    })
}

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = env::args().skip(1).map(PathBuf::from).collect();
    let Some((results, others)) = paths.split_first().filter(|(_, others)| !others.is_empty())
    else {
        eprintln!("usage: bench RESULTS DIRECTORY... | bench --draw PAGE...");
        return ExitCode::from(2);
    };
    let done = if results == Path::new("--draw") { draw(others) } else { write(results, others) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
