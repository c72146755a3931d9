//! Runs a command in its own process group, with a time limit, and keeps its output.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::ended::Ended;
use crate::error::{Failure, Result};

/// The time that a launcher has to end its processes after it got a signal, unless the user interrupts again.
const GRACE: Duration = Duration::from_secs(10);

/// The space that must be left on the disk after a command has printed.
const SPARE: usize = 1 << 16;

/// The delay until a signal to end, which the caller counts, is noticed.
const PAUSE: Duration = Duration::from_millis(50);

/// The time without further output after which an output may be the whole answer.
const QUIET: Duration = Duration::from_secs(5);

/// What ends a run before its command ends.
pub(super) struct Limits<'a> {
    /// Its time limit.
    pub(super) longest: Duration,
    /// The number of signals to end so far.
    pub(super) signals: &'a dyn Fn() -> u32,
    /// True of an output after which the command need not end: launchers may hang after their last process has ended,
    /// as PRRTE does (openpmix/prrte#1839).
    pub(super) is_answer: Option<fn(&str) -> bool>,
}

/// A run of a command.
pub struct Run {
    /// The end of the run, or its time limit.
    pub ended: std::result::Result<Ended, Duration>,
    /// Its output.
    pub stdout: String,
    /// Its messages.
    pub stderr: String,
    /// Its time.
    pub took: Duration,
}

impl Run {
    /// True if it ended with exit code 0.
    pub fn has_succeeded(&self) -> bool {
        self.ended == Ok(Ended::Code(0))
    }

    /// How the run ended, and the first meaningful line on stderr, if the program or its MPI printed one.
    pub fn end(&self) -> String {
        let ended = match self.ended {
            Ok(ended) => ended.to_string(),
            Err(longest) => format!("did not end within {:.0} s", longest.as_secs_f64()),
        };
        let says = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() > 8;
        let lines = || self.stderr.lines().filter(says);
        let is_own = |line: &&str| line.starts_with("cartograph: ");
        let words = lines().find(|line| !is_own(line));
        match words.or_else(|| lines().find(is_own)) {
            Some(words) => format!("{ended} ({})", words.trim()),
            None => ended,
        }
    }
}

/// The end of a child, and its time.
type End = (io::Result<ExitStatus>, Duration);

/// Runs a command within limits.
pub(super) fn run(command: &mut Command, limits: &Limits<'_>) -> Result<Run> {
    let kept = || {
        let both = tempfile::tempfile().and_then(|file| Ok((file.try_clone()?, file)));
        both.map_err(|error| failed_to_keep(&error))
    };
    let ((stdout, to_stdout), (mut stderr, to_stderr)) = (kept()?, kept()?);
    command.stdout(to_stdout).stderr(to_stderr).process_group(0);
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| {
        Failure::new(format!("cannot run {}: {error}", command.get_program().to_string_lossy()))
    })?;
    let group = Pid::from_raw(child.id().cast_signed());
    let (sender, ends) = mpsc::channel();
    // Waits for the exact end: polling would make short runs look alike.
    thread::spawn(move || sender.send((child.wait(), started.elapsed())));
    let (status, took) = match wait(&ends, started, &stdout, limits) {
        Some((status, took)) => (Some(status), took),
        None => {
            let took = started.elapsed();
            end(group, &ends, limits.signals);
            (None, took)
        }
    };
    let failed = |error| Failure::new(format!("cannot wait for the launcher: {error}"));
    let ended = status.transpose().map_err(failed)?.map(Ended::from).ok_or(limits.longest);
    let run = Run { ended, stdout: text(&stdout), stderr: text(&stderr), took };
    // Output that is cut short for lack of space looks like that of a failed program.
    stderr.write_all(&[0; SPARE]).map_err(|error| failed_to_keep(&error))?;
    Ok(run)
}

fn failed_to_keep(error: &io::Error) -> Failure {
    Failure::new(format!(
        "cannot write what a run prints to a temporary file in {}: {error}; set TMPDIR to another directory",
        env::temp_dir().display()
    ))
}

/// Waits for a child until it ends, the time limit passes, a signal arrives, or its output is the answer.
fn wait(ends: &Receiver<End>, started: Instant, stdout: &File, limits: &Limits<'_>) -> Option<End> {
    let (mut size, mut quiet_since) = (0, None);
    loop {
        let left = limits.longest.saturating_sub(started.elapsed());
        let end = ends.recv_timeout(left.min(PAUSE)).ok();
        if end.is_some() || left.is_zero() || (limits.signals)() > 0 {
            return end;
        }
        let Some(is_answer) = limits.is_answer else { continue };
        let now = stdout.metadata().map_or(0, |file| file.len());
        if now != size {
            (size, quiet_since) = (now, Some(Instant::now()));
        } else if quiet_since.is_some_and(|since| since.elapsed() > QUIET) {
            quiet_since = None;
            if is_answer(&text(stdout)) {
                return None;
            }
        }
    }
}

/// Ends a launcher. On SIGTERM it ends its processes, which may have their own groups; the rest of its group is then
/// killed.
fn end(group: Pid, ends: &Receiver<End>, signals: &dyn Fn() -> u32) {
    let _ = killpg(group, Signal::SIGTERM);
    let start = Instant::now();
    let has_time = || start.elapsed() < GRACE && signals() < 2;
    let mut has_ended = false;
    while !has_ended && has_time() {
        has_ended = ends.recv_timeout(PAUSE).is_ok();
    }
    let _ = killpg(group, Signal::SIGKILL);
    if !has_ended {
        let _ = ends.recv();
    }
}

/// The output so far; unreadable output counts as empty. The command writes at the position in the file.
fn text(file: &File) -> String {
    let mut bytes = vec![0; file.metadata().map_or(0, |file| file.len()) as usize];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_timed_exactly() {
        let limits = Limits { longest: Duration::MAX, signals: &|| 0, is_answer: None };
        let took = |_| run(&mut Command::new("true"), &limits).unwrap().took;
        let least = (0..50).map(took).min().unwrap();
        assert!(least < Duration::from_millis(8), "{least:?}");
    }

    #[test]
    fn a_launcher_that_hangs_after_the_answer_is_ended() {
        let answers = |seconds, is_answer: fn(&str) -> bool| {
            let longest = Duration::from_secs(seconds);
            let limits = Limits { longest, signals: &|| 0, is_answer: Some(is_answer) };
            let mut command = Command::new("sh");
            run(command.args(["-c", "echo one; sleep 0.2; echo two; exec sleep 60"]), &limits)
        };
        let whole = answers(30, |text| text == "one\ntwo\n").unwrap();
        assert!(whole.took < Duration::from_secs(20), "{:?}", whole.took);
        assert_eq!((whole.ended.is_err(), &*whole.stdout), (true, "one\ntwo\n"));
        // The answer is judged when nothing more is printed.
        let part = answers(7, |text| text == "one\n").unwrap();
        assert!(part.took >= Duration::from_secs(7), "{:?}", part.took);
    }
}
