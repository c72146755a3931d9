//! The files of recordings.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::join::PartialRecording;
use crate::{ReadError, Recording};

/// The suffix of a recording's files.
const PARTS: &str = "jsonl";

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system cannot read it.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The text is not a recording, or incomplete.
    #[error("is not a recording: {0}")]
    Read(#[from] ReadError),
}

impl Recording {
    /// Reads a directory of files with parts, or one such file. No links in a directory are followed.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as text that follows the name of the file.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let mut joined = PartialRecording::default();
        if path.is_dir() {
            for file in files(path)? {
                add(&mut joined, open_part(&file)?)?;
            }
        } else {
            add(&mut joined, fs::File::open(path)?)?;
        }
        Ok(joined.finish()?)
    }
}

/// Adds a file line by line: the whole text is never in memory.
fn add(joined: &mut PartialRecording, file: fs::File) -> Result<(), OpenError> {
    let mut file = BufReader::new(file);
    let mut line = String::new();
    while file.read_line(&mut line)? > 0 {
        joined.add(&line)?;
        line.clear();
    }
    Ok(())
}

/// The files of a directory, in the order of their names.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == PARTS) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Opens a regular file. Others may have put a link to another place there, or a pipe that blocks forever.
///
/// # Errors
///
/// The system's error, or that another kind of file is there.
pub fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<fs::File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = options.custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Opens a file of a recording, with its name in errors.
fn open_part(path: &Path) -> io::Result<fs::File> {
    let named = |error: io::Error| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        io::Error::new(error.kind(), crate::printable(&format!("{name} in it: {error}")))
    };
    open_regular(OpenOptions::new().read(true), path).map_err(named)
}
