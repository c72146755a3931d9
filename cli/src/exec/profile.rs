//! The profile that a program is started with.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cartograph_core::profile::Profile;

/// A longer first line is that of another file.
const LONGEST: u64 = 1 << 20;

/// Reads a profile: the first line of its file.
///
/// # Errors
///
/// Why it is not used, as text that follows the name of the file.
pub(super) fn read(file: &Path) -> Result<Profile, String> {
    let mut line = Vec::new();
    File::open(file)
        .and_then(|file| BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line))
        .map_err(|error| format!("cannot be read: {error}"))?;
    Profile::parse(&line)
}

/// The numbers of processes of the job and of this node, as far as launchers tell that.
pub(super) fn numbers() -> (Option<usize>, Option<usize>) {
    let number = |name: &str| env::var(name).ok()?.parse::<usize>().ok();
    let all = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_NTASKS"];
    let here = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"];
    (all.into_iter().find_map(number), here.into_iter().find_map(number))
}
