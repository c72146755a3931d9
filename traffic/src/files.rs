//! Where recordings are kept.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::{ReadError, Recording};

/// Parts of recordings end so; files that are being written do not.
const PART: &str = "jsonl";

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system does not give it.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is something else, or not whole.
    #[error("is not a recording: {0}")]
    Read(#[from] ReadError),
}

impl Recording {
    /// Reads a directory of parts, or a file with one or more.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as text that follows the name of the file.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let files = if path.is_dir() { parts(path)? } else { vec![path.to_owned()] };
        let texts: Vec<String> = files.iter().map(fs::read_to_string).collect::<io::Result<_>>()?;
        Ok(Self::read(texts.iter().map(String::as_str))?)
    }
}

/// The files of a directory, in the order of ranks.
fn parts(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == PART) {
            let rank: Option<u32> = path.file_stem().and_then(|name| name.to_str()?.parse().ok());
            parts.push((rank, path));
        }
    }
    parts.sort();
    Ok(parts.into_iter().map(|(_, path)| path).collect())
}
