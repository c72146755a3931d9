//! A run of a job, with a limit of time.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::output::{Failure, Result};

/// The time that a launcher has to end its processes after it got a signal.
const GRACE: Duration = Duration::from_secs(10);

/// The exit code of shells for a command that Ctrl-C has ended.
const INTERRUPTED: u8 = 130;

/// Ctrl-C was pressed, or the command was told to end.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

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
            Self::Code(code) => write!(f, "ends with exit code {code}"),
            Self::Signal(signal) => write!(f, "is ended by signal {signal}"),
            Self::Never(longest) => write!(f, "has not ended after {:.0} s", longest.as_secs_f64()),
        }
    }
}

impl Run {
    /// The end of the run in words, and the first meaningful line on stderr, of the program or its MPI if they printed
    /// one.
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

/// Lets Ctrl-C, and being told to end, end the job that runs as well.
pub(crate) fn end_jobs_when_interrupted() {
    // Where it cannot be had, Ctrl-C does what it does by itself.
    let _ = ctrlc::set_handler(|| IS_INTERRUPTED.store(true, Ordering::Relaxed));
}

/// Runs a command in a process group of its own, with nothing on stdin, and without what would bring Cartograph into
/// it but the command itself.
pub(crate) fn run(words: &[OsString], longest: Duration) -> Result<Run> {
    let failed = |error: io::Error| Failure::new(format!("cannot keep what is printed: {error}"));
    let file = || {
        let file = tempfile::tempfile().map_err(failed)?;
        Ok((file.try_clone().map_err(failed)?, file))
    };
    let ((mut stdout, to_stdout), (mut stderr, to_stderr)) = (file()?, file()?);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(to_stdout).stderr(to_stderr);
    let settings = env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.as_bytes().starts_with(b"CARTOGRAPH_")) {
        // Where libraries are is for the command alone.
        if name != "CARTOGRAPH_LIB_DIR" {
            command.env_remove(name);
        }
    }
    if let Some(preloaded) = env::var_os("LD_PRELOAD") {
        command.env("LD_PRELOAD", without_own(&preloaded));
    }
    // A library that is linked or comes from elsewhere moves nobody in the program alone.
    command.env("CARTOGRAPH_REORDER", "off");
    if IS_INTERRUPTED.load(Ordering::Relaxed) {
        return Err(interrupted());
    }
    let started = Instant::now();
    let mut child = command.process_group(0).spawn().map_err(|error| {
        Failure::new(format!("cannot run {}: {error}", words[0].to_string_lossy()))
    })?;
    let waited = wait(&mut child, longest);
    if !matches!(waited, Ok(Some(_))) {
        end(&mut child);
    }
    let took = started.elapsed();
    if IS_INTERRUPTED.load(Ordering::Relaxed) {
        return Err(interrupted());
    }
    let failed = |error| Failure::new(format!("cannot wait for the launcher: {error}"));
    let ended = match waited.map_err(failed)? {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or_default()),
        },
        None => Ended::Never(longest),
    };
    Ok(Run { ended, stdout: text(&mut stdout), stderr: text(&mut stderr), took })
}

/// Returns whether the user has interrupted the runs.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

fn interrupted() -> Failure {
    Failure::new("interrupted").with_code(INTERRUPTED)
}

/// The value of LD_PRELOAD without the libraries of Cartograph, as a module that is loaded has it.
fn without_own(preloaded: &OsStr) -> OsString {
    let is_own = |path: &&[u8]| {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        name.starts_with(b"libcartograph")
    };
    let paths = preloaded.as_bytes().split(|byte| b": ".contains(byte));
    OsString::from_vec(paths.filter(|path| !is_own(path)).collect::<Vec<_>>().join(&b':'))
}

/// Waits for a child to end, until its time is over or the command is interrupted.
fn wait(child: &mut Child, longest: Duration) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + longest;
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= end || IS_INTERRUPTED.load(Ordering::Relaxed) {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Ends a launcher. One that is asked to ends its processes, which may have groups of their own; what is left of its
/// own group is killed.
fn end(child: &mut Child) {
    let group = Pid::from_raw(child.id().cast_signed());
    let _ = killpg(group, Signal::SIGTERM);
    let end = Instant::now() + GRACE;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
        thread::sleep(Duration::from_millis(10));
    }
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // What cannot be read was not printed.
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
