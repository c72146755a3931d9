//! Runs the command and checks its output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pub(crate) struct Run {
    command: Command,
}

/// The command with arguments, separated by spaces, in a neutral environment.
pub(crate) fn cartograph(arguments: &str) -> Run {
    at(Path::new(COMMAND), arguments)
}

/// The path of the command that cargo built.
pub(crate) const COMMAND: &str = env!("CARGO_BIN_EXE_cartograph");

/// Runs a copy of the command at another path.
pub(crate) fn at(command: &Path, arguments: &str) -> Run {
    let mut command = Command::new(command);
    command.args(arguments.split_whitespace());
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| {
        let name = name.to_string_lossy();
        ["CARTOGRAPH_", "OMPI_", "PMI_", "LD_"].iter().any(|start| name.starts_with(start))
    }) {
        command.env_remove(name);
    }
    // An error is one line.
    command.env("RUST_BACKTRACE", "1");
    Run { command }
}

impl Run {
    pub(crate) fn arg(mut self, argument: impl AsRef<Path>) -> Self {
        self.command.arg(argument.as_ref());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.command.env(name, value.as_ref());
        self
    }

    pub(crate) fn spawn(mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A program that a test has just written may still be open for writing in a process that another test's thread is
    /// starting; that ends at once.
    pub(crate) fn output(mut self) -> Output {
        loop {
            match self.command.output() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                done => return done.unwrap(),
            }
        }
    }

    /// The output; the command must not fail, nor print to stderr.
    pub(crate) fn stdout(self) -> String {
        let shown = format!("{:?}", self.command);
        let done = self.output();
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && stderr.is_empty(), "{shown}: {}\n{stderr}", done.status);
        String::from_utf8(done.stdout).unwrap()
    }

    /// The output, without the loader's complaints about invalid libraries.
    pub(crate) fn stdout_only(self) -> String {
        String::from_utf8(self.output().stdout).unwrap()
    }

    /// Checks that it fails with an exit code, and one line with this text.
    pub(crate) fn fails(self, code: i32, words: &str) {
        let shown = format!("{:?}", self.command);
        let done = self.output();
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(code), "{shown}: {stderr}");
        assert!(stderr.contains(words), "{shown}: {stderr}");
        assert!(done.stdout.is_empty(), "{shown}");
        if !words.is_empty() {
            assert!(stderr.starts_with("cartograph: "), "{stderr}");
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
        }
    }
}

/// A directory that is removed with the test.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// The directory for the test of this name.
    pub(crate) fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
