//! `cartograph exec --record`: the second library, which counts what the program sends.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::family::Family;
use super::libraries::Library;
use crate::output::{Failure, Result};

/// The file beside a libcartograph.so.
const RECORDER: &str = "libcartograph_record.so";

/// The recorder for the same MPI as `library`.
pub(super) fn beside(library: &Library) -> Result<PathBuf> {
    let recorder = library.path.with_file_name(RECORDER);
    if library.family() == Some(Family::Smpi) {
        return Err(Failure::new(
            "--record: all ranks of SMPI share a process, which the recorder cannot tell apart; \
             record a run on another MPI",
        ));
    }
    if !recorder.is_file() {
        return Err(Failure::new(format!(
            "--record: there is no {RECORDER} beside {}; make lib builds both",
            library.path.display()
        )));
    }
    Ok(recorder)
}

/// Tells the recorder where to write.
pub(super) fn into(command: &mut Command, directory: &Path) -> Result<()> {
    if directory.exists() && !directory.is_dir() {
        return Err(Failure::usage(format!(
            "--record={}: it is a file; name a directory, in which each process writes a file",
            directory.display()
        )));
    }
    // The program may change its directory.
    let path = std::path::absolute(directory)
        .map_err(|error| Failure::usage(format!("--record={}: {error}", directory.display())))?;
    command.env("CARTOGRAPH_RECORD", path);
    Ok(())
}
