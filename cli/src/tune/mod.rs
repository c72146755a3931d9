//! `cartograph tune`: finds the fastest placement of a program with a recorded run, replay, and interleaved runs.

mod outcome;
mod recorded;
mod rounds;
mod variants;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cartograph_jobs::launch::{Launch, printed};
use cartograph_jobs::processes::{Input, job};
use cartograph_jobs::store::Store;

use crate::output::{self, Failure, Result};
use recorded::Recorded;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    rounds: rounds::Options,
    /// The rank file to write, if the launcher takes one; default: PROGRAM.ranks here
    #[arg(long, value_name = "FILE")]
    rankfile: Option<PathBuf>,
    /// Also write the results as JSON: the MPI, the launcher, the nodes and the placements
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The MPI of the program: mpich, openmpi, or another that `cartograph info` lists
    #[arg(long, value_name = "NAME", value_parser = crate::help::MPIS, hide_possible_values = true)]
    mpi: Option<String>,
    /// The devices of a node, if ranks choose them by their number in MPI_COMM_WORLD, else 1; default: as recorded
    #[arg(long, value_name = "N")]
    devices: Option<u32>,
    /// The launcher, the program and its arguments: mpiexec -n 64 ./app; use -- before PROGRAM if ambiguous
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// With a higher load by others, as a fraction of the processors, times are unreliable.
const MUCH_LOAD: f64 = 0.5;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let options = &arguments.rounds;
    if !(options.tolerance >= 0.0 && options.tolerance.is_finite()) {
        return Err(Failure::usage("--tolerance must be a non-negative number"));
    }
    let (launch, line) = Launch::read(&arguments.command, arguments.mpi.as_deref(), |launcher| {
        printed(launcher, job::ask)
    })?;
    launch.check()?;
    let default = PathBuf::from(format!("{}.ranks", launch.name().to_string_lossy()));
    let file = arguments.rankfile.clone().unwrap_or(default);
    output::check_place(&file)?;
    let file = std::path::absolute(&file).unwrap_or(file);
    arguments.json.as_deref().map_or(Ok(()), output::check_place)?;
    job::end_jobs_when_interrupted();
    let start = Instant::now();
    let input = Input::of_stdin();
    say_load()?;

    let folder = Store::open().and_then(|store| store.job_folder());
    let folder = folder.map_err(|why| {
        let what = format!("cannot keep the recording in the store: {why}");
        Failure::new(what)
            .with_hint("CARTOGRAPH_STORE names another directory, which all nodes share")
    })?;
    let directory = folder.path();
    let longest = Duration::from_secs(options.seconds);
    let recorded = Recorded::of_run((launch, line.ok()), &input, longest, directory)?;
    let (forecast, variants) = variants::choose(&recorded, arguments.devices, directory)?;
    let measured = match variants.len() {
        0 | 1 => None,
        _ => Some(rounds::run(options, &recorded.names, &input, variants, directory, start)?),
    };
    let (json, command) = (arguments.json.as_deref(), arguments.command.join(OsStr::new(" ")));
    outcome::write(&recorded, &forecast, measured.as_ref(), &file, json, &command)
}

/// Warns if other load makes times unreliable.
fn say_load() -> Result<()> {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if load > MUCH_LOAD * processors as f64 {
        output::print(&format!(
            "load average {load:.1} on {processors} CPUs; timings may be unreliable\n"
        ))?;
    }
    Ok(())
}
