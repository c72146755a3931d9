//! `make lab-simulate`: an unmodified program on a thousand simulated processes, under SimGrid's SMPI.
//!
//! Two machines, each with ranks distributed cyclically over its nodes (round-robin), with ranks that fill node after
//! node (block), and with cyclic ranks under Cartograph, whose program passes `reorder = 1`. Also networks of several
//! levels. Writes `lab/results/simulate.json`; `simulate levels` runs only the networks of several levels.

mod levels;
mod machine;
#[cfg(test)]
mod replay;
mod tables;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cartograph_lab::{File, Table};
use machine::{Launch, Machine, Placement};

/// Bytes of a face.
const SIZES: [u32; 3] = [8 << 10, 64 << 10, 1 << 20];

/// A six-face exchange on one grid with one placement.
struct Exchange {
    dims: [u32; 3],
    periodic: bool,
    machine: Machine,
    placement: Placement,
    /// Simulated seconds for each of [`SIZES`], and the wall time of each run.
    seconds: Vec<f64>,
    used: Vec<Duration>,
}

/// The creation of one kind of communicator.
struct Creation {
    ranks: u32,
    kind: String,
    /// Simulated seconds.
    seconds: f64,
    /// Bytes allocated for each rank.
    bytes: f64,
}

/// The repository's top directory.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn main() -> Result<(), Box<dyn Error>> {
    let small = std::env::var("CARTOGRAPH_SIMULATE").is_ok_and(|value| value == "small");
    let all = [
        ([16, 8, 8], Machine { nodes: 32, processes: 32 }),
        ([16, 16, 16], Machine { nodes: 64, processes: 64 }),
    ];
    let machines = &all[..if small { 1 } else { 2 }];
    let launch = Launch::new(&top().join("build/smpi"))?;
    if std::env::args().nth(1).as_deref() == Some("levels") {
        return levels_alone(&launch);
    }

    // The program counts the memory of malloc, and SMPI's own malloc is a macro that malloc.h does not tolerate.
    let create = launch.compile("create", &["-DSMPI_NO_OVERRIDE_MALLOC"])?;
    let mut creations = Vec::new();
    for ranks in [64, 256, 1024, 4096] {
        if small && ranks > 1024 {
            break;
        }
        let machine = Machine { nodes: ranks / 32, processes: 32 };
        let (output, used) = launch.run(&create, machine, Placement::Cartograph, &[])?;
        for line in output.lines() {
            let [kind, seconds, bytes] = words(line)?;
            let (seconds, bytes) = (seconds.parse()?, bytes.parse()?);
            creations.push(Creation { ranks, kind: kind.into(), seconds, bytes });
        }
        println!("communicators of {ranks} ranks ({:.0} s)", used.as_secs_f64());
    }

    let halo = launch.compile("halo", &[])?;
    let mut exchanges = Vec::new();
    for &(dims, machine) in machines {
        for periodic in [true, false] {
            for placement in Placement::ALL {
                let exchange = exchange(&launch, &halo, dims, periodic, machine, placement)?;
                tables::progress(&exchange);
                exchanges.push(exchange);
            }
            // The user may interrupt.
            write(&exchanges, &creations)?;
        }
    }
    levels_alone(&launch)
}

/// Measures the exchanges on larger networks.
fn levels_alone(launch: &Launch) -> Result<(), Box<dyn Error>> {
    let halo = launch.compile("halo", &[])?;
    put(vec![levels::table(launch, &halo)?])
}

fn write(exchanges: &[Exchange], creations: &[Creation]) -> Result<(), Box<dyn Error>> {
    let [bytes, times] = tables::creations(creations);
    put(vec![tables::exchanges(exchanges), bytes, times])
}

fn put(tables: Vec<Table>) -> Result<(), Box<dyn Error>> {
    File::put("simulate", "make lab-simulate", tables)?;
    Ok(())
}

fn exchange(
    launch: &Launch,
    program: &Path,
    dims: [u32; 3],
    periodic: bool,
    machine: Machine,
    placement: Placement,
) -> Result<Exchange, Box<dyn Error>> {
    let (mut seconds, mut used) = (Vec::new(), Vec::new());
    // One run per size: SMPI takes many times as long for an exchange that follows another one.
    for size in SIZES {
        let mut arguments = dims.map(|dim| dim.to_string()).to_vec();
        arguments.extend([u32::from(periodic).to_string(), "messages".into()]);
        arguments.extend(["1".into(), size.to_string()]);
        let (output, took) = launch.run(program, machine, placement, &arguments)?;
        let [_, taken] = words(&output)?;
        seconds.push(taken.parse()?);
        used.push(took);
    }
    Ok(Exchange { dims, periodic, machine, placement, seconds, used })
}

/// The words of a line that has `N` words.
fn words<const N: usize>(line: &str) -> Result<[&str; N], String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.try_into().map_err(|_| format!("the program printed: {line}"))
}
