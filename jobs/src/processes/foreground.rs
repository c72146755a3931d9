//! Runs the job: the launcher as a child that inherits everything from this process, and gets its signals.

use std::cell::Cell;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::panic;
use std::process::{self, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::children;
use super::ended::Ended;
use super::question::Question;
use super::watched::{self, Limits};
use super::witness::Witness;
use crate::error::{Cause, warn};

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

/// The time until a launcher has its handlers of signals.
const READY: Duration = Duration::from_secs(1);

/// Signals that stop jobs, and continue them.
const JOB_CONTROL: [Signal; 4] =
    [Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU, Signal::SIGCONT];

/// The signals of this process, which are blocked and read from a queue.
pub struct Signals {
    all: SigSet,
    /// True if the job inherits that it ignores its children.
    ignores_children: bool,
}

/// The end of a job.
#[derive(Debug, Clone, Copy)]
pub struct JobEnd {
    /// How it ended.
    pub ended: Ended,
    /// True if the job was sent a signal before.
    pub after_signal: bool,
}

/// All signals that are blocked.
fn held() -> SigSet {
    let mut all: SigSet = ENDING.iter().chain(&OTHERS).chain(&JOB_CONTROL).copied().collect();
    all.add(Signal::SIGCHLD);
    // A write beyond a file size limit is an error then.
    all.add(Signal::SIGXFSZ);
    all
}

/// The signals for a job that has just started.
struct Queue {
    signals: SignalFd,
    /// Signals that arrived before the job started.
    early: Vec<siginfo>,
    began: Instant,
}

impl Queue {
    fn new(all: &SigSet) -> io::Result<Self> {
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = SignalFd::with_flags(all, flags)?;
        let mut early = Vec::new();
        while let Some(signal) = signals.read_signal()? {
            early.push(signal);
        }
        Ok(Self { signals, early, began: Instant::now() })
    }

    /// The next signal; `None` after this time, if it is limited, or earlier. An early signal that launchers handle is
    /// held back until the launcher is ready.
    fn next(&mut self, longest: Option<Duration>) -> io::Result<Option<siginfo>> {
        let left = READY.saturating_sub(self.began.elapsed());
        let is_due = |signal: &siginfo| {
            left.is_zero() || !OTHERS.iter().any(|other| *other as u32 == signal.ssi_signo)
        };
        if let Some(at) = self.early.iter().position(is_due) {
            return Ok(Some(self.early.remove(at)));
        }
        let until = (!self.early.is_empty()).then_some(left);
        let longest = longest.into_iter().chain(until).min();
        if is_ready(&self.signals, longest) { Ok(self.signals.read_signal()?) } else { Ok(None) }
    }
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
    pub fn hold() -> io::Result<Self> {
        let all = held();
        all.thread_block()?;
        Ok(Self { all, ignores_children: children::keep() })
    }

    /// The command of a job or a question, which ends with this process.
    fn command(&self, words: &[OsString]) -> Command {
        let mut command = under_this(words);
        if self.ignores_children {
            children::ignored_by(&mut command);
        }
        command
    }

    /// Runs the job; returns when it has ended.
    pub fn run(&self, words: &[OsString]) -> io::Result<JobEnd> {
        let mut child = self.command(words).spawn()?;
        let launcher = Pid::from_raw(child.id().cast_signed());
        let mut witness = Witness::start(|| under_this(&[])).ok();
        let mut queue = Queue::new(&self.all)?;
        let mut after_signal = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(JobEnd { ended: status.into(), after_signal });
            }
            stop_with(launcher);
            let age = witness.as_ref().and_then(Witness::age);
            let Some(signal) = queue.next(age)? else {
                let is_silent = || !is_ready(&queue.signals, Some(Duration::ZERO));
                witness.iter_mut().for_each(|witness| witness.renew(is_silent));
                continue;
            };
            let number = signal.ssi_signo as i32;
            if [Signal::SIGCHLD, Signal::SIGXFSZ].iter().any(|own| *own as i32 == number) {
                continue;
            }
            after_signal |= !JOB_CONTROL.iter().any(|control| *control as i32 == number);
            // Launchers abort at a second signal, and leave processes behind.
            let has_it = witness.as_mut().is_some_and(|witness| witness.has(number, launcher));
            if !has_it {
                let _ = Signal::try_from(number).and_then(|signal| kill(launcher, signal));
            }
        }
    }

    /// Runs a command before the job; returns its output. A signal that would end the job ends this process.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub(crate) fn ask(&self, question: &Question<'_>) -> Result<String, String> {
        let ending: SigSet = ENDING.iter().copied().collect();
        let queue = SignalFd::with_flags(&ending, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK);
        let queue = queue.map_err(|error| error.to_string())?;
        let (first, count) = (Cell::new(None), Cell::new(0));
        let signals = || {
            while let Ok(Some(signal)) = queue.read_signal() {
                first.set(first.get().or(Some(signal.ssi_signo as i32)));
                count.set(count.get() + 1);
            }
            count.get()
        };
        let Question { words, longest, is_answer } = *question;
        let limits = Limits { longest, signals: &signals, is_answer };
        let run = watched::run(self.command(words).stdin(Stdio::null()), &limits);
        if let Some(signal) = first.get() {
            end_by(signal);
        }
        question.answer(run.map_err(|failure| failure.text)?)
    }
}

