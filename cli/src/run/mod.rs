//! `cartograph run`: starts a job as its command says, and in the best placement that earlier jobs of the program have
//! taught. Whatever goes wrong here, the job runs as without it.

mod arms;
mod identity;
mod known;
mod learned;
mod nodes;
mod start;
mod store;

use std::env;
use std::ffi::{OsStr, OsString};
use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use cartograph_core::launcher::{Format, Line, Placement};
use cartograph_core::learn::{Conditions, Entry, Reason, Run, choose, shape};

use crate::exec;
use crate::exec::program::{find_program, linked_mpi};
use crate::output::{Failure, say};
use arms::Arm;
pub(crate) use known::{Arguments as KnownArguments, run as known};
use learned::{Lesson, Nodes};
pub(crate) use nodes::print_place;
use nodes::{Allocation, Places};
pub(crate) use start::under;
use start::{Ended, Signals};
use store::{JOBS, Store};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print nothing at the end of the job
    #[arg(long)]
    quiet: bool,
    /// No trial in this job: use the best known placement
    #[arg(long)]
    no_trial: bool,
    /// A name for the program, to distinguish jobs with the same file and number of processes
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// The directory of the store; default: $CARTOGRAPH_STORE or ~/.local/state/cartograph
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// The command that starts the job: mpiexec -n 64 ./app input
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Nothing is tried in a job that has less than this part of its time left beyond what such jobs took.
const MARGIN: f64 = 1.5;

/// The longest that a launcher may take to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// A job that is about to start.
struct Job {
    words: Vec<OsString>,
    /// The lesson, or why there is no lesson.
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
    let Job { words, lesson } = prepare(arguments, &signals);
    drop(panic::take_hook());
    let ended = match signals.run(&words) {
        Ok(ended) => ended,
        Err(error) => {
            say(&format!("cannot run {}: {error}", words[0].to_string_lossy()));
            return ExitCode::from(Failure::NOT_FOUND);
        }
    };
    start::end_as_job_on_panic(ended);
    let name = name(&arguments.command);
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

/// The program's name for messages.
fn name(command: &[OsString]) -> String {
    let program = identity::program_at(command).map_or(&command[0], |at| &command[at]);
    program.to_string_lossy().into_owned()
}

/// Finds out how to start a job.
fn prepare(arguments: &Arguments, signals: &Signals) -> Job {
    let as_it_is = |why: String| Job { words: arguments.command.clone(), lesson: Err(why) };
    let command = &arguments.command;
    match line(command, signals) {
        Err(why) => as_it_is(format!("{why}; the job ran unchanged")),
        Ok(line) => match lesson(arguments, &line, signals) {
            Err(why) => as_it_is(why),
            Ok((line, lesson)) => match recorded(&line, &lesson) {
                Some(words) => Job { words, lesson: Ok(lesson) },
                None => as_it_is(
                    "cannot locate the cartograph executable; the job ran unchanged".into(),
                ),
            },
        },
    }
}

/// Takes the launcher's line apart.
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
        // Which options Hydra has depends on how it was built as well.
        if version.contains("HYDRA") { version + &printed("--help") } else { version }
    };
    let mut line = Line::read(command, None, prints, None);
    if line.is_err() {
        // Options that no table has: the program is the first word that is linked with an MPI.
        let linked = |word: &OsString| {
            find_program(word).is_ok_and(|program| linked_mpi(&program).is_some())
        };
        if let Some(at) = command.iter().position(linked).filter(|at| *at > 0) {
            line = Line::read(command, Some(at), prints, None);
        }
    }
    let line = line.map_err(|why| why.to_string())?;
    if line.names_programs() {
        return Err("MPMD jobs are not placed".into());
    }
    if line.processes() == Some(1) {
        return Err("a job of one process; nothing to place".into());
    }
    let program = identity::program_at(&line.program);
    let program = program.map(|at| Path::new(&line.program[at]).file_name());
    match program {
        None => Err(format!("{} cannot be found", line.program[0].to_string_lossy())),
        Some(name) if name == Some(OsStr::new("cartograph")) => {
            Err("the command already runs cartograph".into())
        }
        Some(_) => Ok(line),
    }
}

