//! A run of a job, without Cartograph unless the command line loads it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use cartograph_core::mapping::Stop;

use super::input::Input;
use super::question::Question;
use super::signals;
use super::watched::{self, Limits, Run};
use crate::error::{Cause, Failure, Result};

/// The command got a signal to end.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The number of the first such signal, and how many there were.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Makes Ctrl-C and other terminating signals end the running job as well.
pub fn end_jobs_when_interrupted() {
    signals::on_end(|signal| {
        let _ = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
        IS_INTERRUPTED.store(true, Ordering::Relaxed);
        COUNT.fetch_add(1, Ordering::Release);
    });
}

/// Lets a search end when the user interrupts the command.
pub fn stop() -> Stop {
    Stop(Some(&IS_INTERRUPTED))
}

/// Runs a command in its own process group, in a directory if one is given, with the input on stdin, and without
/// variables that would load Cartograph other than through the command itself.
pub fn run(
    words: &[OsString],
    directory: Option<&Path>,
    input: &Input,
    longest: Duration,
) -> Result<Run> {
    let signals = &|| COUNT.load(Ordering::Acquire);
    run_within(words, directory, input, &Limits { longest, signals, is_answer: None })
}

fn run_within(
    words: &[OsString],
    directory: Option<&Path>,
    input: &Input,
    limits: &Limits<'_>,
) -> Result<Run> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(input.open()?);
    if let Some(directory) = directory {
        // Open MPI's launcher takes the directory from PWD.
        command.current_dir(directory).env("PWD", directory);
    }
    let settings = env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.as_bytes().starts_with(b"CARTOGRAPH_")) {
        // The location of libraries is meant only for the command.
        if name != "CARTOGRAPH_LIB_DIR" {
            command.env_remove(name);
        }
    }
    if let Some(preloaded) = env::var_os("LD_PRELOAD") {
        command.env("LD_PRELOAD", without_own(&preloaded));
    }
    // A library that is linked, or loaded some other way, must not reorder the baseline.
    command.env("CARTOGRAPH_REORDER", "off");
    if is_interrupted() {
        return Err(interrupted());
    }
    let run = watched::run(&mut command, limits);
    if is_interrupted() { Err(interrupted()) } else { run }
}

/// Runs a command before a job; returns all that it prints.
pub fn ask(question: &Question<'_>) -> Option<String> {
    let Question { words, longest, is_answer } = *question;
    let limits = Limits { longest, signals: &|| COUNT.load(Ordering::Acquire), is_answer };
    let run = run_within(words, None, &Input::Nothing, &limits).ok()?;
    Some(run.stdout + &run.stderr)
}

/// True if the user has interrupted the runs.
pub fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// The failure of a command that the user has interrupted.
pub fn interrupted() -> Failure {
    Failure::new("interrupted").with_cause(Cause::Signal(SIGNAL.load(Ordering::Relaxed)))
}

/// The value of LD_PRELOAD without Cartograph's libraries, which a loaded module may have set.
fn without_own(preloaded: &OsStr) -> OsString {
    let is_own = |path: &&[u8]| {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        name.starts_with(b"libcartograph")
    };
    let paths = preloaded.as_bytes().split(|byte| b": ".contains(byte));
    OsString::from_vec(paths.filter(|path| !is_own(path)).collect::<Vec<_>>().join(&b':'))
}
