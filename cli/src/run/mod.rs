//! `cartograph run`: starts a job with its own command, in the best placement learned from earlier jobs of the program.
//! Whatever goes wrong here, the job runs as it would without this command.

mod arms;
mod candidates;
mod choice;
mod forecasts;
mod inputs;
mod kept;
mod known;
mod learned;
mod nodes;
mod places;
mod relays;
mod start;
mod with_relays;

use std::env;
use std::ffi::{OsStr, OsString};
use std::panic;
use std::process::ExitCode;
use std::time::Duration;

use cartograph_core::launcher::Line;
use cartograph_core::learn::{Guess, Reason, digest};

use crate::arms::Start;
use crate::exec;
use crate::exec::program::find_program;
use crate::exec::wrappers::program_at;
use crate::output::{Failure, say};
use crate::runs::command::Launch;
use crate::store::{ALLOCATIONS, Key, Store};
pub(crate) use inputs::Inputs;
use kept::{Kept, Rest};
pub(crate) use known::{Arguments as KnownArguments, run as known};
use learned::Lesson;
use nodes::{Nodes, Refusal, unchanged};
pub(crate) use places::{free_cores, print_place};
pub(crate) use relays::nodes_of_ranks;
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
    /// The command that starts the job: mpiexec -n 64 ./app input
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

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
            format!("{name} exited with code {code}; this run is not compared")
        }
        (Ok(_), Ended::Interrupted(code)) => {
            format!("{name} exited with code {code} after a signal; nothing learned from this run")
        }
        (Ok(_), Ended::Signal(_)) => {
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

/// Reads the launcher's command line.
fn line(command: &[OsString], signals: &Signals) -> Result<Line, String> {
    let prints = |launcher: &OsStr| printed(launcher, signals);
    let (_, line) = Launch::read(command, None, prints).map_err(|failure| failure.text)?;
    let line = line.map_err(|why| why.to_string())?;
    if line.allocates(|name| env::var_os(name).is_some()) {
        return Err(format!(
            "outside an allocation, the nodes of {} are unknown before the job; use it in a job script",
            line.launcher.name
        ));
    }
    match line.processes() {
        Some(1) => Err("a job of one process; nothing to place".into()),
        _ => Ok(line),
    }
}

/// The output by which a launcher is recognized, which is kept for the next job.
fn printed(launcher: &OsStr, signals: &Signals) -> String {
    let store = Store::open().ok();
    let file = kept::launcher_file(launcher);
    let kept = store.as_ref().zip(file.as_ref());
    if let Some(text) = kept.and_then(|(store, file)| store.read(file)) {
        return text;
    }
    let words = [launcher.to_owned(), "--version".into()];
    let version = signals.ask(&words, PATIENCE).ok().flatten().unwrap_or_default();
    if let Some((store, file)) = kept.filter(|_| !version.is_empty()) {
        let _ = store.folder(ALLOCATIONS).and_then(|_| store.note(file, &version));
    }
    version
}

/// The start of the job in the chosen placement, and the lesson to learn from it.
fn lesson(
    arguments: &Arguments,
    line: &Line,
    name: &str,
    signals: &Signals,
) -> Result<(Start, Lesson), String> {
    let mut lesson = empty(arguments, line)?;
    if line.takes_relays() {
        return with_relays::start(arguments.no_trial, line, lesson);
    }
    let nothing = || format!("{name}: no placement is predicted to help on these nodes");
    lesson.program = program_number(&lesson, line);
    let mut kept = Kept::read(&lesson.store, &line.words());
    let rest = kept.rests(&lesson.store, &lesson.program);
    match rest {
        Rest::NothingHelps => return Err(nothing()),
        Rest::Unrecorded(why) => {
            return Err(unchanged(&format!("{name}: in an earlier job, {why}")));
        }
        Rest::Never | Rest::Over => {}
    }
    let mut job = Nodes::find(line, kept, &lesson, signals)?;
    let entry = lesson.store.entry(&lesson.key, job.own.ranks());
    let chosen = match &entry {
        Some(entry) => choice::choose(arguments.no_trial, (entry, &job.machine), &mut lesson),
        None => Ok(None),
    };
    lesson.keeps_calls &= !job.kept.has_ended(&lesson.program);
    let start = match chosen {
        Err(Refusal::NothingHelps) => {
            job.kept.gives_up(&lesson.store, &lesson.program);
            if rest == Rest::Never {
                return Err(nothing());
            }
            Start::of(line.clone().into())
        }
        Err(Refusal::Because(why)) => return Err(why),
        Ok(None) => Start::of(line.clone().into()),
        Ok(Some((arm, means))) => {
            let start = job.placed(line, &arm, means, &lesson, signals)?;
            lesson.arm = Some(arm);
            start
        }
    };
    lesson.nodes = Some(job.assumed());
    Ok((start, lesson))
}

/// A number for a program with its inputs, of which the files that its jobs write are none.
fn program_number(lesson: &Lesson, line: &Line) -> String {
    let processes = line.processes().and_then(|count| u32::try_from(count).ok());
    let entry = processes.and_then(|count| lesson.store.entry(&lesson.key, count));
    let outputs = entry.map(|entry| entry.outputs).unwrap_or_default();
    let numbers = [lesson.key.build, lesson.key.mpi, lesson.inputs.digest(&outputs)];
    format!("{:016x}", digest(&numbers.map(u64::to_le_bytes).concat()))
}

/// The lesson of a job of which only the program is known yet.
fn empty(arguments: &Arguments, line: &Line) -> Result<Lesson, String> {
    let program = program_at(&line.program).map(|at| find_program(&line.program[at]));
    if let Some(Ok(program)) = program {
        exec::check_recorder(&program).map_err(|failure| unchanged(&failure.text))?;
    }
    let store = Store::open().map_err(|why| unchanged(&why))?;
    let key = Key::of(&line.clone().into(), arguments.name.as_deref())
        .map_err(|why| unchanged(&why.to_string()))?;
    let directory = store
        .job_folder()
        .map_err(|error| unchanged(&format!("cannot write to the store: {error}")))?;
    Ok(Lesson {
        line: line.clone(),
        store,
        key,
        directory,
        arm: None,
        nodes: None,
        relayed: None,
        reason: Reason::Best,
        trial: None,
        inputs: Inputs::of(&line.program),
        program: String::new(),
        keeps_calls: true,
        has_candidates: true,
        guess: Guess::default(),
        made_for: 0,
    })
}

/// The command line of a start, with the recorder before the program.
fn recorded(start: &Start, lesson: &Lesson) -> Option<Vec<OsString>> {
    let directory = lesson.directory.path().join("run.traffic");
    // The messages of a kind of work are of use once; the work tells of which kind a run is.
    let what = if lesson.keeps_calls { "calls" } else { "work" };
    start.words(&["--record".into(), directory.into(), "--limited".into(), what.into()]).ok()
}
