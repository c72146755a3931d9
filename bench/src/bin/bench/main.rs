//! What `make bench` measured, as tables and pictures: `bench DIRECTORY...`.
//!
//! Each `DIRECTORY` is `build/HOST/bench`, with `lines.tsv` as `c_tests/bench/bench.h` describes it. The tables go to
//! stdout. `bench --keep DIRECTORY...` puts them into `bench/results` as well, and `bench --draw` draws the
//! pictures in `docs` from what is there.

mod bars;
mod case;
mod charts;
mod picture;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, io};

use cartograph_bench::File;

fn measured(directories: &[PathBuf], keep: bool) -> io::Result<()> {
    let tables = tables::tables(&case::read_all(directories)?);
    for table in &tables {
        println!("\n### {}\n\n{}", table.name, table.markdown(&[], &[]).expect("all of it"));
    }
    if keep {
        let (neighbor, others) =
            tables.into_iter().partition(|table| table.name.starts_with("Neighborhood"));
        File::put("performance", "make bench", others)?;
        File::put("neighborhood", "make bench", neighbor)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut paths: Vec<PathBuf> = env::args().skip(1).map(PathBuf::from).collect();
    let option = paths.first().and_then(|path| path.to_str()).unwrap_or_default().to_owned();
    if option.starts_with("--") {
        paths.remove(0);
    }
    let done = match (option.as_str(), &paths[..]) {
        ("--draw", []) => charts::write(),
        ("--draw", _) | (_, []) => {
            eprintln!("usage: bench [--keep] DIRECTORY... | bench --draw");
            return ExitCode::from(2);
        }
        (option, directories) => measured(directories, option == "--keep"),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
