//! A run with a limit of time.

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::output::{Failure, Result};

/// How long a launcher that is told to end has for it.
const GRACE: Duration = Duration::from_secs(5);

/// How long output is waited for once the launcher has ended: others may have inherited its ends of pipes.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Code(i32),
    Signal(i32),
    Never(Duration),
}

pub(super) struct Run {
    pub(super) ended: Ended,
    pub(super) stdout: String,
    stderr: String,
    pub(super) took: Duration,
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
    /// The first line on stderr that says something.
    pub(super) fn last_words(&self) -> String {
        let says = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() > 8;
        // What the program or its MPI says comes before what Cartograph warned of.
        let own = |line: &&str| line.starts_with("cartograph: ");
        let mut lines = self.stderr.lines().filter(says);
        let found = lines.clone().find(|line| !own(line)).or_else(|| lines.next());
        found.unwrap_or_default().trim().to_owned()
    }
}

/// Runs a command in a process group of its own, with nothing on stdin.
pub(super) fn run(command: &[OsString], longest: Duration) -> Result<Run> {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| {
            Failure::new(format!("cannot run {}: {error}", command[0].to_string_lossy()))
        })?;
    let started = Instant::now();
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let ended = match wait(&mut child, longest)? {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or_default()),
        },
        None => {
            // A launcher that is asked to end ends its processes, which have groups of their own.
            signal(&child, "TERM");
            if wait(&mut child, GRACE)?.is_none() {
                signal(&child, "KILL");
                let _ = child.wait();
            }
            Ended::Never(longest)
        }
    };
    let took = started.elapsed();
    let text = |collected: Option<Collected>| collected.map(Collected::text).unwrap_or_default();
    Ok(Run { ended, stdout: text(stdout), stderr: text(stderr), took })
}

fn wait(child: &mut Child, longest: Duration) -> Result<Option<ExitStatus>> {
    let end = Instant::now() + longest;
    loop {
        let status = child
            .try_wait()
            .map_err(|error| Failure::new(format!("cannot wait for the launcher: {error}")))?;
        if status.is_some() || Instant::now() >= end {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal to the child's process group, which it leads.
fn signal(child: &Child, name: &str) {
    let script = "kill -s \"$1\" -- \"-$2\"";
    let mut kill = Command::new("sh");
    let _ = kill
        .args(["-c", script, "sh", name, &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
}

/// What comes out of a pipe.
struct Collected {
    reader: JoinHandle<()>,
    bytes: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
}

fn collect(mut pipe: impl Read + Send + 'static) -> Collected {
    let bytes = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = bytes.clone();
    let reader = thread::spawn(move || {
        let mut room = [0; 16384];
        while let Ok(count @ 1..) = pipe.read(&mut room) {
            let Ok(mut bytes) = into.lock() else { return };
            bytes.extend_from_slice(&room[..count]);
        }
    });
    Collected { reader, bytes }
}

impl Collected {
    fn text(self) -> String {
        let end = Instant::now() + LAST_WORDS;
        while !self.reader.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        let bytes = self.bytes.lock().map(|bytes| bytes.clone()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
