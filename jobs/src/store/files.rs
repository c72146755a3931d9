//! The files of entries.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use cartograph_traffic::open_regular;
use tempfile::{Builder, NamedTempFile};

/// A longer file is not one of ours.
const LONGEST: u64 = 16 << 20;

/// The suffix of entries, and the prefix of temporary files.
pub(super) const END: &str = ".json";
pub(super) const TEMPORARY: &str = ".new-";

/// The names of the entries in a directory.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let files = fs::read_dir(directory).into_iter().flatten();
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    names.filter(|name| name.ends_with(END) && !name.starts_with('.')).collect()
}

/// The text of a file; `None` if there is none.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    let file = open_regular(OpenOptions::new().read(true), path);
    let mut bytes = Vec::new();
    match file.and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A temporary file with a text.
pub(super) fn temporary(directory: &Path, text: &str) -> io::Result<NamedTempFile> {
    let mut file = Builder::new().prefix(TEMPORARY).tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}
