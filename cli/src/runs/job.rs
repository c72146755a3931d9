//! A run of a job, with a time limit.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use cartograph_core::mapping::Stop;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::input::Input;
use crate::output::{Failure, Result};
use crate::signals;

/// The time that a launcher has to end its processes after it got a signal, unless the user interrupts again.
const GRACE: Duration = Duration::from_secs(10);

/// The space that must be left on the disk after a run has printed.
const SPARE: usize = 1 << 16;

/// How soon a run notices that it must end.
const PAUSE: Duration = Duration::from_millis(50);

/// The command got a signal to end.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The number of the first such signal, and how many there were.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Code(i32),
    Signal(i32),
    Never(Duration),
}

pub(crate) struct Run {
    pub(crate) ended: Ended,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Never(longest) => write!(f, "did not end within {:.0} s", longest.as_secs_f64()),
        }
    }
}

impl Run {
    /// How the run ended, and the first meaningful line on stderr, if the program or its MPI printed one.
    pub(crate) fn end(&self) -> String {
        let says = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() > 8;
        let lines = || self.stderr.lines().filter(says);
        let is_own = |line: &&str| line.starts_with("cartograph: ");
        let words = lines().find(|line| !is_own(line));
        match words.or_else(|| lines().find(is_own)) {
            Some(words) => format!("{} ({})", self.ended, words.trim()),
            None => self.ended.to_string(),
        }
    }
}

/// Makes Ctrl-C and other terminating signals end the running job as well.
pub(crate) fn end_jobs_when_interrupted() {
    signals::on_end(|signal| {
        let _ = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
        COUNT.fetch_add(1, Ordering::Relaxed);
        IS_INTERRUPTED.store(true, Ordering::Relaxed);
    });
}

/// Lets a search end when the user interrupts the command.
pub(crate) fn stop() -> Stop {
    Stop(Some(&IS_INTERRUPTED))
}

/// Runs a command in its own process group, in a directory if one is given, with the input on stdin, and without
/// variables that would load Cartograph other than through the command itself.
pub(crate) fn run(
    words: &[OsString],
    directory: Option<&Path>,
    input: &Input,
    longest: Duration,
) -> Result<Run> {
    let file = || {
        let both = tempfile::tempfile().and_then(|file| Ok((file.try_clone()?, file)));
        both.map_err(|error| failed_to_keep(&error))
    };
    let ((mut stdout, to_stdout), (mut stderr, to_stderr)) = (file()?, file()?);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(input.open()?).stdout(to_stdout).stderr(to_stderr);
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
    if IS_INTERRUPTED.load(Ordering::Relaxed) {
        return Err(interrupted());
    }
    let started = Instant::now();
    let mut child = command.process_group(0).spawn().map_err(|error| {
        Failure::new(format!("cannot run {}: {error}", words[0].to_string_lossy()))
    })?;
    let group = Pid::from_raw(child.id().cast_signed());
    let (sender, ends) = mpsc::channel();
    // Waits for the exact end: polling would make short runs look alike.
    thread::spawn(move || sender.send((child.wait(), started.elapsed())));
    let waited = wait(&ends, started, longest);
    let took = waited.as_ref().map_or_else(|| started.elapsed(), |(_, took)| *took);
    if waited.is_none() {
        end(group, &ends);
    }
    if IS_INTERRUPTED.load(Ordering::Relaxed) {
        return Err(interrupted());
    }
    let failed = |error| Failure::new(format!("cannot wait for the launcher: {error}"));
    let ended = match waited.map(|(status, _)| status).transpose().map_err(failed)? {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or_default()),
        },
        None => Ended::Never(longest),
    };
    let run = Run { ended, stdout: text(&mut stdout), stderr: text(&mut stderr), took };
    // Output that is cut short for lack of space looks like that of a failed program.
    stderr.write_all(&[0; SPARE]).map_err(|error| failed_to_keep(&error))?;
    Ok(run)
}

/// True if the user has interrupted the runs.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

pub(crate) fn interrupted() -> Failure {
    Failure::new("interrupted").with_code(signals::code(SIGNAL.load(Ordering::Relaxed)))
}

fn failed_to_keep(error: &io::Error) -> Failure {
    Failure::new(format!(
        "cannot write what a run prints to a temporary file in {}: {error}; set TMPDIR to another directory",
        env::temp_dir().display()
    ))
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

/// The end of a child, and its time.
type End = (io::Result<ExitStatus>, Duration);

/// Waits for a child until it ends, the time limit passes, or the command is interrupted.
fn wait(ends: &Receiver<End>, started: Instant, longest: Duration) -> Option<End> {
    loop {
        let left = longest.saturating_sub(started.elapsed());
        let end = ends.recv_timeout(left.min(PAUSE)).ok();
        if end.is_some() || left.is_zero() || IS_INTERRUPTED.load(Ordering::Relaxed) {
            return end;
        }
    }
}

/// Ends a launcher. On SIGTERM it ends its processes, which may have their own groups; the rest of its group is then
/// killed.
fn end(group: Pid, ends: &Receiver<End>) {
    let _ = killpg(group, Signal::SIGTERM);
    let start = Instant::now();
    let has_time = || start.elapsed() < GRACE && COUNT.load(Ordering::Relaxed) < 2;
    let mut has_ended = false;
    while !has_ended && has_time() {
        has_ended = ends.recv_timeout(PAUSE).is_ok();
    }
    let _ = killpg(group, Signal::SIGKILL);
    if !has_ended {
        let _ = ends.recv();
    }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // Unreadable output counts as empty.
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_short_run_is_its_own() {
        let took = |_| run(&["true".into()], None, &Input::Nothing, Duration::MAX).unwrap().took;
        let least = (0..50).map(took).min().unwrap();
        assert!(least < Duration::from_millis(8), "{least:?}");
    }
}