/// The line that starts the job in the placement that is chosen, and what that teaches.
fn lesson(arguments: &Arguments, line: &Line, signals: &Signals) -> Result<(Line, Lesson), String> {
    let as_it_is = |why: &str| format!("{why}; the job ran unchanged");
    let program = identity::program_at(&line.program).map(|at| find_program(&line.program[at]));
    if let Some(Ok(program)) = program {
        exec::check_recorder(&program).map_err(|failure| as_it_is(&failure.text))?;
    }
    let store = Store::open(arguments.store.as_deref()).map_err(|why| as_it_is(&why))?;
    let launcher = line.start.first().map_or(OsStr::new(""), |word| word);
    let key = identity::key(&line.program, arguments.name.as_deref(), launcher)
        .ok_or_else(|| as_it_is("cannot read the program"))?;
    let directory = store.folder(JOBS).and_then(tempfile::tempdir_in);
    let directory = directory.map_err(|error| as_it_is(&format!("the store: {error}")))?;
    let entries = store.entries(&key);
    let mut lesson = Lesson { store, key, directory, arm: None, nodes: None, reason: Reason::Best };
    let words = line.words();
    // What `cartograph where` prints would be in the job's own output.
    let writes = |word: &OsString| {
        let word = word.to_string_lossy();
        let start = word.split('=').next().unwrap_or_default();
        ["-o", "--output", "--output-filename", "-outfile-pattern"].contains(&start)
    };
    if line.options.iter().flat_map(|given| &given.words).any(writes) {
        return Err(as_it_is("the launcher redirects the output to files"));
    }
    let mut allocation = Allocation::read(&lesson.store, &words);
    // Also for the first job: where the nodes do not have this command, the job must not be started by it.
    if allocation.own.is_none() {
        allocation.own = Places::ask(signals, &words);
        allocation.keep(&lesson.store, &words);
    }
    let own = allocation.own.clone();
    let own = own.ok_or_else(|| as_it_is("the launcher does not start `cartograph where`"))?;
    let (machine, names) =
        own.machine().ok_or_else(|| as_it_is("the nodes of the job are unknown"))?;
    if names.len() < 2 {
        return Err("all processes are on one node; nothing to place".into());
    }
    let shape = shape(machine.nodes());
    lesson.nodes = Some(Nodes { names: names.clone(), shape, ranks: own.ranks() });
    let entry = entries.into_iter().find(|entry| entry.processes == own.ranks());
    let Some(entry) = entry.filter(|entry| entry.traffic.is_some()) else {
        return Ok((line.clone(), lesson));
    };
    let placement = line
        .placement(&entry.mpi, |name| env::var(name).ok())
        .map_err(|why| as_it_is(&why.to_string()))?;
    let mut arms = arms::arms(&entry, &machine);
    if !arms.is_empty() && arms.iter().all(|arm| entry.is_blamed(&arm.order)) {
        lesson.reason = Reason::Check;
        return Ok((line.clone(), lesson));
    }
    arms.retain(|arm| !entry.is_blamed(&arm.order));
    if arms.is_empty() {
        return Err(format!(
            "{}: no placement is predicted to help on these nodes",
            name(&arguments.command)
        ));
    }
    let (runs, predicted) = known_runs(&entry, shape, &arms);
    let conditions = Conditions {
        experience: &entry.experience(shape),
        in_a_hurry: arguments.no_trial || is_short(&entry, shape),
        seed: lesson.key.build,
    };
    let choice = choose(&predicted, &runs, &conditions);
    lesson.reason = choice.reason;
    let Some(arm) = choice.arm.checked_sub(1).map(|at| arms[at].clone()) else {
        return Ok((line.clone(), lesson));
    };
    let placed = placed(line, placement, &arm, &names, &own, lesson.directory.path())
        .map_err(|why| as_it_is(&why))?;
    let checked = allocation.checked.get(&arm.order).cloned();
    let checked = checked.unwrap_or_else(|| {
        let found = Places::ask(signals, &placed.words());
        let found = match found {
            None => Err("the launcher rejected the rank file".to_owned()),
            Some(found) if !found.are(&arm.node_of, &names, &own) => {
                Err("the launcher did not place ranks as in the rank file".to_owned())
            }
            Some(_) => Ok(true),
        };
        allocation.checked.insert(arm.order.clone(), found.clone());
        allocation.keep(&lesson.store, &words);
        found
    });
    checked.map_err(|why| as_it_is(&why))?;
    lesson.arm = Some(arm);
    Ok((placed, lesson))
}

/// The runs of an entry on nodes of this shape as the policy takes them, and the predicted gains.
fn known_runs(entry: &Entry, shape: u64, arms: &[Arm]) -> (Vec<Run>, Vec<f64>) {
    let orders: Vec<String> = arms.iter().map(|arm| arm.order.clone()).collect();
    let predicted = std::iter::once(1.0).chain(arms.iter().map(|arm| arm.predicted));
    (entry.runs_of(shape, &orders), predicted.collect())
}

/// Returns whether the job's time limit is near what such jobs took.
fn is_short(entry: &Entry, shape: u64) -> bool {
    let end = env::var("SLURM_JOB_END_TIME").ok().and_then(|text| text.parse::<f64>().ok());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let (Some(end), Ok(now)) = (end, now) else { return false };
    let runs = entry.runs.iter().filter(|run| run.shape == shape);
    let longest = runs.map(|run| run.seconds).fold(0.0, f64::max);
    end - now.as_secs_f64() < longest * MARGIN
}

/// The line that places ranks, with a rank file in a directory.
fn placed(
    line: &Line,
    placement: Placement,
    arm: &Arm,
    names: &[String],
    own: &Places,
    directory: &Path,
) -> Result<Line, String> {
    let mut text = placement.format.write(&arm.node_of, names)?;
    if placement.format == Format::Openmpi && own.share_cores() {
        // Processes that have more than a core, for their threads, keep the cores of their node.
        let last = own.cores() - 1;
        let slot = |line: &str| {
            let rank = line.split(" slot=").next().unwrap_or_default();
            format!("{rank} slot=0-{last}\n")
        };
        text = text.lines().map(slot).collect();
    }
    let file = directory.join("ranks");
    std::fs::write(&file, &text).map_err(|error| format!("the rank file: {error}"))?;
    Ok(line.placed(placement, file.as_os_str(), &text, arm.node_of.len()))
}

/// The words of a line with the recorder before the program.
fn recorded(line: &Line, lesson: &Lesson) -> Option<Vec<OsString>> {
    let own = env::current_exe().ok()?;
    let directory = lesson.directory.path().join("run.traffic");
    let exec =
        [own.into_os_string(), "exec".into(), "--record".into(), directory.into(), "--".into()];
    Some([&line.words()[..], &exec, &line.program].concat())
}
