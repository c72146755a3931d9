//! Starts the job: the launcher as a child that inherits everything from this process, and gets its signals.

mod witness;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill, killpg, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::surroundings::Surroundings;
use crate::output::{Failure, say};
use witness::Witness;

/// Signals that usually end a job.
const ENDING: [Signal; 4] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM];

/// Other signals that users and batch systems send to jobs.
const OTHERS: [Signal; 6] = [
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGXCPU,
    Signal::SIGURG,
    Signal::SIGPWR,
];

/// Signals that stop jobs, and let them go on.
const JOB_CONTROL: [Signal; 4] =
    [Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU, Signal::SIGCONT];

/// The time that a launcher of `cartograph where` has to end.
const GRACE: Duration = Duration::from_secs(5);

/// The signals of this process, which are blocked and read from a queue.
pub(super) struct Signals {
    all: SigSet,
}

/// The end of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Code(u8),
    Signal(i32),
    /// The job failed with this exit code after it was sent a signal.
    Interrupted(u8),
}

/// All signals that are blocked.
fn held() -> SigSet {
    let mut all: SigSet = ENDING.iter().chain(&OTHERS).chain(&JOB_CONTROL).copied().collect();
    all.add(Signal::SIGCHLD);
    all
}

/// A command that ends with this process; without words, one that only waits for that.
fn under_this(words: &[OsString]) -> Command {
    // Not by path: the command may be reinstalled while a job is prepared.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("cartograph")
        .arg("under")
        .arg(std::process::id().to_string())
        .arg("--")
        .args(words);
    command
}

impl Signals {
    /// Blocks signals from now on. Called before any thread is started, since threads inherit the mask.
    pub(super) fn hold() -> io::Result<Self> {
        let all = held();
        all.thread_block()?;
        Ok(Self { all })
    }

    /// Runs the job; returns when it has ended.
    pub(super) fn run(&self, words: &[OsString]) -> io::Result<Ended> {
        let mut child = under_this(words).spawn()?;
        let launcher = Pid::from_raw(child.id().cast_signed());
        let mut witness = Witness::start(|| under_this(&[])).ok();
        let queue =
            SignalFd::with_flags(&self.all, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let mut is_interrupted = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(ended(status, is_interrupted));
            }
            stop_with(launcher);
            let age = witness.as_ref().and_then(Witness::age);
            let Some(signal) = next(&queue, age)? else {
                let is_silent = || !is_ready(&queue, Some(Duration::ZERO));
                witness.iter_mut().for_each(|witness| witness.renew(is_silent));
                continue;
            };
            let number = signal.ssi_signo as i32;
            if number == Signal::SIGCHLD as i32 {
                continue;
            }
            is_interrupted |= !JOB_CONTROL.iter().any(|control| *control as i32 == number);
            // Launchers abort at a second signal, and leave processes behind.
            let has_it = witness.as_mut().is_some_and(|witness| witness.has(number, launcher));
            if !has_it {
                let _ = Signal::try_from(number).and_then(|signal| kill(launcher, signal));
            }
        }
    }
}

