//! `cartograph run`: starts a job with its own command, in the best placement learned from earlier jobs of the program.
//! Whatever goes wrong here, the job runs as it would without this command.

mod arms;
mod known;
mod learned;
mod nodes;
mod start;

use std::env;
use std::ffi::{OsStr, OsString};
use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use cartograph_core::launcher::{Line, Role};
use cartograph_core::learn::{Conditions, Entry, Reason, Run, choose, shape};

use crate::arms::{Arm, Placer, Start, Way};
use crate::exec;
use crate::exec::program::{find_program, needs_mpi};
use crate::output::{Failure, say};
use crate::store::{JOBS, Key, Store, program_at};
use arms::Placing;
pub(crate) use known::{Arguments as KnownArguments, run as known};
use learned::{Lesson, Nodes};
use nodes::{Allocation, Places};
pub(crate) use nodes::{free_cores, print_place};
pub(crate) use start::under;
use start::{Ended, Signals};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print nothing at the end of the job
    #[arg(long)]
    quiet: bool,
    /// Use the best known placement in this job, without a trial
    #[arg(long)]
    no_trial: bool,
    /// A name for the program, to distinguish jobs with the same file and number of processes
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Reorder the grids that the program creates with reorder = 1, even without a check by cartograph try
    #[arg(long)]
    moves_grids: bool,
    /// Reorder MPI_COMM_WORLD if the launcher cannot place ranks (experimental)
    #[arg(long)]
    world: bool,
    /// The command that starts the job: mpiexec -n 64 ./app input
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// A job makes no trial if its remaining time is less than the longest such job times this factor.
const MARGIN: f64 = 1.5;

/// The time limit for a launcher to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// A job that is about to start.
struct Job {
    words: Vec<OsString>,
    /// The program's name for messages.
    name: String,
    /// The lesson of this job, or why there is none.
    lesson: Result<Lesson, String>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let signals = match Signals::hold() {
        Ok(signals) => signals,
        Err(error) => {
            say(&format!("cannot block signals: {error}"));
            return ExitCode::from(1);
        }
    };
    start::become_job_on_panic(&arguments.command);
    let Job { words, name, lesson } = prepare(arguments, &signals);
    drop(panic::take_hook());
    let ended = match signals.run(&words) {
        Ok(ended) => ended,
        Err(error) => {
            say(&format!("cannot run {}: {error}", words[0].to_string_lossy()));
            return ExitCode::from(Failure::NOT_FOUND);
        }
    };
    start::end_as_job_on_panic(ended);
    let line = match (lesson, ended) {
        (Err(why), _) => why,
        (Ok(lesson), Ended::Code(0)) => {
            lesson.learn(&name).unwrap_or_else(|why| format!("{name}: {why}"))
        }
        (Ok(lesson), Ended::Code(code)) => {
            lesson.failed();
            format!("{name} exited with code {code}; nothing learned from this run")
        }
        (Ok(_), Ended::Interrupted(_) | Ended::Signal(_)) => {
            format!("{name} was ended by a signal; nothing learned from this run")
        }
    };
    if !arguments.quiet && !line.is_empty() {
        say(&line);
    }
    match ended {
        Ended::Code(code) | Ended::Interrupted(code) => ExitCode::from(code),
        Ended::Signal(signal) => ExitCode::from(start::end_by(signal)),
    }
}

/// Decides how to start the job.
fn prepare(arguments: &Arguments, signals: &Signals) -> Job {
    let command = &arguments.command;
    let name =
        |words: &[OsString]| words[program_at(words).unwrap_or(0)].to_string_lossy().into_owned();
    let unchanged = |name, why| Job { words: command.clone(), name, lesson: Err(why) };
    let line = match line(command, signals) {
        Ok(line) => line,
        Err(why) => return unchanged(name(command), format!("{why}; the job ran unchanged")),
    };
    let name = name(&line.program);
    match lesson(arguments, &line, &name, signals) {
        Err(why) => unchanged(name, why),
        Ok((start, lesson)) => match recorded(&start, &lesson) {
            Some(words) => Job { words, name, lesson: Ok(lesson) },
            None => unchanged(
                name,
                "cannot locate the cartograph executable; the job ran unchanged".into(),
            ),
        },
    }
}

