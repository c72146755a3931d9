//! Decides how a job starts: unchanged, recorded, or in a placement.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use cartograph_shim::splitmix::digest;

use super::inputs::Inputs;
use super::kept::{self, Kept, Rest};
use super::learned::Lesson;
use super::nodes::{Nodes, Refusal, unchanged};
use super::surroundings::Surroundings;
use super::{choice, with_relays};
use crate::launch::{Launch, Line, program_word};
use crate::learn::{Entry, Guess, Reason};
use crate::place::{Means, Start};
use crate::processes::Ended;
use crate::processes::foreground::JobEnd;
use crate::store::{Key, Store};

/// A job as the user starts it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The command that starts it.
    pub command: &'a [OsString],
    /// The user's name for its program.
    pub name: Option<&'a str>,
    /// True if it takes the best known placement, without a trial.
    pub no_trial: bool,
    /// True if its ranks are known to choose devices by their place on a node.
    pub are_devices_local: bool,
}

/// A job that is about to start.
pub struct Job {
    /// Its command line.
    pub words: Vec<OsString>,
    /// The lesson of this job, or why there is none.
    pub(super) lesson: Result<Lesson, String>,
}

impl Job {
    /// Decides how to start the job. The store may be unusable.
    pub fn decide(
        request: &Request<'_>,
        store: Result<Store, String>,
        around: &impl Surroundings,
    ) -> Self {
        let command = request.command;
        let decided = line(command, &store, around).map_err(|why| unchanged(&why));
        let decided = decided.and_then(|line| {
            let (start, lesson) = lesson(request, &line, store, around)?;
            let words = recorded(&start, &lesson);
            let words = words.ok_or_else(|| unchanged("cannot locate the cartograph executable"));
            Ok((words?, lesson))
        });
        match decided {
            Ok((words, lesson)) => Self { words, lesson: Ok(lesson) },
            Err(why) => Self { words: command.to_vec(), lesson: Err(why) },
        }
    }

    /// Learns from the job, which has ended, and returns the line about it.
    pub fn learn(self, end: JobEnd) -> String {
        let lesson = match self.lesson {
            Ok(lesson) => lesson,
            Err(why) => return why,
        };
        let name = lesson.name.clone();
        match end.ended {
            Ended::Code(0) => lesson.learn(&name).unwrap_or_else(|why| format!("{name}: {why}")),
            Ended::Code(code) if end.after_signal => format!(
                "{name} exited with code {code} after a signal; nothing learned from this run"
            ),
            Ended::Code(code) => {
                lesson.failed();
                format!("{name} exited with code {code}; this run is not compared")
            }
            Ended::Signal(_) => {
                format!("{name} was ended by a signal; nothing learned from this run")
            }
        }
    }
}

