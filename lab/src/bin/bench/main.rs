//! `make lab-bench`: `bench --run HOST` measures a host, into `build/HOST/bench`; `bench HOST...` prints tables of the
//! hosts' measurements, side by side; `bench --keep HOST...` also puts them into `lab/results`.

mod case;
mod count;
mod run;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, io};

use cartograph_lab::{File, top};

fn measured(hosts: &[String], keep: bool) -> io::Result<()> {
    let directories = hosts.iter().map(|host| top().join("build").join(host).join("bench"));
    let tables = tables::tables(&case::read_all(&directories.collect::<Vec<PathBuf>>())?);
    for table in &tables {
        println!("\n### {}\n\n{}", table.name, table.markdown(&[], &[]).expect("all of it"));
    }
    if keep {
        let (neighbor, others) =
            tables.into_iter().partition(|table| table.name.starts_with("Neighborhood"));
        File::put("performance", "make lab-bench", others)?;
        File::put("neighborhood", "make lab-bench", neighbor)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut hosts: Vec<String> = env::args().skip(1).collect();
    let option = match hosts.first() {
        Some(first) if first.starts_with("--") => hosts.remove(0),
        _ => String::new(),
    };
    let done = match (option.as_str(), &hosts[..]) {
        ("--run", [host]) => run::run(host).and_then(|()| measured(&hosts, false)),
        ("" | "--keep", [_, ..]) => measured(&hosts, option == "--keep"),
        _ => {
            eprintln!("usage: bench --run HOST | bench [--keep] HOST...");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
