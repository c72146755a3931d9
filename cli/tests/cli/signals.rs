//! Signals to `cartograph run` and to its process group reach the launcher as if the launcher had been started without
//! it.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::jobs::Jobs;
use crate::run::{COMMAND, Directory};

/// Counts the signals that it gets until a second after SIGTERM, and exits with the number of SIGUSR1. With an argument,
/// it catches SIGTSTP.
const LAUNCHER: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t got[65];
static void count(int number) { got[number]++; }
int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    if (argc > 1)
        sigaction(SIGTSTP, &action, NULL);
    puts("ready");
    fflush(stdout);
    for (int i = 0, last = 100; i < 2000 && last > 0; i++) {
        last -= got[SIGTERM] > 0;
        usleep(10000);
    }
    printf("%d TERM, %d USR1, %d TSTP\n", got[SIGTERM], got[SIGUSR1], got[SIGTSTP]);
    return got[SIGUSR1];
}
"#;

/// A job in a separate process group.
struct Job {
    child: Child,
    out: PathBuf,
    /// The process of `cartograph`.
    id: u32,
}

/// The launcher, compiled in a directory.
fn launcher(directory: &Directory) -> PathBuf {
    let [source, program] = ["counts.c", "counts"].map(|name| directory.join(name));
    fs::write(&source, LAUNCHER).unwrap();
    assert!(Command::new("cc").arg("-o").args([&program, &source]).status().unwrap().success());
    program
}

impl Job {
    /// Starts the launcher with words before `cartograph` and after the launcher's.
    fn start(directory: &Directory, program: &Path, before: &[&str], after: &[&str]) -> Self {
        let out = directory.join("out");
        let words = [before, &[COMMAND, "run", "--quiet"], &[program.to_str().unwrap()], after];
        let words = words.concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("CARTOGRAPH_STORE", directory.join("store"));
        command.process_group(0).stdin(Stdio::null()).stdout(fs::File::create(&out).unwrap());
        let child = command.spawn().unwrap();
        let mut job = Self { id: child.id(), child, out };
        job.wait(|job| job.text().starts_with("ready\n"));
        // The witness starts after the launcher.
        thread::sleep(Duration::from_millis(200));
        if !before.is_empty() {
            let tree = Command::new("pgrep").args(["-P", &job.id.to_string()]).output().unwrap();
            let text = String::from_utf8(tree.stdout).unwrap();
            job.id = text.lines().next().unwrap().parse().unwrap();
        }
        job
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    #[track_caller]
    fn wait(&self, until: impl Fn(&Self) -> bool) {
        let is_so = (0..200).any(|_| {
            thread::sleep(Duration::from_millis(50));
            until(self)
        });
        assert!(is_so, "{}", self.text());
    }

    /// Sends a signal to `cartograph`, or to the group.
    fn kill(&self, signal: &str, to_group: bool) {
        let id = if to_group { format!("-{}", self.child.id()) } else { self.id.to_string() };
        assert!(Command::new("kill").args(["-s", signal, "--", &id]).status().unwrap().success());
    }

    /// True if `cartograph` is stopped.
    fn is_stopped(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id)).unwrap();
        status.contains("State:\tT")
    }

    /// The exit code and the last line.
    fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        (code, self.text().lines().last().unwrap_or_default().to_owned())
    }
}

/// A first job whose launcher runs these lines before the program.
fn first_job(name: &str, lines: &str) -> Jobs {
    let jobs = Jobs::new(name);
    let stub = fs::read_to_string(jobs.bench.directory.join("mpiexec")).unwrap();
    let stub = stub.strip_prefix("#!/bin/sh\n").unwrap();
    let stub = stub.replacen("*\" where\"*)\n", "*\" where\"*)\n    sleep 0.5\n", 1);
    jobs.bench.script("mpiexec", &stub.replacen("esac\n", &format!("esac\n{lines}\n"), 1));
    jobs
}

#[test]
fn a_signal_before_the_job_reaches_the_launcher_when_it_is_ready() {
    let jobs = first_job("early", "sleep 0.2; trap 'echo USR1' USR1; sleep 1");
    let mut command = jobs.command("run");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(300));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-USR1", &id]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "USR1\nsum 5\n", "{done:?}");
}

#[test]
fn a_job_completes_if_sigchld_is_ignored_or_files_are_limited() {
    let jobs = first_job("inherited", "sleep 0.1");
    for words in
        [&["env", "--ignore-signal=CHLD"][..], &["sh", "-c", "ulimit -f 16; exec \"$@\"", "sh"]]
    {
        let job = jobs.command("run");
        let mut command = Command::new("timeout");
        command.arg("20").args(words).arg(job.get_program()).args(job.get_args());
        command.envs(job.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let done = command.current_dir(job.get_current_dir().unwrap()).output().unwrap();
        let out = String::from_utf8_lossy(&done.stdout);
        assert_eq!((done.status.code(), &*out), (Some(0), "sum 5\n"), "{words:?}: {done:?}");
    }
    // SIGCHLD is signal 17.
    let mut command = Command::new("env");
    command.args(["--ignore-signal=CHLD", COMMAND, "run", "--quiet", "grep", "SigIgn:"]);
    let done = command.arg("/proc/self/status").output().unwrap();
    let mask = String::from_utf8_lossy(&done.stdout);
    let mask = u64::from_str_radix(mask.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(mask >> 16 & 1, 1, "the job ignores children too");
}

#[test]
fn a_signal_to_any_process_reaches_the_launcher_once() {
    let directory = Directory::new("signals");
    let program = launcher(&directory);
    let start = || Job::start(&directory, &program, &[], &[]);
    for to_group in [false, true] {
        let job = start();
        job.kill("USR1", to_group);
        thread::sleep(Duration::from_millis(50));
        job.kill("TERM", to_group);
        assert_eq!(job.end(), (Some(1), "1 TERM, 1 USR1, 0 TSTP".into()), "{to_group}");
    }
    // Later signals of the same number count again.
    let job = start();
    for to_group in [true, false, true] {
        job.kill("USR1", to_group);
        thread::sleep(Duration::from_millis(1500));
    }
    job.kill("TERM", true);
    assert_eq!(job.end(), (Some(3), "1 TERM, 3 USR1, 0 TSTP".into()));
    // To its child, and then to the group.
    let job = Job::start(&directory, &program, &["timeout", "1"], &[]);
    assert_eq!(job.end(), (Some(124), "1 TERM, 0 USR1, 0 TSTP".into()));
    let job = Job::start(&directory, &program, &["timeout", "--foreground", "1"], &[]);
    assert_eq!(job.end(), (Some(124), "1 TERM, 0 USR1, 0 TSTP".into()));
}

#[test]
fn a_job_stops_and_continues_with_its_launcher() {
    let directory = Directory::new("stops");
    let program = launcher(&directory);
    for to_group in [false, true] {
        let job = Job::start(&directory, &program, &[], &[]);
        for _ in 0..2 {
            job.kill("TSTP", to_group);
            job.wait(Job::is_stopped);
            job.kill("CONT", to_group);
            job.wait(|job| !job.is_stopped());
        }
        job.kill("TERM", to_group);
        assert_eq!(job.end(), (Some(0), "1 TERM, 0 USR1, 0 TSTP".into()));
    }
    // A launcher may do something other than stop.
    let job = Job::start(&directory, &program, &[], &["catches"]);
    job.kill("TSTP", true);
    thread::sleep(Duration::from_millis(200));
    assert!(!job.is_stopped());
    job.kill("TERM", true);
    assert_eq!(job.end(), (Some(0), "1 TERM, 0 USR1, 1 TSTP".into()));
}
