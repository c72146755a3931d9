//! `cartograph tune`: finds the fastest placement of a program with a recorded run, replay, and interleaved runs.

mod arguments;
mod here;
mod rounds;
mod times;
mod variants;

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cartograph_core::machine::Machine;
use cartograph_core::mapping::Options;
use cartograph_traffic::Recording;

use crate::arms::{Arm, Job, Placer, Way};
use crate::exec;
use crate::output::{self, Failure, Progress, Result};
use crate::run;
use crate::runs::command::Launch;
use crate::runs::input::Input;
use crate::runs::job::{self, Ended};
use crate::store::Key;
use crate::traffic;
pub(crate) use arguments::Arguments;
use here::{Here, program_name};
use rounds::Rounds;

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
    arguments.json.as_deref().map_or(Ok(()), output::check_place)?;
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
    let key = Key::of(&launch, None);
    let line = launch.line(&recording.mpi);
    let launcher = line.as_ref().ok().map(|line| line.launcher.name);
    let placer = Placer::new(launch, line, &recording.mpi, arguments.mpi.as_deref());
    let here =
        Here { recording: &recording, launcher, machine: &machine, placement: placer.format() };
    output::print(&here.text())?;
    let options = Options { stop: job::stop(), ..Options::default() };
    let forecast = variants::forecast(&recording, &machine, &options)?;
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
    let mut chosen = variants::chosen(&forecast, &recording, &machine, &placer);
    if let Some(why) = placer.obstacle().filter(|_| chosen.iter().any(|arm| arm.way == Way::World))
    {
        output::print(&format!(
            "\nthe launcher does not place ranks: {why}; MPI_COMM_WORLD gets another order instead\n"
        ))?;
    }
    if arguments.dims {
        chosen.extend(better.into_iter().find_map(|better| variants::of_dims(better, &machine)));
    }
    if chosen.len() == 1 {
        arguments.json.as_ref().map_or(Ok(()), |json| here.write(json, &forecast, None))?;
        return output::print(
            "\nno placement is predicted to beat the default rank order (or to send fewer bytes in the same time).\n",
        );
    }
    let is_placed = chosen.iter().any(|arm| arm.way == Way::Launcher);
    let cores = if is_placed { free_cores(&placer.launch, &machine) } else { None };
    let nodes = Job { machine: &machine, names: &names, cores };
    let mut rounds = Rounds::new(arguments, &placer, &nodes, &input, chosen, temporary.path())?;
    let interrupted = rounds.run(arguments.runs, start)?;
    output::print(&rounds.text(forecast.unit))?;
    let kept = key.ok_or("cannot read the program".to_owned()).and_then(|key| {
        // Other dims are another program's.
        let runs = rounds.ended().filter(|(arm, _)| !matches!(arm.way, Way::Dims(_)));
        run::keep(&key, &recording, &machine, runs, rounds.failed())
    });
    if let Err(why) = kept {
        output::say(&format!("{why}; cartograph run will not know these runs"));
    }
    let finding = rounds.finding();
    if let Some(json) = &arguments.json {
        here.write(json, &forecast, Some((&rounds, &finding)))?;
    }
    if finding.none_ran {
        return Err(Failure::new(finding.words));
    }
    output::print(&format!("{}\n", finding.words))?;
    if let Some((arm, start)) = finding.best {
        let profile = arm.profile(program_name(&recording), &machine, finding.measured);
        output::write(&file, &profile)?;
        // The second line is the order of the world.
        let orders_world = profile.lines().count() > 1;
        let mut text = format!("\nwritten: {}\n", file.display());
        if let Some(placed) = &start.ranks {
            output::write(&ranks, placed)?;
            text += &used(arm, &placer, &ranks, &nodes);
        }
        if start.ranks.is_none() || orders_world {
            let on = if start.ranks.is_some() { "on other nodes of these sizes, " } else { "" };
            let _ = writeln!(
                text,
                "{on}run: mpiexec -n {} cartograph exec --profile {} PROGRAM",
                recording.size,
                file.display()
            );
        }
        let allows = match arm.way {
            Way::Weights(_) if placer.obstacle().is_some() => "--moves-grids ",
            Way::World => "--world ",
            _ => "",
        };
        if !matches!(arm.way, Way::Dims(_)) {
            let command = arguments.command.join(OsStr::new(" "));
            let command = command.to_string_lossy();
            let _ = writeln!(text, "on any nodes, run: cartograph run {allows}{command}");
        }
        output::print(&text)?;
    }
    match interrupted {
        true => Err(job::interrupted().with_hint("best result so far")),
        false => Ok(()),
    }
}

/// The number of cores of a node, if ranks are not to be bound to one each: where the launcher does not bind them so by
/// itself, as `cartograph where` shows in place of the program, or there are too few.
fn free_cores(launch: &Launch, machine: &Machine) -> Option<usize> {
    const LONGEST: Duration = Duration::from_secs(60);
    let asked =
        launch.of_places().and_then(|words| job::run(&words, None, &Input::Nothing, LONGEST));
    let found = asked.ok().and_then(|run| run::free_cores(&run.stdout));
    found.unwrap_or_else(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        machine.node_sizes().iter().any(|size| *size > cores).then_some(cores)
    })
}

/// The use of a rank file, in words.
fn used(arm: &Arm, placer: &Placer, ranks: &Path, job: &Job<'_>) -> String {
    // Not by the profile, whose order of the world would come on top of the rank file's.
    let combining = "env CARTOGRAPH_COMBINE=on cartograph exec --reorder off PROGRAM";
    let program = if arm.combines { combining } else { "PROGRAM" };
    let Some((usage, names_nodes)) = placer.usage(ranks, job, program) else {
        return String::new();
    };
    let on = if names_nodes { "these nodes, which the rank file names" } else { "this allocation" };
    format!("written: {}\non {on}, run: {usage}\n", ranks.display())
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
) -> Result<Recording> {
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