/// Reads the launcher's command line.
fn line(
    command: &[OsString],
    store: &Result<Store, String>,
    around: &impl Surroundings,
) -> Result<Line, String> {
    let prints = |launcher: &OsStr| kept::launcher_output(launcher, store, around);
    let (_, line) = Launch::read(command, None, prints).map_err(|failure| failure.text)?;
    let line = line.map_err(|why| why.to_string())?;
    if let Some(command) = line.runs_once() {
        let command = command.to_string_lossy();
        return Err(format!("cartograph run could start {command} twice; put it after {command}"));
    }
    if !line.knows_ranks(|name| env::var(name).ok()) {
        return Err("srun places several programs only with --mpi=pmix or pmi2".into());
    }
    // Relays need not know the nodes before the job.
    let asks = !line.takes_relays(|name| env::var(name).ok());
    if asks && line.allocates(|name| env::var_os(name).is_some()) {
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

/// The start of the job in the chosen placement, and the lesson to learn from it.
fn lesson(
    request: &Request<'_>,
    line: &Line,
    store: Result<Store, String>,
    around: &impl Surroundings,
) -> Result<(Start, Lesson), String> {
    let mut lesson = empty(request, line, store, around)?;
    if line.takes_relays(|name| env::var(name).ok()) {
        let start = relayed(request.no_trial, line, &mut lesson)?;
        return Ok((start, lesson));
    }
    let known = line.processes().and_then(|count| lesson.store.entry(&lesson.key, count));
    if let Some(entry) = &known {
        // Whatever its nodes are: the launcher need not be asked for them.
        Means::of(line, &entry.mpi).map_err(|why| unchanged(&why))?;
    }
    lesson.program = program_number(&lesson, known.as_ref());
    let mut kept = Kept::read(&lesson.store, &line.without_programs());
    let is_here = kept.own().is_some();
    let is_looked_at = looks(&mut kept, &lesson, is_here)?;
    let mut job = Nodes::find(line, kept, &lesson, around)?;
    let entry = lesson.store.entry(&lesson.key, job.own.ranks());
    lesson.others = lesson.store.others(&lesson.key, job.own.ranks());
    let chosen = match &entry {
        Some(entry) => {
            let on = (entry, &job.machine, Some(&job.own));
            choice::choose(request.no_trial, on, &mut lesson)
        }
        None => Ok(lesson.scaled(job.own.ranks()).and_then(|known| {
            choice::predict(request.no_trial, &known, &job.machine, &mut lesson)
        })),
    };
    lesson.keeps_calls &= !job.kept.has_ended(&lesson.program);
    let start = match chosen {
        Err(Refusal::NothingHelps) => {
            job.kept.gives_up(&lesson.store, &lesson.program);
            if !is_looked_at {
                return Err(nothing_helps(&lesson.name));
            }
            Start::of(line.clone().into())
        }
        Err(Refusal::Because(why)) => return Err(why),
        Ok(None) => Start::of(line.clone().into()),
        Ok(Some((arm, means))) => {
            let start = job.placed(&arm, means, &lesson, around)?;
            lesson.arm = Some(arm);
            start
        }
    };
    lesson.nodes = Some(job.assumed());
    Ok((start, lesson))
}

/// The start of a job whose ranks are placed by relays. Its nodes are unknown before it: if nothing helps on those of the last
/// one, this one is recorded, and the next ones rest if its nodes were the same.
fn relayed(no_trial: bool, line: &Line, lesson: &mut Lesson) -> Result<Start, String> {
    let entry = with_relays::entry(line, lesson);
    let nodes = entry.as_ref().map_or(0, |entry| digest(entry.nodes.as_bytes()));
    lesson.program = format!("{}-{nodes:016x}", program_number(lesson, entry.as_ref()));
    let mut kept = Kept::read(&lesson.store, &line.without_programs());
    looks(&mut kept, lesson, true)?;
    if let Some(processes) = entry.as_ref().map(|entry| entry.processes).or(line.processes()) {
        lesson.others = lesson.store.others(&lesson.key, processes);
    }
    match with_relays::start(no_trial, line, entry, lesson) {
        Ok(start) => Ok(start),
        Err(Refusal::Because(why)) => Err(why),
        Err(Refusal::NothingHelps) => {
            kept.gives_up(&lesson.store, &lesson.program);
            Ok(with_relays::unplaced(line, lesson))
        }
    }
}

/// True if a program that taught nothing is to be examined again. `is_here` if the job's nodes are those of the last
/// one.
///
/// # Errors
///
/// Why the job starts at once.
fn looks(kept: &mut Kept, lesson: &Lesson, is_here: bool) -> Result<bool, String> {
    match kept.rests(&lesson.store, &lesson.program, is_here) {
        Rest::NothingHelps => Err(nothing_helps(&lesson.name)),
        Rest::Unrecorded(why) => {
            Err(unchanged(&format!("{}: in an earlier job, {why}", lesson.name)))
        }
        rest => Ok(rest == Rest::Over),
    }
}

/// The line for a job that no placement helps.
fn nothing_helps(name: &str) -> String {
    format!("{name}: no placement is predicted to help on these nodes")
}

/// A number for a program with its inputs; files that its jobs write are not inputs.
fn program_number(lesson: &Lesson, entry: Option<&Entry>) -> String {
    let outputs = entry.map_or(&[][..], |entry| &entry.outputs);
    let numbers = [lesson.key.build, lesson.key.mpi, lesson.inputs.digest(outputs)];
    format!("{:016x}", digest(&numbers.map(u64::to_le_bytes).concat()))
}

/// The lesson of a job, when only its program is known.
fn empty(
    request: &Request<'_>,
    line: &Line,
    store: Result<Store, String>,
    around: &impl Surroundings,
) -> Result<Lesson, String> {
    let checked = line.programs.all().try_for_each(|words| around.check_recorder(words));
    checked.map_err(|failure| unchanged(&failure.text))?;
    let store = store.map_err(|why| unchanged(&why))?;
    let key =
        Key::of(&line.clone().into(), request.name).map_err(|why| unchanged(&why.to_string()))?;
    let directory = store
        .job_folder()
        .map_err(|error| unchanged(&format!("cannot write to the store: {error}")))?;
    Ok(Lesson {
        name: shown_name(line, &key),
        line: line.clone(),
        store,
        key,
        directory,
        arm: None,
        nodes: None,
        relayed: None,
        others: Vec::new(),
        reason: Reason::Best,
        trial: None,
        inputs: Inputs::of(line.programs.all()),
        program: String::new(),
        keeps_calls: true,
        has_candidates: true,
        guess: Guess::default(),
        made_for: 0,
        are_devices_local: request.are_devices_local,
        from: None,
    })
}

/// The program's name for messages: its word in the command line, or the name of its entry if that differs from the file's,
/// as for scripts.
fn shown_name(line: &Line, key: &Key) -> String {
    let words: Vec<_> =
        line.programs.all().map(|words| program_word(words).to_string_lossy()).collect();
    match &words[..] {
        [word] if Path::new(&**word).file_name().is_none_or(|name| *name != *key.program) => {
            key.program.clone()
        }
        words => words.join(" : "),
    }
}

/// The command line of a start, with the recorder before the program.
fn recorded(start: &Start, lesson: &Lesson) -> Option<Vec<OsString>> {
    let directory = lesson.directory.path().join("run.traffic");
    // The messages of each kind of work are recorded once; afterwards, totals suffice to recognize the kind.
    let what = if lesson.keeps_calls { "calls" } else { "work" };
    start.words(&["--record".into(), directory.into(), "--limited".into(), what.into()]).ok()
}

#[cfg(test)]
mod tests;