/// Parses the launcher's command line.
fn line(command: &[OsString], signals: &Signals) -> Result<Line, String> {
    let words = || command.iter().map(|word| word.to_string_lossy());
    if let Some(word) = words().find(|w| w.contains("CARTOGRAPH_") || w.contains("libcartograph")) {
        return Err(format!("the command already sets {word}"));
    }
    if words().any(|word| word == ":") {
        return Err("MPMD jobs are not placed".into());
    }
    let prints = |launcher: &OsStr| {
        let printed = |option: &str| {
            let words = [launcher.to_owned(), option.into()];
            signals.ask(&words, PATIENCE).ok().flatten().unwrap_or_default()
        };
        let version = printed("--version");
        // Hydra's options also depend on how it was built.
        if version.contains("HYDRA") { version + &printed("--help") } else { version }
    };
    let mut line = Line::read(command, None, prints, None);
    if line.is_err() {
        // Unknown options: the program is the first word that is linked with an MPI.
        let linked = |word: &OsString| find_program(word).is_ok_and(|program| needs_mpi(&program));
        if let Some(at) = command.iter().position(linked).filter(|at| *at > 0) {
            line = Line::read(command, Some(at), prints, None);
        }
    }
    let line = line.map_err(|why| why.to_string())?;
    if line.names_programs() {
        return Err("MPMD jobs are not placed".into());
    }
    if line.allocates(|name| env::var_os(name).is_some()) {
        return Err(format!(
            "outside an allocation, the nodes of {} are unknown before the job; use it in a job script",
            line.launcher.name
        ));
    }
    if line.processes() == Some(1) {
        return Err("a job of one process; nothing to place".into());
    }
    let program = program_at(&line.program);
    let program = program.map(|at| Path::new(&line.program[at]).file_name());
    match program {
        None => Err(format!("{} not found", line.program[0].to_string_lossy())),
        Some(name) if name == Some(OsStr::new("cartograph")) => {
            Err("the command already runs cartograph".into())
        }
        Some(_) => Ok(line),
    }
}

