//! What `make bench` measured, as tables, JSON and a picture: `bench RESULTS DIRECTORY...`.
//!
//! Each `DIRECTORY` is `build/HOST/bench`, with `lines.tsv` as `c_tests/bench.h` describes it. The tables,
//! in Markdown, go to stdout and to `RESULTS/bench.md`; beside it are written `bench.json` and `bench.svg`.

mod case;
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
    fs::write(results.join("bench.svg"), picture::draw(&runs))?;
    print!("{text}");
    Ok(())
}

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = env::args().skip(1).map(PathBuf::from).collect();
    let Some((results, directories)) = paths.split_first().filter(|(_, d)| !d.is_empty()) else {
        eprintln!("usage: bench RESULTS DIRECTORY...");
        return ExitCode::from(2);
    };
    match write(results, directories) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
