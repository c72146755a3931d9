//! An MPI to measure: its compilers, its launcher, and the library that was built for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, io};

use crate::top;

/// An MPI by its name in `scripts/host.sh`.
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its launcher, followed by the number of processes and the program.
    pub launcher: Vec<String>,
    /// Settings for processes that share processors, `NAME=VALUE`.
    pub settings: Vec<String>,
}

impl Host {
    /// The host of a name.
    pub fn new(name: &str) -> io::Result<Self> {
        let words = |what| {
            Ok::<_, io::Error>(ask(name, what)?.split_whitespace().map(str::to_owned).collect())
        };
        let mut settings: Vec<String> = words("tests")?;
        settings.retain(|word| word.contains('='));
        Ok(Self { name: name.to_owned(), launcher: words("exec")?, settings })
    }

    /// A path below `build/HOST`.
    pub fn built(&self, path: &str) -> PathBuf {
        top().join("build").join(&self.name).join(path)
    }

    /// The library that was built for it.
    pub fn library(&self) -> PathBuf {
        self.built("lib/libcartograph.so")
    }

    /// The options that link a program with it.
    pub fn linked(&self) -> Vec<String> {
        let lib = self.built("lib").display().to_string();
        let rpath = format!("-Wl,-rpath,{lib}");
        ["-Wl,--no-as-needed", "-L", &lib, "-lcartograph", &rpath].map(str::to_owned).into()
    }

    /// True if it has a compiler for a language, `cc`, `cxx` or `fc`.
    pub fn has(&self, language: &str) -> io::Result<bool> {
        Ok(!ask(&self.name, language)?.is_empty())
    }

    /// Compiles with the wrapper of a language into `build/HOST/programs/NAME`.
    pub fn compile(&self, language: &str, name: &str, arguments: &[&str]) -> io::Result<PathBuf> {
        let program = self.built("programs").join(name);
        fs::create_dir_all(self.built("programs"))?;
        let mut command = Command::new(ask(&self.name, language)?);
        command.args(["-O2", "-w", "-pthread", "-o"]).arg(&program).args(arguments);
        checked(command.current_dir(top()))?;
        Ok(program)
    }

    /// The launcher for a number of processes with a time limit; settings, a program and its arguments follow.
    pub fn launch(&self, processes: u32, seconds: u32) -> Command {
        let mut command = Command::new("timeout");
        command
            .args(["-k", "5", &seconds.to_string()])
            .args(&self.launcher)
            .arg(processes.to_string());
        command
    }

    /// Like `launch`, with the library preloaded.
    pub fn preloaded(&self, processes: u32, seconds: u32) -> Command {
        let mut command = self.launch(processes, seconds);
        command.arg("env").arg(format!("LD_PRELOAD={}", self.library().display()));
        command
    }
}

/// A fact about a host from `scripts/host.sh`.
fn ask(host: &str, what: &str) -> io::Result<String> {
    Ok(checked(Command::new(top().join("scripts/host.sh")).args([host, what]))?.trim().to_owned())
}

/// The command of a command line.
pub fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// The output of a command line that succeeds.
pub fn does(line: &str) -> io::Result<String> {
    checked(&mut command(line))
}

/// The output of a command that succeeds.
pub fn checked(command: &mut Command) -> io::Result<String> {
    let output = command.output();
    let Output { status, stdout, stderr } =
        output.map_err(|error| io::Error::other(format!("{command:?}: {error}")))?;
    if !status.success() {
        let said = [stdout, stderr].concat();
        let said = String::from_utf8_lossy(&said);
        return Err(io::Error::other(format!("{command:?}: {status}\n{said}")));
    }
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}

/// An empty directory in `build/HOST/programs`.
pub fn emptied(directory: &Path) -> io::Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(directory)
}
