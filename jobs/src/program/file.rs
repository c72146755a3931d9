//! Programs: their location, and the libraries that the loader finds for them.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use cartograph_shim::elf::{self, DynamicTables};

use crate::error::{Cause, Failure, Result};

/// The file of a program, by the rules of execvp.
pub fn find_program(name: &OsStr) -> Result<PathBuf> {
    let runs = |path: &Path| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let shown = name.to_string_lossy();
    if shown.contains('/') {
        let path = PathBuf::from(name);
        return match path.metadata() {
            _ if runs(&path) => Ok(path),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Failure::new(format!("program {shown} not found")).with_cause(Cause::NotFound))
            }
            Ok(file) if file.is_dir() => {
                Err(Failure::new(format!("cannot run {shown}: it is a directory"))
                    .with_cause(Cause::NotRun))
            }
            Ok(_) => Err(Failure::new(format!(
                "cannot run {shown}: it is not executable; if it is a program, chmod +x {shown}"
            ))
            .with_cause(Cause::NotRun)),
            Err(error) => {
                Err(Failure::new(format!("cannot run {shown}: {error}")).with_cause(Cause::NotRun))
            }
        };
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|path| runs(path))
        .ok_or_else(|| {
            Failure::new(format!("program {shown} not found in PATH; use its path, ./{shown}"))
                .with_cause(Cause::NotFound)
        })
}

/// The loader that a program names; empty for a statically linked program, `None` for a script.
pub(super) fn loader(program: &Path) -> Option<String> {
    /// The headers are at the start of the file, followed by the loader's name.
    const START: u64 = 4096;
    let mut start = Vec::new();
    File::open(program).ok()?.take(START).read_to_end(&mut start).ok()?;
    elf::loader(&start).map(str::to_owned)
}

/// The path of this command, also while it is being reinstalled.
pub fn own_path() -> io::Result<PathBuf> {
    const REMOVED: &[u8] = b" (deleted)";
    let path = env::current_exe()?;
    let bytes = path.as_os_str().as_bytes();
    Ok(match bytes.strip_suffix(REMOVED).filter(|_| !path.exists()) {
        Some(path) => OsStr::from_bytes(path).into(),
        None => path,
    })
}

/// The MPI library with which a program is linked, directly or indirectly, as its loader finds it.
pub(crate) fn linked_mpi(program: &Path) -> Option<PathBuf> {
    // The loader reads all that a program is linked with, so it is asked once of each.
    static KNOWN: Mutex<BTreeMap<PathBuf, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(program.to_owned()).or_insert_with(|| find_needed(program, is_mpi)).clone()
}

/// True if a program is linked with the library of topologies, which then moves ranks where it asks for that.
pub fn is_linked(program: &Path) -> bool {
    needed(program).is_some_and(|names| names.iter().any(|name| name.starts_with("libcartograph.")))
}

/// The names of the libraries with which a program is linked directly.
fn needed(program: &Path) -> Option<Vec<String>> {
    tables(program).map(|tables| tables.needed())
}

/// The dynamic tables of a program or library.
pub(super) fn tables(file: &Path) -> Option<DynamicTables> {
    let file = File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    let read = |start: u64, size: u64| {
        // An invalid size must not allocate memory.
        let size = size.min(length.checked_sub(start)?);
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        file.read_exact_at(&mut bytes, start).is_ok().then_some(bytes)
    };
    DynamicTables::read(read)
}

/// The runtime of the sanitizer with which a program is built, as its loader finds it.
pub(super) fn sanitizer(program: &Path) -> Option<PathBuf> {
    let name = needed(program)?.into_iter().find(|name| is_sanitizer(name.as_bytes()))?;
    // Without its directory, the programs that this one starts may not find it.
    Some(find_needed(program, |needed| needed == name).unwrap_or_else(|| name.into()))
}

/// True if this is the file of a sanitizer's runtime, of gcc or of clang, which ends a program in which another library
/// comes before it.
pub(super) fn is_sanitizer(file: &[u8]) -> bool {
    let name = file.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    ["asan", "hwasan", "tsan"].iter().any(|kind| {
        let begins = |by: &str| name.starts_with(format!("{by}{kind}").as_bytes());
        begins("libclang_rt.") || begins("lib") && name[3 + kind.len()..].starts_with(b".so")
    })
}

/// The library that a program needs directly or indirectly by such a name, as its loader finds it.
fn find_needed(program: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let loader = loader(program).filter(|loader| !loader.is_empty())?;
    // Both glibc's and musl's loader support this, without running the program.
    let list = Command::new(loader).arg("--list").arg(program).output().ok()?;
    let text = String::from_utf8_lossy(&list.stdout);
    text.lines().find_map(|line| {
        let (name, found) = line.trim().split_once(" => ")?;
        is_wanted(name).then(|| found.split(" (").next().unwrap_or_default().into())
    })
}

/// True if a program is linked with an MPI, even if the loader finds it only in the job's environment.
pub(crate) fn needs_mpi(program: &Path) -> bool {
    let names_mpi = |names: Vec<String>| names.iter().any(|name| is_mpi(name));
    linked_mpi(program).is_some() || needed(program).is_some_and(names_mpi)
}

/// True if this is the name of an MPI's library.
fn is_mpi(name: &str) -> bool {
    let stem = name.rsplit('/').next().and_then(|file| file.split(".so").next());
    stem.is_some_and(|stem| {
        ["libmpi", "libmpich", "libmpi_abi", "libsimgrid"].contains(&stem)
            // The first is Cray's name, the second a compiler's.
            || ["libmpi_cray", "libmpi_gnu", "libmpi_intel"].iter().any(|own| stem.starts_with(own))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_are_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let large = folder.path().join("libmpi.so");
        std::fs::copy("/proc/self/exe", &large).unwrap();
        // Most of it is a hole.
        File::options().write(true).open(&large).unwrap().set_len(1 << 40).unwrap();
        let tables = tables(&large).unwrap();
        assert!(tables.needed().iter().any(|name| name.starts_with("libc.so")));
        assert!(tables.has_function("memcpy") && !tables.has_function("MPI_Send"));
    }
}
