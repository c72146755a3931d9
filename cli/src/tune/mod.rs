//! `cartograph tune`: finds the fastest placement of a program with a recorded run, replay, and interleaved runs.

mod arguments;
mod measured;
mod outcome;
mod recorded;
mod rounds;
mod times;
mod variants;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::exec;
use crate::output::{self, Failure, Result};
use crate::runs::command::Launch;
use crate::runs::input::Input;
use crate::runs::job;
pub(crate) use arguments::Arguments;
use recorded::Recorded;

/// With a higher load by others, as a fraction of the processors, times are unreliable.
const MUCH_LOAD: f64 = 0.5;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !(arguments.tolerance >= 0.0 && arguments.tolerance.is_finite()) {
        return Err(Failure::usage("--tolerance must be a non-negative number"));
    }
    let launch = Launch::of(&arguments.command)?;
    exec::check(launch.program(), arguments.mpi.as_deref())?;
    let name = Path::new(launch.program()).file_name().unwrap_or_default();
    let default = PathBuf::from(format!("{}.cartograph.json", name.to_string_lossy()));
    let file = arguments.profile.clone().unwrap_or(default);
    output::check_place(&file)?;
    let file = std::path::absolute(&file).unwrap_or(file);
    arguments.json.as_deref().map_or(Ok(()), output::check_place)?;
    job::end_jobs_when_interrupted();
    let start = Instant::now();
    let input = Input::of_stdin();
    say_load()?;

    let temporary = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("cannot make a temporary directory: {error}")))?;
    let recorded = Recorded::of_run(arguments, launch, &input, temporary.path())?;
    let (forecast, variants) = variants::choose(arguments, &recorded)?;
    let measured = match variants.len() {
        1 => None,
        _ => Some(rounds::run(arguments, &recorded, &input, variants, temporary.path(), start)?),
    };
    outcome::write(arguments, &file, &recorded, &forecast, measured.as_ref())
}

/// Warns if other work makes times unreliable.
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