impl Surroundings for Signals {
    /// A signal that would end the job ends this process.
    fn ask(&self, words: &[OsString], longest: Duration) -> io::Result<Option<String>> {
        let mut output = tempfile::tempfile()?;
        let mut command = under_this(words);
        command.process_group(0);
        let silent: File = output.try_clone()?;
        command.stdin(Stdio::null()).stdout(silent).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut ending: SigSet = ENDING.iter().copied().collect();
        ending.add(Signal::SIGCHLD);
        let queue = SignalFd::with_flags(&ending, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let end = Instant::now() + longest;
        loop {
            if let Some(status) = child.try_wait()? {
                if !status.success() {
                    return Ok(None);
                }
                let mut bytes = Vec::new();
                output.rewind()?;
                output.read_to_end(&mut bytes)?;
                return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                stop(&mut child);
                return Ok(None);
            }
            is_ready(&queue, Some(left.min(Duration::from_millis(200))));
            while let Ok(Some(signal)) = queue.read_signal() {
                if signal.ssi_signo as i32 != Signal::SIGCHLD as i32 {
                    stop(&mut child);
                    end_by(signal.ssi_signo as i32);
                }
            }
        }
    }
}

/// Becomes the launcher, which gets SIGTERM if the process that started this one is killed; without words, waits to be
/// killed.
pub(crate) fn under(parent: u32, words: &[OsString]) -> io::Error {
    let is_witness = words.is_empty();
    let _ = prctl::set_pdeathsig(if is_witness { Signal::SIGKILL } else { Signal::SIGTERM });
    if nix::unistd::getppid().as_raw().cast_unsigned() != parent {
        return io::Error::other("the parent process has ended");
    }
    if is_witness {
        loop {
            std::thread::park();
        }
    }
    become_job(words)
}

/// Stops this process if the launcher has been stopped: who started this process waits for it to stop or end.
fn stop_with(launcher: Pid) {
    let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
    if let Ok(WaitStatus::Stopped(_, signal)) = waitid(Id::Pid(launcher), flags) {
        let _ = raise(signal);
        let mut own = SigSet::empty();
        own.add(signal);
        let _ = own.thread_unblock();
        // It goes on here.
        let _ = held().thread_block();
    }
}

/// The next signal; `None` after this time, if it is limited.
fn next(queue: &SignalFd, longest: Option<Duration>) -> io::Result<Option<siginfo>> {
    if is_ready(queue, longest) { Ok(queue.read_signal()?) } else { Ok(None) }
}

/// True as soon as a signal can be read; false after this time.
fn is_ready(queue: &SignalFd, longest: Option<Duration>) -> bool {
    let longest = longest.map_or(PollTimeout::NONE, |longest| {
        PollTimeout::try_from(longest).unwrap_or(PollTimeout::MAX)
    });
    poll(&mut [PollFd::new(queue.as_fd(), PollFlags::POLLIN)], longest).is_ok_and(|count| count > 0)
}

/// Becomes a command, which inherits no blocked signal.
fn become_job(words: &[OsString]) -> io::Error {
    if let Err(error) = held().thread_unblock() {
        return error.into();
    }
    Command::new(&words[0]).args(&words[1..]).exec()
}

/// Runs the unchanged job if this process panics: a bug of ours must not keep a job from running.
pub(super) fn become_job_on_panic(words: &[OsString]) {
    let words = words.to_vec();
    panic::set_hook(Box::new(move |panicked| {
        say(&format!("internal error; the job runs unchanged. Please report it: {panicked}"));
        let error = become_job(&words);
        say(&format!("cannot run {}: {error}", words[0].to_string_lossy()));
        process::exit(Failure::NOT_FOUND.into());
    }));
}

/// Exits with the job's exit status if this process panics.
pub(super) fn end_as_job_on_panic(ended: Ended) {
    panic::set_hook(Box::new(move |panicked| {
        say(&format!(
            "internal error; nothing learned from this run. Please report it: {panicked}"
        ));
        process::exit(match ended {
            Ended::Code(code) | Ended::Interrupted(code) => code.into(),
            Ended::Signal(signal) => end_by(signal).into(),
        });
    }));
}

/// Ends this process with a signal.
pub(super) fn end_by(number: i32) -> u8 {
    if let Ok(signal) = Signal::try_from(number) {
        let _ = raise(signal);
        let mut own = SigSet::empty();
        own.add(signal);
        let _ = own.thread_unblock();
    }
    128u8.saturating_add(number.clamp(0, 127) as u8)
}

/// Ends a launcher of `cartograph where`, with all its processes.
fn stop(child: &mut Child) {
    let group = Pid::from_raw(child.id().cast_signed());
    let _ = killpg(group, Signal::SIGTERM);
    let end = Instant::now() + GRACE;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
}

fn ended(status: ExitStatus, is_interrupted: bool) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) if is_interrupted && code != 0 => Ended::Interrupted(code as u8),
        (Some(code), _) => Ended::Code(code as u8),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs an ignored test of this module in a separate process; returns its exit code and output.
    fn in_a_process(test: &str) -> (Option<i32>, String) {
        let test = format!("run::start::tests::{test}");
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--ignored", "--exact", "--nocapture", &test]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    #[ignore = "becomes a job, in a process of its own"]
    fn panics_before_the_job() {
        become_job_on_panic(&["sh", "-c", "echo the job; exit 7"].map(OsString::from));
        panic!("on purpose");
    }

    #[test]
    #[ignore = "ends, in a process of its own"]
    fn panics_after_the_job() {
        end_as_job_on_panic(Ended::Code(9));
        panic!("on purpose");
    }

    #[test]
    fn a_panic_neither_keeps_a_job_from_running_nor_changes_its_exit_code() {
        let (code, output) = in_a_process("panics_before_the_job");
        assert!(code == Some(7) && output.ends_with("the job\n"), "{code:?} {output}");
        assert_eq!(in_a_process("panics_after_the_job").0, Some(9));
    }
}
