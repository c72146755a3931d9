//! Tools for tests written in Rust (`cases`): a host, a separate directory for the test, runs and counted checks.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::Regex;

use crate::host::Host;
use crate::output::Verdict;
use crate::testlist::top;

/// Starts a command of a launcher on a simulated node, with the interface of ssh: options, the node, a command.
const AGENT: &str = "#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nnode=$1\nshift\n\
    exec unshare --uts bash -c \"hostname $node; $*\"\n";

/// A running test. The output of the last run is in `out` and `err`.
pub(crate) struct Session<'a> {
    pub(crate) host: &'a Host,
    work: tempfile::TempDir,
    /// Preloaded into programs, before the library that makes waiting processes yield.
    pub(crate) preloaded: Vec<PathBuf>,
    pub(crate) seconds: u32,
    pub(crate) out: String,
    pub(crate) err: String,
    /// The exit code, or 128 and the signal.
    pub(crate) code: i32,
    passed: usize,
    failures: Vec<String>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(host: &'a Host) -> Self {
        Self {
            host,
            work: tempfile::tempdir().expect("a directory can be made"),
            preloaded: vec![host.library()],
            seconds: 120,
            out: String::new(),
            err: String::new(),
            code: 0,
            passed: 0,
            failures: Vec::new(),
        }
    }

    /// A path in the test's directory.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.work(name), text).expect("the test's own directory can be written");
        self.work(name)
    }

    /// Compiles sources of the repository, or files of the test, with the host's wrapper.
    pub(crate) fn compile(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        let compiler = self.host.compiler(Path::new(source)).expect("the host has a compiler");
        self.compile_with(&compiler, name, source, options)
    }

    pub(crate) fn compile_with(
        &self,
        compiler: &str,
        name: &str,
        source: &str,
        options: &[&str],
    ) -> PathBuf {
        let mut command = Command::new(compiler);
        command.args(["-g", "-O1", "-w", "-o"]).arg(self.work(name)).arg(source).args(options);
        let output = command.current_dir(top()).output().expect("the compiler starts");
        assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
        self.work(name)
    }

    /// The value of `LD_PRELOAD` for a test's programs.
    pub(crate) fn preload(&self) -> String {
        let all = self.preloaded.iter().chain(self.host.yielding());
        format!(
            "LD_PRELOAD={}",
            all.map(|path| path.display().to_string()).collect::<Vec<_>>().join(":")
        )
    }

    /// The environment of a command that starts the launcher: there waiting processes yield, too.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        let library = self.host.yielding().map(|library| ("LD_PRELOAD", word(library)));
        self.host.settings().chain(library)
    }

    /// The launcher with its time limit, for a number of processes; settings, a program and arguments follow.
    pub(crate) fn launcher(&self, processes: u32) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "5", &self.seconds.to_string()]).args(self.host.launcher());
        command.arg(processes.to_string()).current_dir(top()).envs(self.host.settings());
        command
    }

    /// True if nodes can be simulated on this machine, which requires root.
    pub(crate) fn makes_nodes(&mut self) -> bool {
        self.finish(Command::new("unshare").args(["--uts", "hostname", "n0"]))
    }

    /// The launcher's command line for a number of processes on simulated nodes, such as `a:2,b:2`.
    pub(crate) fn on_nodes(&self, nodes: &str, processes: u32) -> Vec<String> {
        let agent = self.write("agent", AGENT);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&agent, executable).expect("the test's own file");
        let mut words = self.host.launcher().to_vec();
        let number = words.pop().expect("the option with the number of processes");
        let hosts_file;
        let options: &[&str] = match self.host.name.as_str() {
            "mpich" | "mpich5" | "abi" => {
                &["-launcher", "ssh", "-launcher-exec", word(&agent), "-hosts", nodes]
            }
            "intel" => {
                let hosts = nodes.replace(',', "\n") + "\n";
                hosts_file = self.write("machines", &hosts);
                &[
                    "-bootstrap",
                    "ssh",
                    "-bootstrap-exec",
                    word(&agent),
                    "-machinefile",
                    word(&hosts_file),
                ]
            }
            _ => &[
                "--mca",
                "plm_rsh_agent",
                word(&agent),
                "--mca",
                "plm_rsh_no_tree_spawn",
                "1",
                "--host",
                nodes,
            ],
        };
        words.extend(options.iter().map(|word| (*word).to_owned()));
        if self.host.name == "openmpi5" {
            // With --oversubscribe it would fill the first node.
            words.extend(["--map-by", "ppr:2:node"].map(str::to_owned));
        }
        words.extend([number, processes.to_string()]);
        words
    }

    /// Runs processes of a program with the preloaded libraries and with settings (`NAME=VALUE`); returns whether they
    /// succeed.
    pub(crate) fn run(&mut self, processes: u32, settings: &[&str], program: &[&str]) -> bool {
        let preload = self.preload();
        let mut command = self.launcher(processes);
        // After mpiexec, so that the launcher itself is not affected.
        command.arg("env").arg(preload).args(settings).args(program);
        self.finish(&mut command)
    }

    /// Runs a command to its end.
    pub(crate) fn finish(&mut self, command: &mut Command) -> bool {
        use std::os::unix::process::ExitStatusExt;
        let Output { status, stdout, stderr } = command
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        self.out = String::from_utf8_lossy(&stdout).into_owned();
        self.err = String::from_utf8_lossy(&stderr).into_owned();
        self.code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        status.success()
    }

    /// Runs a command that the test requires.
    pub(crate) fn must(&mut self, command: &mut Command) -> Result<(), String> {
        match self.finish(command.current_dir(top())) {
            true => Ok(()),
            false => Err(format!("{command:?}: {}{}", self.out, self.err)),
        }
    }

    /// The lines on stderr that match a pattern.
    pub(crate) fn said(&self, pattern: &str) -> usize {
        count(&self.err, pattern)
    }

    /// True if Cartograph is not named on stderr.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.err.to_lowercase().contains("cartograph")
    }

    /// True if stderr has this text.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.err.contains(words)
    }

    /// Counts a check.
    pub(crate) fn check(&mut self, what: &str, holds: bool) {
        if holds {
            self.passed += 1;
            return;
        }
        let lines: Vec<&str> = self.out.lines().chain(self.err.lines()).collect();
        let last = lines[lines.len().saturating_sub(40)..].join("\n    ");
        self.failures.push(format!("FAILED (exit code {}): {what}\n    {last}", self.code));
    }

    /// Like `run`, and counts its success as a check.
    pub(crate) fn runs(&mut self, what: &str, processes: u32, settings: &[&str], program: &[&str]) {
        let holds = self.run(processes, settings, program);
        self.check(what, holds);
    }

    pub(crate) fn verdict(self) -> Result<Verdict, String> {
        match (self.passed, self.failures.is_empty()) {
            (0, true) => Err("no check was made".into()),
            (_, true) => Ok(Verdict::Passed),
            (passed, false) => {
                let failed = self.failures.len();
                Err(format!("{}\n{passed} passed, {failed} failed", self.failures.join("\n")))
            }
        }
    }
}

/// The lines of a text that match a pattern.
pub(crate) fn count(text: &str, pattern: &str) -> usize {
    let pattern = Regex::new(pattern).expect("a pattern");
    text.lines().filter(|line| pattern.is_match(line)).count()
}

/// A path as an argument.
pub(crate) fn word(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
