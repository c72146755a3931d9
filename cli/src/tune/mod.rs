//! `cartograph tune`: finds the fastest placement of a program with a recorded run, replay, and interleaved runs.

mod order;
mod placer;
mod rounds;
mod variants;

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cartograph_core::machine::Machine;
use cartograph_core::mapping::Options;
use regex::Regex;

use crate::exec;
use crate::output::{self, Failure, Progress, Result};
use crate::predict::Forecast;
use crate::runs::command::Launch;
use crate::runs::input::Input;
use crate::runs::job::{self, Ended};
use crate::traffic;
use placer::Placer;
use rounds::Rounds;
pub(crate) use variants::forecast;
use variants::{Setting, Variant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Maximum runs per variant, interleaved (>= 2)
    #[arg(long, default_value = "5", value_parser = clap::value_parser!(u32).range(2..=1000))]
    runs: u32,
    /// Start no run after SECONDS, and end one that takes longer
    #[arg(long, default_value = "1800", value_name = "SECONDS")]
    seconds: u64,
    /// Compare the time that the program prints: the first group of a regular expression, or its first number;
    /// default: the time from MPI_Init to MPI_Finalize
    #[arg(long, value_name = "REGEX")]
    time: Option<Regex>,
    /// Tolerance of numbers in the output, relative to their size or, if they are smaller, to 0.001
    #[arg(long, default_value = "1e-6")]
    tolerance: f64,
    /// Ignore lines of the output that contain this text, and files whose names do; may be repeated
    #[arg(long, value_name = "TEXT")]
    ignore: Vec<String>,
    /// Also try other dims when the program uses MPI_Dims_create and they would shrink halos
    #[arg(long)]
    dims: bool,
    /// The profile to write, with a rank file beside it; default: PROGRAM.cartograph.json here
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// The MPI of the program: mpich, openmpi, or another that `cartograph info` lists
    #[arg(long, value_name = "NAME", value_parser = crate::help::MPIS, hide_possible_values = true)]
    mpi: Option<String>,
    /// The launcher, the program and its arguments: mpiexec -n 64 ./app; use -- before PROGRAM if ambiguous
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The number of variants that run besides the baseline.
const MOST_VARIANTS: usize = 3;

/// More work of others than this part of the processors makes times worth little.
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
    job::end_jobs_when_interrupted();
    let start = Instant::now();
    let input = Input::of_stdin();
    say_load()?;

    let temporary = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("cannot make a temporary directory: {error}")))?;
    let recording = record(arguments, &launch, &input, &temporary.path().join("run.traffic"))?;
    let (machine, names) = traffic::layout(&recording).ok_or_else(|| {
        Failure::new("parts of the recording are missing: is the directory for temporary files shared by all nodes? \
                      set TMPDIR to one that is")
    })?;
    if names.len() < 2 {
        return Err(Failure::new(format!(
            "all {} processes run on {} (MPI_Get_processor_name): nothing to place on one node",
            recording.size, names[0]
        )));
    }
    let options = Options { stop: job::stop(), ..Options::default() };
    let forecast = variants::forecast(&recording, &machine, &options, None)?;
    if job::is_interrupted() {
        return Err(job::interrupted());
    }
    output::print(&forecast.text())?;
    let better =
        recording.topologies.iter().filter_map(|grid| traffic::better_dims(&recording, grid));
    let better: Vec<_> = better.collect();
    for line in &better {
        output::print(&format!("{line}\n"))?;
    }
    let ranks = file.with_extension("ranks");
    let placer = Placer::new(&launch, &recording.mpi, arguments.mpi.as_deref());
    let (mut chosen, note) =
        variants::chosen(&forecast, &recording, &machine, &names, &placer, temporary.path())?;
    if let Some(why) = note {
        output::print(&format!("\nthe launcher does not place ranks: {why}\n"))?;
    }
    if arguments.dims {
        chosen.extend(better.into_iter().find_map(|better| Variant::of_dims(better, &machine)));
    }
    if chosen.len() == 1 {
        return output::print(
            "\nno placement is predicted to beat the default rank order (or to send fewer bytes in the same time).\n",
        );
    }
    let mut rounds = Rounds::new(arguments, launch, &input, chosen, temporary.path());
    let interrupted = rounds.run(arguments.runs, start)?;
    output::print(&rounds.text(forecast.unit))?;
    let finding = rounds.finding();
    if finding.none_ran {
        return Err(Failure::new(finding.words));
    }
    output::print(&format!("{}\n", finding.words))?;
    if let Some(variant) = finding.best {
        let profile = variant.profile(&recording, &machine, finding.measured);
        output::write(&file, &profile)?;
        if let Setting::Ranks { text, .. } = &variant.setting {
            output::write(&ranks, text)?;
        }
        // The second line is the order of the world.
        let orders_world = profile.lines().count() > 1;
        output::print(&used(variant, &file, &ranks, recording.size, orders_world))?;
    }
    match interrupted {
        true => Err(Failure::new("interrupted; best result so far").with_code(130)),
        false => Ok(()),
    }
}

