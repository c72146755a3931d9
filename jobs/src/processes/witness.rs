//! Determines whether a signal was sent to the whole process group, so that the launcher got it as well.

use std::fs;
use std::io;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::{Pid, getpgid, getpgrp};

/// The time in which a signal reaches all processes of a group: the kernel sends it to one after the other.
const ALL: Duration = Duration::from_millis(5);

/// Signals that come this close together are one signal for their sender: `timeout` signals its child, and then the
/// group.
const TOGETHER: Duration = Duration::from_secs(1);

/// An idle process in the launcher's group, in which signals that were sent to the group stay pending.
pub(super) struct Witness {
    process: Child,
    /// The command of such a process.
    command: fn() -> Command,
    /// The time of the last signal since the process was started.
    last: Option<Instant>,
}

impl Witness {
    /// Starts the process. The launcher must already run, or signals could reach only this process.
    pub(super) fn start(command: fn() -> Command) -> io::Result<Self> {
        let mut idle = command();
        idle.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { process: idle.spawn()?, command, last: None })
    }

    /// True if the launcher, too, was sent this signal.
    pub(super) fn has(&mut self, number: i32, launcher: Pid) -> bool {
        self.last = Some(Instant::now());
        thread::sleep(ALL);
        // The launcher may have left the group, as `timeout` does.
        let is_in_group = getpgid(Some(launcher)).is_ok_and(|group| group == getpgrp());
        is_in_group && self.pending() >> (number - 1) & 1 == 1
    }

    /// The signals that the process was sent, a bit each.
    fn pending(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
        pending.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }

    /// The time after which the process is to be replaced, to know the next signals.
    pub(super) fn age(&self) -> Option<Duration> {
        self.last.map(|last| (last + TOGETHER).saturating_duration_since(Instant::now()))
    }

    /// Replaces the process if no signal arrived until the new one was started.
    pub(super) fn renew(&mut self, is_silent: impl FnOnce() -> bool) {
        match Self::start(self.command) {
            Ok(new) if is_silent() => *self = new,
            _ => self.last = Some(Instant::now()),
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
