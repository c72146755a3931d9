//! Recordings: reads and shows them.

mod dims;
mod forecast;
mod json;
mod show;

use std::fs;
use std::io::Read;
use std::path::Path;

use cartograph_traffic::{OpenError, Recording};

use crate::output::{self, Failure, Result};

pub(crate) use dims::better_dims;
pub(crate) use forecast::table;
pub(crate) use json::json;
pub(crate) use show::{amount, between, show};

/// True if this is a recording, complete or not, rather than a report.
pub(crate) fn is_recording(path: &Path) -> bool {
    let begins_so = || {
        let mut start = Vec::new();
        fs::File::open(path).ok()?.take(64).read_to_end(&mut start).ok()?;
        // The last byte may be inside a character.
        Some(Recording::is_one(&String::from_utf8_lossy(&start)))
    };
    path.is_dir() || (path.is_file() && begins_so() == Some(true))
}

/// Reads a recording: a directory of parts, or a file with one or more; "-" is stdin.
pub(crate) fn read(path: &Path) -> Result<Recording> {
    let found = if path == Path::new("-") {
        Recording::read([&output::read(path)?[..]]).map_err(OpenError::from)
    } else {
        Recording::open(path)
    };
    found.map_err(|error| Failure::new(format!("{} {error}", path.display())))
}
