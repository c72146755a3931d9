//! The profile with which a program is started.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cartograph_core::launcher::{Variables, variables};
use cartograph_core::profile::Profile;

/// A longer first line belongs to some other file.
const LONGEST: u64 = 1 << 20;

/// Reads a profile: the first line of its file.
///
/// # Errors
///
/// Why it is not used, as text that follows the name of the file.
pub(super) fn read(file: &Path) -> Result<Profile, String> {
    let mut line = Vec::new();
    // A pipe would block every process.
    if file.metadata().is_ok_and(|found| !found.is_file()) {
        return Err("is not a regular file".to_owned());
    }
    File::open(file)
        .and_then(|file| BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line))
        .map_err(|error| format!("cannot be read: {error}"))?;
    Profile::parse(&line)
}

/// The numbers of processes of the job and of this node, if the launcher sets them.
pub(super) fn numbers() -> (Option<usize>, Option<usize>) {
    let number = |name: &str| env::var(name).ok()?.parse::<usize>().ok();
    let of = |size: fn(&Variables) -> Option<&'static str>| {
        variables::ALL.iter().filter_map(size).find_map(number)
    };
    (of(|of| of.size), of(|of| of.local_size))
}