/// The use of a profile, in words.
fn used(variant: &Variant, file: &Path, ranks: &Path, size: u32, orders_world: bool) -> String {
    let mut text = format!("\nwritten: {}\n", file.display());
    let by_profile =
        format!("mpiexec -n {size} cartograph exec --profile {} PROGRAM", file.display());
    match &variant.setting {
        Setting::Ranks { placed, .. } => {
            // Not by the profile, whose order of the world would come on top of the rank file's.
            let combining = "env CARTOGRAPH_COMBINE=on cartograph exec --reorder off PROGRAM";
            let usage = placed.usage(ranks, if variant.combines { combining } else { "PROGRAM" });
            let _ = writeln!(text, "written: {}", ranks.display());
            if placed.names_nodes() {
                let _ = writeln!(text, "on these nodes, which the rank file names, run: {usage}");
            } else {
                let _ = writeln!(text, "on this allocation, run: {usage}");
            }
            if orders_world {
                let _ = writeln!(text, "on other nodes of these sizes, run: {by_profile}");
            }
        }
        _ => {
            let _ = writeln!(text, "run: {by_profile}");
        }
    }
    text
}

/// Says that other work makes times worth little.
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

/// Runs the recorded run.
fn record(
    arguments: &Arguments,
    launch: &Launch,
    input: &Input,
    directory: &Path,
) -> Result<cartograph_traffic::Recording> {
    let mut options: Vec<OsString> = vec!["--record".into(), directory.into()];
    if let Some(mpi) = &arguments.mpi {
        options.extend(["--mpi".into(), mpi.into()]);
    }
    let progress = Progress::of_run("recording a run");
    let longest = Duration::from_secs(arguments.seconds);
    let run = job::run(&launch.under_exec(None, &options)?, None, input, longest);
    drop(progress);
    let run = run?;
    if run.ended != Ended::Code(0) {
        let failure = Failure::new(format!("the recorded run {}", run.end()));
        let failure = match run.ended {
            Ended::Never(_) => failure.with_hint("--seconds sets this limit"),
            _ => failure,
        };
        return Err(input.explained(failure));
    }
    traffic::read(directory).map_err(|failure| {
        failure.with_hint("is TMPDIR shared by all nodes? set it to a directory that is")
    })
}

/// Writes the profile of a forecast, without running anything.
pub(crate) fn write_predicted(
    recording: &cartograph_traffic::Recording,
    machine: &Machine,
    forecast: &Forecast,
    file: &Path,
) -> Result<()> {
    let Some(best) = forecast.gaining().into_iter().next() else {
        return Err(Failure::new(
            "--profile: no placement is predicted to be faster, so there is no profile",
        ));
    };
    let variant = Variant::predicted(best, &forecast.all[0], machine);
    output::write(file, &variant.profile(recording, machine, None))
}