/// Becomes the launcher, which gets SIGTERM if the process that started this one is killed; without words, waits to be
/// killed.
pub fn under(parent: u32, words: &[OsString]) -> io::Error {
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

/// Stops this process if the launcher has been stopped: the process that started this one waits for it to stop or end.
fn stop_with(launcher: Pid) {
    let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
    if let Ok(WaitStatus::Stopped(_, signal)) = waitid(Id::Pid(launcher), flags) {
        let _ = raise(signal);
        let mut own = SigSet::empty();
        own.add(signal);
        let _ = own.thread_unblock();
        // It continues here.
        let _ = held().thread_block();
    }
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
    let mut limit = SigSet::empty();
    limit.add(Signal::SIGXFSZ);
    // A failed write of this process does not concern the job.
    if let Ok(queue) = SignalFd::with_flags(&limit, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
    {
        while let Ok(Some(_)) = queue.read_signal() {}
    }
    if let Err(error) = held().thread_unblock() {
        return error.into();
    }
    Command::new(&words[0]).args(&words[1..]).exec()
}

/// Runs the unchanged job if this process panics: a bug of ours must not keep a job from running.
pub fn become_job_on_panic(words: &[OsString]) {
    let words = words.to_vec();
    panic::set_hook(Box::new(move |panicked| {
        warn(&format!("internal error; the job runs unchanged. Please report it: {panicked}"));
        let error = become_job(&words);
        warn(&format!("cannot run {}: {error}", words[0].to_string_lossy()));
        process::exit(Cause::NotFound.code().into());
    }));
}

/// Exits with the job's exit status if this process panics.
pub fn end_as_job_on_panic(ended: Ended) {
    panic::set_hook(Box::new(move |panicked| {
        warn(&format!(
            "internal error; nothing learned from this run. Please report it: {panicked}"
        ));
        process::exit(end_as(ended).into());
    }));
}

/// The exit code of this process after a job; a signal that ended the job also ends this process.
pub fn end_as(ended: Ended) -> u8 {
    match ended {
        Ended::Code(code) => code,
        Ended::Signal(signal) => end_by(signal),
    }
}

/// Ends this process with a signal.
fn end_by(number: i32) -> u8 {
    if let Ok(signal) = Signal::try_from(number) {
        let _ = raise(signal);
        let mut own = SigSet::empty();
        own.add(signal);
        let _ = own.thread_unblock();
    }
    Cause::Signal(number).code()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs an ignored test of this module in a separate process; returns its exit code and output.
    fn in_a_process(test: &str) -> (Option<i32>, String) {
        let test = format!("processes::foreground::tests::{test}");
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