/// The start of the job in the chosen placement, and the lesson to learn from it.
fn lesson(
    arguments: &Arguments,
    line: &Line,
    name: &str,
    signals: &Signals,
) -> Result<(Start, Lesson), String> {
    let unchanged = |why: &str| format!("{why}; the job ran unchanged");
    let program = program_at(&line.program).map(|at| find_program(&line.program[at]));
    if let Some(Ok(program)) = program {
        exec::check_recorder(&program).map_err(|failure| unchanged(&failure.text))?;
    }
    let store = Store::open().map_err(|why| unchanged(&why))?;
    let key = Key::of(&line.clone().into(), arguments.name.as_deref())
        .ok_or_else(|| unchanged("cannot read the program"))?;
    let directory = store.folder(JOBS).and_then(tempfile::tempdir_in);
    let directory =
        directory.map_err(|error| unchanged(&format!("cannot write to the store: {error}")))?;
    let entries = store.entries(&key);
    let placing = Placing::new(line, &store, arguments.world, arguments.moves_grids);
    let (arm, nodes, reason) = (None, None, Reason::Best);
    let is_known = false;
    let mut lesson = Lesson { store, key, directory, arm, nodes, reason, placing, is_known };
    let words = line.words();
    let own_order = || Start::of(line.clone().into());
    // The lines of `cartograph where` would end up in the job's own output files.
    if line.options.iter().any(|given| given.role == Role::Output) {
        return Err(unchanged("the launcher redirects the output to files"));
    }
    let mut allocation = Allocation::read(&lesson.store, &words);
    // Even for the first job: if nodes lack this command, the job must not be started through it.
    if allocation.own.is_none() {
        allocation.own = Places::ask(signals, &line.clone().into());
        allocation.keep(&lesson.store, &words);
    }
    let own = allocation.own.clone();
    let own = own.ok_or_else(|| unchanged("the launcher does not start `cartograph where`"))?;
    let (machine, names) =
        own.machine().ok_or_else(|| unchanged("the nodes of the job are unknown"))?;
    if names.len() < 2 {
        return Err("all processes are on one node; nothing to place".into());
    }
    let shape = shape(machine.nodes());
    lesson.nodes = Some(Nodes { names: names.clone(), shape, ranks: own.ranks() });
    let entry = entries.into_iter().find(|entry| entry.processes == own.ranks());
    let found =
        entry.as_ref().and_then(|entry| Some((entry, lesson.placing.arms(entry, &machine)?)));
    let Some((entry, found)) = found else { return Ok((own_order(), lesson)) };
    lesson.is_known = true;
    let (mut arms, means) = found.map_err(|why| unchanged(&why))?;
    if !arms.is_empty() && arms.iter().all(|arm| entry.is_blamed(&arm.order)) {
        lesson.reason = Reason::Check;
        return Ok((own_order(), lesson));
    }
    arms.retain(|arm| !entry.is_blamed(&arm.order));
    if arms.is_empty() {
        return Err(format!("{name}: no placement is predicted to help on these nodes"));
    }
    let (runs, predicted) = known_runs(entry, shape, &arms);
    let conditions = Conditions {
        shape,
        experience: &entry.experience(shape),
        in_a_hurry: arguments.no_trial || is_short(entry, shape),
        seed: lesson.key.build,
    };
    let choice = choose(&predicted, &runs, &conditions);
    lesson.reason = choice.reason;
    let Some(arm) = choice.arm.checked_sub(1).map(|at| arms[at].clone()) else {
        return Ok((own_order(), lesson));
    };
    let file = lesson.directory.path().join("placement");
    let placer =
        Placer::new(line.clone().into(), means.by_launcher, means.setting, own.free_cores());
    let start = placer.start(&arm, &machine, &names, &file);
    let start = start.map_err(|failure| failure.text).and_then(|start| start);
    let start = start.map_err(|why| unchanged(&why))?;
    let checked = allocation.checked.get(&arm.order).cloned();
    let checked = checked.unwrap_or_else(|| {
        let found = match arm.way {
            Way::Launcher => match Places::ask(signals, &start.launch) {
                None => Err("the launcher rejected the rank file".to_owned()),
                Some(found) if !found.are(&arm.node_of, &names, &own) => {
                    Err("the launcher did not place ranks as in the rank file".to_owned())
                }
                Some(_) => Ok(true),
            },
            // Processes that cannot read it would not take part while the others wait.
            Way::World if Places::ask_with(signals, &start.launch, &file).is_none() => {
                Err("not all nodes can read the store".to_owned())
            }
            _ => Ok(true),
        };
        allocation.checked.insert(arm.order.clone(), found.clone());
        allocation.keep(&lesson.store, &words);
        found
    });
    checked.map_err(|why| unchanged(&why))?;
    lesson.arm = Some(arm);
    Ok((start, lesson))
}

/// The runs of an entry, for nodes of this shape, and the predicted gains, as arguments of the policy.
fn known_runs(entry: &Entry, shape: u64, arms: &[Arm]) -> (Vec<Run>, Vec<f64>) {
    let orders: Vec<String> = arms.iter().map(|arm| arm.order.clone()).collect();
    let predicted = std::iter::once(1.0).chain(arms.iter().map(Arm::gain));
    (entry.runs_everywhere(shape, &orders), predicted.collect())
}

/// True if little more time is left for the job than such jobs took.
fn is_short(entry: &Entry, shape: u64) -> bool {
    let end = env::var("SLURM_JOB_END_TIME").ok().and_then(|text| text.parse::<f64>().ok());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let (Some(end), Ok(now)) = (end, now) else { return false };
    let runs = entry.runs.iter().filter(|run| run.shape == shape);
    let longest = runs.map(|run| run.seconds).fold(0.0, f64::max);
    end - now.as_secs_f64() < longest * MARGIN
}

/// The command line of a start, with the recorder before the program.
fn recorded(start: &Start, lesson: &Lesson) -> Option<Vec<OsString>> {
    let directory = lesson.directory.path().join("run.traffic");
    // The traffic is of use once; the work tells whether the times of two runs may be compared.
    let what = if lesson.is_known { "work" } else { "calls" };
    start.words(&["--record".into(), directory.into(), "--limited".into(), what.into()]).ok()
}
