//! The input of runs: each run reads the file on stdin from the position at which the command found it.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::process::Stdio;

use crate::error::{self, Failure, Result};

/// The file on this process's stdin, under a path by which it can be opened again.
const STDIN: &str = "/proc/self/fd/0";

/// The input that every run gets.
pub enum Input {
    /// No input.
    Nothing,
    /// A pipe or a socket, which can be read only once.
    Once,
    /// A file, from this position.
    File(u64),
}

impl Input {
    /// The input on stdin. If runs cannot have it, a message explains why.
    pub fn of_stdin() -> Self {
        let own = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        let Ok(mut own) = own else { return Self::Nothing };
        let Ok(kind) = own.metadata().map(|found| found.file_type()) else { return Self::Nothing };
        if kind.is_file() {
            return own.stream_position().map_or(Self::Nothing, Self::File);
        }
        if kind.is_fifo() || kind.is_socket() {
            error::warn(
                "stdin is a pipe, which only one run could read; runs get no input; use a file instead: < FILE",
            );
            return Self::Once;
        }
        Self::Nothing
    }

    /// The stdin of a run.
    pub(super) fn open(&self) -> Result<Stdio> {
        let Self::File(at) = self else { return Ok(Stdio::null()) };
        let open = || {
            let mut file = File::open(STDIN)?;
            file.seek(SeekFrom::Start(*at)).map(|_| file)
        };
        open().map(Stdio::from).map_err(|error| {
            Failure::new(format!("cannot read the file on stdin again for each run: {error}"))
        })
    }

    /// Adds a hint to the failure of a run that may have lacked its input.
    pub fn explained(&self, failure: Failure) -> Failure {
        match self {
            Self::Once => failure.with_hint("it got no input, since stdin is a pipe"),
            _ => failure,
        }
    }
}
