//! Programs: their files after wrappers, the MPI with which they are linked, and the libraries to preload for them.

mod container;
mod file;
mod libraries;
mod preload;
mod wrappers;

use std::env;
use std::ffi::{OsStr, OsString};

use crate::error::{Failure, Result};

pub(crate) use container::of_command as container_of;
pub use file::{find_program, is_linked, own_path};
pub(crate) use file::{linked_mpi, needs_mpi};
pub use libraries::{Fault, LibraryDirectory};
pub use preload::{With, preload};
pub use wrappers::behind_wrapper;
pub(crate) use wrappers::{is_wrapper, name, program_at, runs_once};

/// Explains why the program in a command line, this word of it, cannot be run with libraries.
///
/// # Errors
///
/// The reason.
pub fn check(words: &[OsString], program: &OsStr, mpi: Option<&str>, with: With) -> Result<()> {
    preload(&find_program(program)?, mpi, with)?;
    let directory = LibraryDirectory::find()?.directory;
    match container::without(words, &directory, |name| env::var_os(name)) {
        Some(container) => Err(Failure::new(format!(
            "the container of {container} may lack {0}; mount it, as by apptainer exec --bind {0}",
            directory.display()
        ))),
        None => Ok(()),
    }
}

/// Explains why a program, of whose MPI there is no library, cannot be recorded.
///
/// # Errors
///
/// The reason.
pub fn check_mpi(program: &OsStr) -> Result<()> {
    match find_program(program).ok().and_then(|program| linked_mpi(&program)) {
        Some(mpi) => LibraryDirectory::find()?.check_mpi(&mpi),
        None => Ok(()),
    }
}
